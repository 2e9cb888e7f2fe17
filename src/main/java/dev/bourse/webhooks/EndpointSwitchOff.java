package dev.bourse.webhooks;

import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.mail.MemberMails;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Switches off an endpoint whose deliveries fail, and notifies members by mail.
 *
 * @param baseUrl where members find the console
 */
record EndpointSwitchOff(MemberMails mails, Supplier<String> baseUrl) {
  /**
   * Stores the change together with the mails. Fails with {@link ReceiverChangedException} if the
   * endpoint was changed concurrently.
   */
  Future<Void> store(
      WebhookEndpoint endpoint, SwitchOffReason reason, List<Statement> more, long nowMillis) {
    List<Statement> statements =
        new ArrayList<>(WebhookStore.switchOff(endpoint, reason, nowMillis));
    statements.addAll(more);
    return mails.commit(
        endpoint.orgId(),
        endpoint.createdBy(),
        "A webhook endpoint was switched off",
        """
        The webhook endpoint %s of your organization

        %s

        was switched off: %s. Events that were waiting for it were given up; they are listed
        on the console for seven days and can be sent again once it works:

        %s/console/webhooks
        """
            .formatted(
                endpoint.endpointId(),
                endpoint.url(),
                reason.text("deliver an event"),
                baseUrl.get()),
        statements);
  }
}
