package dev.bourse.mail;

import dev.bourse.core.Ids;
import dev.bourse.keyring.DecryptionException;
import dev.bourse.keyring.Encrypted;
import dev.bourse.keyring.Keyring;
import dev.bourse.mail.OutboxRows.Waiting;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps mail encrypted in the store until an SMTP server has accepted it, so that any process of
 * the store can send it. A process claims a mail before it sends it; if it dies in between, the
 * claim expires and another process sends the mail, perhaps for the second time.
 */
public final class StoredMail extends SmtpQueue {
  private static final Logger LOG = LoggerFactory.getLogger(StoredMail.class);

  /** Interval at which a process polls for mails of others and for retries. */
  private static final long POLL_MILLIS = 2_000;

  private static final int ID_LENGTH = 22;

  /** The longest delay between two attempts. */
  public static final long LONGEST_PAUSE_MILLIS = Collections.max(USUAL_PAUSES_MILLIS);

  private final OutboxRows rows;
  private final Keyring keyring;
  private final RandomGenerator random;

  /**
   * @param keyring not empty
   * @param nanoTime the monotonic clock
   * @param random a cryptographic source
   */
  public StoredMail(
      Vertx vertx,
      Database database,
      Keyring keyring,
      MailConfig.Smtp smtp,
      String from,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this(
        vertx,
        new OutboxRows(database),
        keyring,
        new SmtpServer(vertx, smtp, from, SmtpServer.ATTEMPT_MILLIS, SmtpServer.CLOSE_MILLIS, null),
        USUAL_PAUSES_MILLIS,
        POLL_MILLIS,
        clock,
        nanoTime,
        random);
  }

  StoredMail(
      Vertx vertx,
      OutboxRows rows,
      Keyring keyring,
      SmtpServer server,
      List<Long> pausesMillis,
      long pollMillis,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    super(vertx, server, pausesMillis, pollMillis, clock, nanoTime, random);
    this.rows = rows;
    this.keyring = keyring;
    this.random = random;
  }

  /** Deletes expired mails. */
  public Future<Boolean> sweep(long now) {
    return rows.sweep(now).map(false);
  }

  @Override
  public void registerMetrics(Signals signals) {
    super.registerMetrics(signals);
    signals.gauge(
        "bourse_mails_sending",
        "Mails that this process is sending; others may wait in the store.",
        this::sending);
  }

  @Override
  public boolean send(Mail mail) {
    send(mail, rows::commit)
        .onFailure(e -> LOG.warn("a mail was dropped: {}", SmtpServer.shown(e)));
    return true;
  }

  @Override
  public Future<Void> send(Mail mail, Function<List<Statement>, Future<Void>> commit) {
    String id = Ids.base62(random, ID_LENGTH);
    JsonObject content =
        new JsonObject()
            .put("to", mail.to())
            .put("subject", mail.subject())
            .put("text", mail.text())
            .put("unsubscribe", mail.unsubscribe())
            .put("useful_ms", mail.useful().toMillis());
    Encrypted encrypted = keyring.encrypt(OutboxRows.place(id), content.toBuffer().getBytes());
    return commit
        .apply(List.of(rows.insertion(id, encrypted, mail.share(OutboxRows.MAX_WAITING))))
        .onSuccess(stored -> begin(id));
  }

  @Override
  Future<List<String>> listDue(int most) {
    return rows.listDue(keyring.ids(), most);
  }

  @Override
  Future<Optional<Claim>> claim(String id) {
    return rows.claim(id).map(found -> found.map(this::read));
  }

  private Claim read(Waiting waiting) {
    try {
      return new Claim(
          waiting.id(), waiting.tries(), waiting.waitedMillis(), decrypt(waiting), null);
    } catch (DecryptionException e) {
      return new Claim(
          waiting.id(),
          waiting.tries(),
          waiting.waitedMillis(),
          null,
          String.valueOf(e.getMessage()));
    }
  }

  private Mail decrypt(Waiting waiting) throws DecryptionException {
    byte[] content = keyring.decrypt(OutboxRows.place(waiting.id()), waiting.encrypted());
    JsonObject mail = new JsonObject(new String(content, StandardCharsets.UTF_8));
    return new Mail(
        mail.getString("to"),
        mail.getString("subject"),
        mail.getString("text"),
        mail.getString("unsubscribe"),
        // The previous release stores no duration and tries a mail for some minutes.
        Duration.ofMillis(mail.getLong("useful_ms", Mail.SIGN_IN.toMillis())));
  }

  @Override
  Future<Void> delete(Claim claim) {
    return rows.delete(claim);
  }

  @Override
  Future<Void> retry(Claim claim, long pauseMillis, String fault) {
    logRetry(fault);
    return rows.retry(claim, pauseMillis, fault);
  }

  @Override
  Future<Void> giveUp(Claim claim, String fault) {
    return rows.giveUp(claim, fault);
  }
}
