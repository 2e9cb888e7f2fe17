package dev.bourse.webhooks;

import dev.bourse.delivery.MemberMails;
import dev.bourse.mail.Mail;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Switches off an endpoint whose deliveries fail, and notifies members by mail. */
final class EndpointSwitchOff {
  private final MemberMails mails;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl where members find the console
   */
  EndpointSwitchOff(MemberMails mails, Supplier<String> baseUrl) {
    this.mails = mails;
    this.baseUrl = baseUrl;
  }

  /**
   * Stores the change together with the mails. Fails with {@link
   * OutboxStore.CursorConflictException} if the endpoint was changed concurrently.
   */
  Future<Void> store(
      WebhookEndpoint endpoint,
      WebhookEndpoint.Reason reason,
      List<Statement> more,
      long nowMillis) {
    List<Statement> statements =
        new ArrayList<>(WebhookStore.switchOff(endpoint, reason, nowMillis));
    statements.addAll(more);
    return mails.commit(
        endpoint.orgId(), endpoint.createdBy(), to -> notice(to, endpoint, reason), statements);
  }

  private Mail notice(String to, WebhookEndpoint endpoint, WebhookEndpoint.Reason reason) {
    return new Mail(
        to,
        "A webhook endpoint was switched off",
        """
        The webhook endpoint %s of your organization

        %s

        was switched off: %s. Events that were waiting for it were given up; they are listed
        on the console for seven days and can be sent again once it works:

        %s/console/webhooks
        """
            .formatted(endpoint.endpointId(), endpoint.url(), reasonText(reason), baseUrl.get()));
  }

  private static String reasonText(WebhookEndpoint.Reason reason) {
    return switch (reason) {
      case SWITCHED_OFF -> "a member did so";
      case GONE -> "it answered 410 Gone";
      case FAILING -> "all attempts to deliver an event failed";
      case BACKLOG -> "too many events were waiting for it";
      case AUTHOR_REMOVED -> "the member who set its address was removed";
    };
  }
}
