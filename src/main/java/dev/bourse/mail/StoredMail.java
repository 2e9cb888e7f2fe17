package dev.bourse.mail;

import dev.bourse.core.Ids;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.ScheduledJob;
import dev.bourse.keyring.DecryptionException;
import dev.bourse.keyring.Encrypted;
import dev.bourse.keyring.Keyring;
import dev.bourse.mail.OutboxRows.Waiting;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps mail encrypted in the store until an SMTP server has accepted it, so that any process of
 * the store can send it. A process claims a mail before it sends it; if it dies in between, the
 * claim expires and another process sends the mail, perhaps for the second time.
 */
public final class StoredMail implements MailSender {
  private static final Logger LOG = LoggerFactory.getLogger(StoredMail.class);

  /** Interval at which a process polls for mails of others and for retries. */
  private static final long POLL_MILLIS = 2_000;

  private static final int ID_LENGTH = 22;

  /** The longest delay between two attempts. */
  public static final long LONGEST_PAUSE_MILLIS = Collections.max(SmtpMail.USUAL_PAUSES_MILLIS);

  private final Context context;
  private final SmtpServer server;
  private final OutboxRows rows;
  private final Keyring keyring;
  private final List<Long> pausesMillis;
  private final long pollMillis;
  private final RandomGenerator random;
  private final AtomicLong undelivered = new AtomicLong();

  /** The number of mails being sent; written on the context, read by any thread. */
  private volatile int sending;

  // Confined to the context.
  private final Set<String> underWay = new HashSet<>();
  private @Nullable ScheduledJob polling;
  private boolean closed;

  /** Completes once this is closed and no mail is being sent. */
  private final Promise<Void> idle = Promise.promise();

  /**
   * @param keyring not empty
   * @param random a cryptographic source
   */
  public StoredMail(
      Vertx vertx,
      Database database,
      Keyring keyring,
      MailConfig.Smtp smtp,
      String from,
      RandomGenerator random) {
    this(
        vertx,
        new OutboxRows(database),
        keyring,
        new SmtpServer(vertx, smtp, from, SmtpServer.ATTEMPT_MILLIS, SmtpServer.CLOSE_MILLIS, null),
        SmtpMail.USUAL_PAUSES_MILLIS,
        POLL_MILLIS,
        random);
  }

  /**
   * @param pausesMillis delays before each retry; a mail is given up after the last one fails
   * @param pollMillis interval at which mails of others and retries are polled
   */
  StoredMail(
      Vertx vertx,
      OutboxRows rows,
      Keyring keyring,
      SmtpServer server,
      List<Long> pausesMillis,
      long pollMillis,
      RandomGenerator random) {
    this.context = vertx.getOrCreateContext();
    this.rows = rows;
    this.keyring = keyring;
    this.server = server;
    this.pausesMillis = List.copyOf(pausesMillis);
    this.pollMillis = pollMillis;
    this.random = random;
  }

  /** Starts sending, including mails that earlier processes queued. */
  public void start(BackgroundJobs jobs) {
    context.runOnContext(
        turn ->
            polling =
                jobs.start(
                    BackgroundJob.inEachProcess(
                        "send-mails", "sending queued mails", pollMillis, this::poll)));
  }

  /** Deletes expired mails. */
  public Future<Boolean> sweep(long now) {
    return rows.sweep(now).map(false);
  }

  /** Returns the number of mails that this process has given up. */
  long undelivered() {
    return undelivered.get();
  }

  @Override
  public void registerMetrics(Signals signals) {
    signals.counter(
        "bourse_mails_undelivered_total",
        "Mails given up: rejected, or out of attempts.",
        this::undelivered);
    signals.gauge(
        "bourse_mails_sending",
        "Mails that this process is sending; others may wait in the store.",
        () -> sending);
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
            .put("text", mail.text());
    Encrypted encrypted = keyring.encrypt(OutboxRows.place(id), content.toBuffer().getBytes());
    return commit
        .apply(List.of(rows.insertion(id, encrypted)))
        .onSuccess(stored -> context.runOnContext(turn -> pollSoon()));
  }

  private void pollSoon() {
    if (polling != null) {
      polling.runSoon();
    }
  }

  private Future<Boolean> poll() {
    return closed || underWay.size() == SmtpServer.MAX_SENDING
        ? Future.succeededFuture(false)
        : rows.listDue(keyring.ids(), SmtpServer.MAX_SENDING)
            .onSuccess(due -> context.runOnContext(turn -> sendAll(due)))
            .map(false);
  }

  private void sendAll(List<Waiting> due) {
    if (!closed) {
      due.stream()
          .filter(mail -> !underWay.contains(mail.id()))
          .limit(SmtpServer.MAX_SENDING - underWay.size())
          .forEach(this::send);
    }
  }

  private void send(Waiting waiting) {
    underWay.add(waiting.id());
    sending = underWay.size();
    rows.claim(waiting)
        .compose(this::attempt)
        .onComplete(
            done ->
                context.runOnContext(
                    turn -> {
                      underWay.remove(waiting.id());
                      sending = underWay.size();
                      if (done.succeeded()) {
                        pollSoon();
                      } else {
                        // Another process was first, or the store is down; the next poll finds it.
                        LOG.debug(
                            "a mail was left in the queue: {}", SmtpServer.shown(done.cause()));
                      }
                      completeIfIdle();
                    }));
  }

  private Future<Void> attempt(Waiting claimed) {
    if (claimed.tries() > pausesMillis.size() + 1) {
      return giveUp(claimed, "every process that tried to send it died");
    }
    Mail mail;
    try {
      mail = decrypt(claimed);
    } catch (DecryptionException e) {
      return giveUp(claimed, String.valueOf(e.getMessage()));
    }
    return server
        .deliver(mail, claimed.id())
        .transform(sent -> sent.succeeded() ? rows.delete(claimed) : failed(claimed, sent.cause()));
  }

  private Mail decrypt(Waiting waiting) throws DecryptionException {
    byte[] content = keyring.decrypt(OutboxRows.place(waiting.id()), waiting.encrypted());
    JsonObject mail = new JsonObject(new String(content, StandardCharsets.UTF_8));
    return new Mail(mail.getString("to"), mail.getString("subject"), mail.getString("text"));
  }

  private Future<Void> failed(Waiting claimed, Throwable cause) {
    String fault = SmtpServer.shown(cause);
    if (claimed.tries() > pausesMillis.size() || SmtpServer.isFinal(cause)) {
      return giveUp(claimed, fault);
    }
    LOG.info("a mail could not be sent and is tried again: {}", fault);
    return rows.retry(claimed, pausesMillis.get(claimed.tries() - 1), fault);
  }

  private Future<Void> giveUp(Waiting claimed, String fault) {
    undelivered.incrementAndGet();
    LOG.warn("a mail could not be sent in {} attempts: {}", claimed.tries(), fault);
    return rows.giveUp(claimed, fault);
  }

  private void completeIfIdle() {
    if (closed && underWay.isEmpty()) {
      idle.tryComplete();
    }
  }

  /** Waits for mails that are being sent; another process sends the rest. */
  @Override
  public Future<Void> close() {
    context.runOnContext(
        turn -> {
          closed = true;
          if (polling != null) {
            polling.stop();
          }
          completeIfIdle();
        });
    return server.close(idle.future());
  }
}
