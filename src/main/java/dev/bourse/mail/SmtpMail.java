package dev.bourse.mail;

import dev.bourse.core.Ids;
import dev.bourse.signals.Signals;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends mail through an SMTP server from a queue in memory, which ends with the process. */
public final class SmtpMail extends SmtpQueue {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpMail.class);

  /** Mails that wait or are being sent; a mail takes about 1 KB. */
  static final int MAX_WAITING = 1_000;

  /** Interval at which due retries start. */
  private static final long POLL_MILLIS = 500;

  private final RandomGenerator random;
  private final Semaphore room = new Semaphore(MAX_WAITING);

  private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  private volatile boolean isClosed;

  /**
   * A mail that waits.
   *
   * @param tries attempts so far
   */
  private record Waiting(Mail mail, int tries, long sinceNanos) {}

  /**
   * @param nanoTime the monotonic clock
   */
  public SmtpMail(
      Vertx vertx,
      MailConfig.Smtp smtp,
      String from,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this(
        vertx,
        new SmtpServer(vertx, smtp, from, SmtpServer.ATTEMPT_MILLIS, SmtpServer.CLOSE_MILLIS, null),
        USUAL_PAUSES_MILLIS,
        POLL_MILLIS,
        clock,
        nanoTime,
        random);
  }

  SmtpMail(
      Vertx vertx,
      SmtpServer server,
      List<Long> pausesMillis,
      long pollMillis,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    super(vertx, server, pausesMillis, pollMillis, clock, nanoTime, random);
    this.random = random;
    this.nanoTime = nanoTime;
  }

  @Override
  public Future<Void> send(Mail mail, Function<List<Statement>, Future<Void>> commit) {
    int most = mail.share(MAX_WAITING);
    return waiting.size() < most || most == MAX_WAITING
        ? super.send(mail, commit)
        : Future.failedFuture(new OutboxFullException(most));
  }

  @Override
  public boolean send(Mail mail) {
    if (!room.tryAcquire()) {
      LOG.warn("a mail was dropped: {} others wait for the mail server", MAX_WAITING);
      return false;
    }
    String id = Ids.next("mail", random);
    waiting.put(id, new Waiting(mail, 0, nanoTime.getAsLong()));
    begin(id);
    return true;
  }

  @Override
  public void registerMetrics(Signals signals) {
    super.registerMetrics(signals);
    signals.gauge(
        "bourse_mails_waiting",
        "Mails of this process that wait for the mail server or are being sent, at most 1,000.",
        waiting::size);
  }

  /** Waits for mails that are being sent, and drops the others. */
  @Override
  public Future<Void> close() {
    isClosed = true;
    return super.close();
  }

  /** Retries are in the engine's memory, and no other process has a share. */
  @Override
  Future<List<String>> listDue(int most) {
    return Future.succeededFuture(List.of());
  }

  @Override
  Future<Optional<Claim>> claim(String id) {
    return Future.succeededFuture(
        Optional.ofNullable(
                waiting.computeIfPresent(
                    id, (same, one) -> new Waiting(one.mail(), one.tries() + 1, one.sinceNanos())))
            .map(
                one ->
                    new Claim(
                        id,
                        one.tries(),
                        TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - one.sinceNanos()),
                        one.mail(),
                        null)));
  }

  @Override
  Future<Void> delete(Claim claim) {
    waiting.remove(claim.id());
    room.release();
    return Future.succeededFuture();
  }

  @Override
  Future<Void> retry(Claim claim, long pauseMillis, String fault) {
    if (isClosed) {
      LOG.info("a mail was dropped because the service is stopping: {}", fault);
      return delete(claim);
    }
    logRetry(fault);
    return Future.succeededFuture();
  }

  @Override
  Future<Void> giveUp(Claim claim, String fault) {
    return delete(claim);
  }
}
