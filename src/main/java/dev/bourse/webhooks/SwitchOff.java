package dev.bourse.webhooks;

import dev.bourse.delivery.MemberMails;
import dev.bourse.mail.Mail;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Switches an endpoint off that cannot be delivered to, and tells members so by mail. */
final class SwitchOff {
  private final MemberMails mails;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl where members find the console
   */
  SwitchOff(MemberMails mails, Supplier<String> baseUrl) {
    this.mails = mails;
    this.baseUrl = baseUrl;
  }

  /**
   * Stores it together with the mails. Fails with {@link OutboxStore.Moved} when the endpoint was
   * changed meanwhile.
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
        endpoint.orgId(), endpoint.createdBy(), to -> told(to, endpoint, reason), statements);
  }

  private Mail told(String to, WebhookEndpoint endpoint, WebhookEndpoint.Reason reason) {
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
            .formatted(endpoint.endpointId(), endpoint.url(), why(reason), baseUrl.get()));
  }

  private static String why(WebhookEndpoint.Reason reason) {
    return switch (reason) {
      case SWITCHED_OFF -> "a member did so";
      case GONE -> "it answered 410 Gone";
      case FAILING -> "an event could not be delivered for as long as it is tried";
      case BACKLOG -> "more events waited for it than may";
      case AUTHOR_REMOVED -> "the member who set its address was removed";
    };
  }
}
