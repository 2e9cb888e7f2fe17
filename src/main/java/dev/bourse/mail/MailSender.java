package dev.bourse.mail;

import dev.bourse.signals.Signals;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;

/** Sends mail. Safe from any thread. */
public interface MailSender {
  /**
   * Queues a mail.
   *
   * @return false if the queue is full and the mail is dropped
   */
  boolean send(Mail mail);

  /**
   * Queues a mail in the same commit as the change it is about.
   *
   * @param commit stores the change together with the given statements
   * @return completes with the commit; fails, and nothing is stored, if mails are stored too and
   *     the queue is full, or if mails like this one fill their share of it
   */
  default Future<Void> send(Mail mail, Function<List<Statement>, Future<Void>> commit) {
    return commit.apply(List.of()).onSuccess(stored -> send(mail));
  }

  /** Registers the metrics; called once. */
  default void registerMetrics(Signals signals) {}

  /** Stops sending; mails queued in memory are dropped. */
  Future<Void> close();
}
