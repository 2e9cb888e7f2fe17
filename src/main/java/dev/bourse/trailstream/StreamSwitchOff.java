package dev.bourse.trailstream;

import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.MemberMails;
import dev.bourse.mail.Mail;
import io.vertx.core.Future;
import java.util.function.Supplier;

/**
 * Switches off a stream whose receiver fails, and notifies members by mail.
 *
 * @param baseUrl where members find the service
 */
record StreamSwitchOff(MemberMails mails, Supplier<String> baseUrl) {
  /**
   * Stores the change together with the mails. Fails with {@link
   * TrailStreamStore.StreamConflictException} if the stream was changed concurrently.
   */
  Future<Void> store(
      TrailStream stream, TrailStream.Reason reason, Attempt attempt, long nowMillis) {
    return mails.commit(
        stream.orgId(),
        stream.createdBy(),
        to -> notice(to, stream, reason),
        TrailStreamStore.switchOff(stream, reason, attempt, nowMillis));
  }

  private Mail notice(String to, TrailStream stream, TrailStream.Reason reason) {
    return new Mail(
        to,
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
                stream.orgId(), stream.destination().text(), reasonText(reason), baseUrl.get()));
  }

  private static String reasonText(TrailStream.Reason reason) {
    return switch (reason) {
      case SWITCHED_OFF -> "a member did so";
      case GONE -> "it answered 410 Gone";
      case FAILING -> "all attempts to send a batch failed";
      case AUTHOR_REMOVED -> "the member who set its destination was removed";
    };
  }
}
