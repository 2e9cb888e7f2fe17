package dev.bourse.mail;

import dev.bourse.keyring.Encrypted;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Rows of mails that wait, and of mails that were given up. Times are the store's, so that
 * processes whose clocks differ cannot take a mail from each other.
 */
final class OutboxRows {
  /** Mails that wait, of all processes; at 2 KB each, a few MB. */
  static final int MAX_WAITING = 1_000;

  /** Longer than an attempt and its commits take; a process that holds a claim longer is dead. */
  static final long CLAIM_MILLIS = 2 * SmtpServer.ATTEMPT_MILLIS;

  /**
   * Longer than {@link Mail#LASTING} and a turn of a full queue: a mail that waits this long cannot
   * be decrypted, because no process has its secret key.
   */
  private static final long LONGEST_WAIT_MILLIS = Duration.ofDays(1).toMillis();

  /** Retention of the reason why a mail was given up; the mail itself is deleted. */
  private static final long KEPT_MILLIS = Duration.ofDays(7).toMillis();

  private static final int MAX_FAULT = 200;

  private final Database database;
  private final String now;

  OutboxRows(Database database) {
    this.database = database;
    this.now = database.clockSql();
  }

  /**
   * A mail that waits.
   *
   * @param tries attempts so far
   * @param waitedMillis the time since it was queued
   */
  record Waiting(String id, Encrypted encrypted, int tries, long waitedMillis) {}

  /** Another process is sending the mail, or has sent it. */
  private static final class NotDueException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotDueException() {
      super("the mail is claimed by another process", null, false, false);
    }
  }

  /** Returns the associated data of a row's encryption. */
  static String place(String id) {
    return "outbox_mail/" + id;
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  /** Stores a mail, unless so many mails wait. */
  Statement insertion(String id, Encrypted encrypted, int most) {
    return Statement.guarded(
        () -> new OutboxFullException(most),
        """
        INSERT INTO outbox_mail (mail_id, key_id, ciphertext, accepted_at, due_at, tries)
        SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), %1$s, %1$s, 0
        WHERE (SELECT COUNT(*) FROM outbox_mail WHERE dead_at IS NULL) < %2$s\
        """
            .formatted(now, most),
        id,
        encrypted.keyId(),
        encrypted.ciphertext());
  }

  /**
   * Lists the ids of mails that are due, the oldest first.
   *
   * @param keyIds of the keys that can decrypt here
   */
  Future<List<String>> listDue(Collection<String> keyIds, int most) {
    List<String> ids = InList.of(List.copyOf(keyIds));
    return database.read(
        """
        SELECT mail_id FROM outbox_mail
        WHERE dead_at IS NULL AND due_at <= %s AND key_id IN %s ORDER BY due_at, mail_id LIMIT %s\
        """
            .formatted(now, InList.marks(ids), most),
        ids,
        row -> row.text("mail_id"));
  }

  /**
   * Claims a mail for an attempt; empty if it is not due. Exactly one process succeeds, because the
   * claim makes the mail due later. The content is read first, so that a read that fails costs no
   * attempt.
   */
  Future<Optional<Waiting>> claim(String id) {
    return database
        .readFirst(
            """
            SELECT mail_id, key_id, ciphertext, tries, %s - accepted_at AS waited FROM outbox_mail
            WHERE mail_id = ? AND dead_at IS NULL\
            """
                .formatted(now),
            List.of(id),
            OutboxRows::waiting)
        .compose(
            found ->
                found.isEmpty()
                    ? Future.succeededFuture(Optional.<Waiting>empty())
                    : claim(found.get()).map(Optional::of))
        .recover(
            failure ->
                failure instanceof NotDueException
                    ? Future.succeededFuture(Optional.empty())
                    : Future.failedFuture(failure));
  }

  private Future<Waiting> claim(Waiting mail) {
    return database
        .commit(
            List.of(
                Statement.guarded(
                    NotDueException::new,
                    """
                    UPDATE outbox_mail SET due_at = %1$s + ?, tries = tries + 1
                    WHERE mail_id = ? AND dead_at IS NULL AND tries = ? AND due_at <= %1$s\
                    """
                        .formatted(now),
                    CLAIM_MILLIS,
                    mail.id(),
                    (long) mail.tries())))
        .map(
            claimed ->
                new Waiting(mail.id(), mail.encrypted(), mail.tries() + 1, mail.waitedMillis()));
  }

  private static Waiting waiting(Row row) {
    return new Waiting(
        row.text("mail_id"),
        new Encrypted(row.text("key_id"), row.text("ciphertext")),
        row.smallInteger("tries"),
        row.integer("waited"));
  }

  /** Deletes a mail that was sent, even if another process has claimed it since. */
  Future<Void> delete(SmtpQueue.Claim mail) {
    return database.commit(
        List.of(Statement.of("DELETE FROM outbox_mail WHERE mail_id = ?", mail.id())));
  }

  /** Schedules the next attempt after a failure. */
  Future<Void> retry(SmtpQueue.Claim claimed, long pauseMillis, String fault) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE outbox_mail SET due_at = %s + ?, fault = ? WHERE mail_id = ? AND tries = ?"
                    .formatted(now),
                pauseMillis,
                shorten(fault),
                claimed.id(),
                (long) claimed.tries())));
  }

  /** Gives a mail up after its last attempt: keeps the reason and deletes the content. */
  Future<Void> giveUp(SmtpQueue.Claim claimed, String fault) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE outbox_mail SET dead_at = %s, ciphertext = '', fault = ?
                WHERE mail_id = ? AND tries = ?\
                """
                    .formatted(now),
                shorten(fault),
                claimed.id(),
                (long) claimed.tries())));
  }

  /** Gives up mails that no process can decrypt, and deletes rows past their retention. */
  Future<Void> sweep(long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.of(
            """
            UPDATE outbox_mail SET dead_at = ?, ciphertext = '',
            fault = 'not sent within a day; was secret key ' || key_id || ' taken away?'
            WHERE dead_at IS NULL AND accepted_at <= ?\
            """,
            nowMillis,
            nowMillis - LONGEST_WAIT_MILLIS));
    statements.add(
        Statement.of("DELETE FROM outbox_mail WHERE dead_at <= ?", nowMillis - KEPT_MILLIS));
    return database.commit(statements);
  }

  private static String shorten(String fault) {
    return fault.length() <= MAX_FAULT ? fault : fault.substring(0, MAX_FAULT);
  }
}
