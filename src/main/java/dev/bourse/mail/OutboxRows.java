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

/**
 * Rows of mails that wait, and of those that were given up. Moments are the store's: processes
 * whose clocks differ must not take a mail from each other.
 */
final class OutboxRows {
  /** Mails that wait, of all processes; with 2 KB each, some MB. */
  static final int MAX_WAITING = 1_000;

  /** Longer than an attempt and its commits take: then whoever claimed the mail is gone. */
  static final long CLAIM_MILLIS = 2 * SmtpServer.ATTEMPT_MILLIS;

  /**
   * Nobody can read a mail that waits for so long: its secret key is given to no process. No link
   * of a sign-in works for that long either.
   */
  private static final long LONGEST_WAIT_MILLIS = Duration.ofDays(1).toMillis();

  /** How long it is kept why a mail was given up, without the mail. */
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
   * @param tries attempts that were begun
   */
  record Waiting(String id, Encrypted encrypted, int tries) {}

  /** Somebody else is sending the mail, or has sent it. */
  private static final class Taken extends RuntimeException {
    private static final long serialVersionUID = 1;

    Taken() {
      super("the mail is another process's", null, false, false);
    }
  }

  /** What the associated data of a row says. */
  static String place(String id) {
    return "outbox_mail/" + id;
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  /** Accepts a mail, unless too many wait. */
  Statement accepting(String id, Encrypted encrypted) {
    return Statement.guarded(
        () -> new OutboxFull(MAX_WAITING),
        """
        INSERT INTO outbox_mail (mail_id, key_id, ciphertext, accepted_at, due_at, tries)
        SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), %1$s, %1$s, 0
        WHERE (SELECT COUNT(*) FROM outbox_mail WHERE dead_at IS NULL) < %2$s\
        """
            .formatted(now, MAX_WAITING),
        id,
        encrypted.keyId(),
        encrypted.ciphertext());
  }

  /**
   * Mails that are to be sent now, those that wait longest first.
   *
   * @param keyIds of the keys that can decrypt here
   */
  Future<List<Waiting>> listDue(Collection<String> keyIds, int most) {
    List<String> ids = InList.of(List.copyOf(keyIds));
    return database.read(
        """
        SELECT mail_id, key_id, ciphertext, tries FROM outbox_mail
        WHERE dead_at IS NULL AND due_at <= %s AND key_id IN %s ORDER BY due_at LIMIT %s\
        """
            .formatted(now, InList.marks(ids), most),
        ids,
        OutboxRows::waiting);
  }

  private static Waiting waiting(Row row) {
    return new Waiting(
        row.text("mail_id"),
        new Encrypted(row.text("key_id"), row.text("ciphertext")),
        (int) row.integer("tries"));
  }

  /** Begins an attempt. Of several processes one succeeds. */
  Future<Waiting> claim(Waiting mail) {
    return database
        .commit(
            List.of(
                Statement.guarded(
                    Taken::new,
                    """
                    UPDATE outbox_mail SET due_at = %s + ?, tries = tries + 1
                    WHERE mail_id = ? AND tries = ? AND dead_at IS NULL\
                    """
                        .formatted(now),
                    CLAIM_MILLIS,
                    mail.id(),
                    (long) mail.tries())))
        .map(claimed -> new Waiting(mail.id(), mail.encrypted(), mail.tries() + 1));
  }

  /** The mail was sent, whoever else may be sending it. */
  Future<Void> delete(Waiting mail) {
    return database.commit(
        List.of(Statement.of("DELETE FROM outbox_mail WHERE mail_id = ?", mail.id())));
  }

  /** The attempt failed, and another is to follow. */
  Future<Void> retry(Waiting claimed, long pauseMillis, String fault) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE outbox_mail SET due_at = %s + ?, fault = ? WHERE mail_id = ? AND tries = ?"
                    .formatted(now),
                pauseMillis,
                shortened(fault),
                claimed.id(),
                (long) claimed.tries())));
  }

  /** The last attempt failed: why is kept, and what was to be sent is not. */
  Future<Void> bury(Waiting claimed, String fault) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE outbox_mail SET dead_at = %s, ciphertext = '', fault = ?
                WHERE mail_id = ? AND tries = ?\
                """
                    .formatted(now),
                shortened(fault),
                claimed.id(),
                (long) claimed.tries())));
  }

  /** Gives up mails that nobody can read, and deletes those given up long ago. */
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

  private static String shortened(String fault) {
    return fault.length() <= MAX_FAULT ? fault : fault.substring(0, MAX_FAULT);
  }
}
