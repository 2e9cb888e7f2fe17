package dev.bourse.mail;

import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.AttemptHistory;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.Schedule;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mails that wait for an SMTP server. Subclasses keep them; the engine of deliveries sends them.
 */
abstract class SmtpQueue implements MailSender {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpQueue.class);

  /**
   * Delays before a mail is tried again. Most outages of a server are short; the last delay, which
   * repeats, is the longest that a mail may be late when a long one ends. Network jitter is enough
   * to keep several processes apart.
   */
  static final List<Long> USUAL_PAUSES_MILLIS =
      List.of(1_000L, 5_000L, 30_000L, 120_000L, 300_000L, 900_000L);

  private final SmtpServer server;
  private final List<Long> pausesMillis;
  private final DeliveryEngine<Claim> engine;
  private final AtomicLong undelivered = new AtomicLong();

  /**
   * @param pausesMillis delays before each retry, of which the last repeats
   * @param pollMillis interval at which mails of other processes and retries are polled
   */
  SmtpQueue(
      Vertx vertx,
      SmtpServer server,
      List<Long> pausesMillis,
      long pollMillis,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this.server = server;
    this.pausesMillis = List.copyOf(pausesMillis);
    this.engine =
        new DeliveryEngine<>(
            vertx,
            new DeliveryEngine.Terms(
                "send-mails",
                "sending queued mails",
                pollMillis,
                0,
                SmtpServer.MAX_SENDING,
                1,
                // Each mail is a receiver, and one server takes all: none is healthier than
                // another.
                SmtpServer.MAX_SENDING,
                0,
                0),
            new Kind(),
            this::next,
            clock,
            nanoTime,
            random);
  }

  /**
   * A mail that this process alone may send now.
   *
   * @param tries attempts, with this one
   * @param waitedMillis the time since it was queued
   * @param mail null if it cannot be read
   * @param fault why it cannot be read
   */
  record Claim(
      String id, int tries, long waitedMillis, @Nullable Mail mail, @Nullable String fault) {}

  /** Lists the ids of mails that are due, the oldest first. */
  abstract Future<List<String>> listDue(int most);

  /** Claims a mail for an attempt; empty if it is not due or another process has claimed it. */
  abstract Future<Optional<Claim>> claim(String id);

  /** Deletes a mail that was sent. */
  abstract Future<Void> delete(Claim claim);

  /** Schedules the next attempt after a failure. */
  abstract Future<Void> retry(Claim claim, long pauseMillis, String fault);

  /** Logs that a mail is tried again. */
  static void logRetry(String fault) {
    LOG.info("a mail could not be sent and is tried again: {}", fault);
  }

  /** Gives a mail up after its last attempt. */
  abstract Future<Void> giveUp(Claim claim, String fault);

  /** Starts sending, including mails that earlier processes queued. */
  public void start(BackgroundJobs jobs) {
    engine.start(jobs, null);
  }

  /** Sends a mail that was just queued. */
  void begin(String id) {
    engine.run(
        () -> {
          engine.put(queue(id));
          engine.attemptDue();
        });
  }

  /** Returns the number of mails that this process is sending. */
  int sending() {
    return engine.underWay();
  }

  /** Returns the number of mails that this process has given up. */
  long undelivered() {
    return undelivered.get();
  }

  @Override
  public void registerMetrics(Signals signals) {
    signals.counter(
        "bourse_mails_undelivered_total",
        "Mails given up: rejected, or not accepted while they were of use.",
        this::undelivered);
  }

  /** Waits for mails that are being sent. */
  @Override
  public Future<Void> close() {
    return server.close(
        engine
            .stop()
            .compose(
                hasEnded ->
                    hasEnded
                        ? Future.succeededFuture()
                        : Future.failedFuture("attempts are in progress")));
  }

  private OptionalLong next(
      int tries, long firstTryMillis, long nowMillis, RandomGenerator jitter) {
    return OptionalLong.of(nowMillis + pauseMillis(pausesMillis, tries));
  }

  /** Returns the delay after this many attempts. */
  static long pauseMillis(List<Long> pausesMillis, int tries) {
    return pausesMillis.get(Math.min(tries, pausesMillis.size()) - 1);
  }

  /** True if a mail is of no use any more when it has its next attempt. */
  private boolean isLast(Claim claim, Mail mail) {
    return claim.waitedMillis() + pauseMillis(pausesMillis, claim.tries())
        > mail.useful().toMillis();
  }

  /** Each mail is a queue of its own, so that mails that fail leave room for others. */
  private static Schedule.Queue queue(String id) {
    return new Schedule.Queue(id, "");
  }

  private final class Kind implements DeliveryKind<Claim> {
    @Override
    public Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most) {
      return listDue(most)
          .map(due -> due.stream().map(id -> new Pending(queue(id), 0, 0)).toList());
    }

    @Override
    public Future<Optional<Claim>> findNext(Schedule.Queue queue) {
      return claim(queue.endpointId());
    }

    /** The claim counts the attempt, and compares due times by the clock of the store. */
    @Override
    public AttemptHistory history(Claim claim) {
      return new AttemptHistory(0, claim.tries() - 1, null, null, null, null);
    }

    @Override
    public Future<Attempt> send(Claim claim) {
      Mail mail = claim.mail();
      if (mail == null || claim.waitedMillis() > mail.useful().toMillis()) {
        String fault = mail == null ? claim.fault() : "it had no turn while it was of use";
        return Future.succeededFuture(new Attempt(null, fault, true));
      }
      return server
          .deliver(mail, claim.id())
          .map(new Attempt(null, null))
          .otherwise(
              cause ->
                  new Attempt(
                      null,
                      SmtpServer.shown(cause),
                      SmtpServer.isFinal(cause) || isLast(claim, mail)));
    }

    @Override
    public Future<Void> recordDelivered(Claim claim, Attempt attempt, long nowMillis) {
      return delete(claim);
    }

    @Override
    public Future<Void> recordFailed(
        Claim claim, Attempt attempt, long nextAtMillis, long nowMillis) {
      return retry(claim, nextAtMillis - nowMillis, String.valueOf(attempt.fault()));
    }

    @Override
    public Future<Void> giveUp(Claim claim, Attempt attempt, long nowMillis) {
      return SmtpQueue.this
          .giveUp(claim, String.valueOf(attempt.fault()))
          .onSuccess(
              stored -> {
                undelivered.incrementAndGet();
                LOG.warn(
                    "a mail could not be sent in {} attempts: {}", claim.tries(), attempt.fault());
              });
    }
  }
}
