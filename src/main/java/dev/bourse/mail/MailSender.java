package dev.bourse.mail;

import io.vertx.core.Future;

/** Sends mail. May be called from any thread. */
public interface MailSender {
  /**
   * Takes a mail to be sent soon.
   *
   * @return false when too many are waiting, and this one is dropped
   */
  boolean send(Mail mail);

  /** Stops sending; what waits is dropped. */
  Future<Void> close();
}
