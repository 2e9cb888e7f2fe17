package dev.bourse.trailstream;

import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.mail.MemberMails;
import io.vertx.core.Future;
import java.util.function.Supplier;

/**
 * Switches off a stream whose receiver fails, and notifies members by mail.
 *
 * @param baseUrl where members find the service
 */
record StreamSwitchOff(MemberMails mails, Supplier<String> baseUrl) {
  /**
   * Stores the change together with the mails. Fails with {@link ReceiverChangedException} if the
   * stream was changed concurrently.
   */
  Future<Void> store(TrailStream stream, SwitchOffReason reason, Attempt attempt, long nowMillis) {
    return mails.commit(
        stream.orgId(),
        stream.createdBy(),
        "The stream of your audit trail was switched off",
        """
        The stream of the audit trail of your organization %s to

        %s

        was switched off: %s. Nothing is lost while the trail is kept: once the receiver works, set
        the stream again with the options it had, on the console (Trail, Stream) or with "bourse
        trail set-stream", and it continues where it stopped:

        %s/docs/guides/trail
        """
            .formatted(
                stream.orgId(),
                stream.destination().text(),
                reason.text("send a batch"),
                baseUrl.get()),
        TrailStreamStore.switchOff(stream, reason, attempt, nowMillis));
  }
}
