package dev.bourse.mail;

import dev.bourse.signals.Signals;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;

/** Sends mail. May be called from any thread. */
public interface MailSender {
  /**
   * Takes a mail to be sent soon.
   *
   * @return false when too many are waiting, and this one is dropped
   */
  boolean send(Mail mail);

  /**
   * Takes a mail about something that is stored at the same time.
   *
   * @param commit stores it, together with the statements it is given
   * @return as the commit ends; it fails, and nothing is stored, when mails are stored too and too
   *     many are waiting
   */
  default Future<Void> send(Mail mail, Function<List<Statement>, Future<Void>> commit) {
    return commit.apply(List.of()).onSuccess(stored -> send(mail));
  }

  /** Shows what waits and what failed; once. */
  default void show(Signals signals) {}

  /** Stops sending; what waits in memory is dropped. */
  Future<Void> close();
}
