package dev.bourse.delivery;

import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.JobLease;
import dev.bourse.jobs.ScheduledJob;
import dev.bourse.store.Database;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one kind of delivery: polls for pending items and sends them in the order of the {@link
 * Schedule}. All of it runs on one event loop, in the one process that holds the lease. Each poll
 * renews the lease.
 */
public final class DeliveryRounds {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryRounds.class);

  /** A receiver that does not answer must not keep the service from stopping. */
  private static final long STOP_MILLIS = 3_000;

  /** A kind of delivery. All methods are called on the event loop of the rounds. */
  public interface Work {
    /**
     * Finds pending queues and puts them into the schedule.
     *
     * @param isNew whether another process delivered before, so that everything must be scanned
     */
    Future<Void> look(boolean isNew);

    /**
     * Tries the first item of a queue and stores the result; returns the update of the schedule.
     */
    Future<Runnable> attemptNext(Schedule.Queue queue);

    /** Forgets the queues, because another process delivers now. */
    void leaseLost();

    /**
     * Returns true if work other than attempts is in progress; its end must be reported by {@link
     * DeliveryRounds#noteEnded}.
     */
    boolean isBusy();
  }

  /**
   * Timing of the rounds.
   *
   * @param lease the name of the lease
   * @param job the name of the job that polls
   * @param summary the kind of delivery, as the job's summary
   * @param lookMillis interval of polls, and the pause after a failure of the store; milliseconds
   *     in tests
   * @param leaseMillis how long a dead process keeps others from delivering
   * @param leastLeftMillis remaining lease that an attempt needs to start, so that it ends before
   *     another process may repeat it
   */
  public record Terms(
      String lease,
      String job,
      String summary,
      long lookMillis,
      long leaseMillis,
      long leastLeftMillis) {}

  private final Context context;
  private final Terms terms;
  private final BackgroundJobs jobs;
  private final JobLease lease;
  private final Schedule schedule;
  private final Work work;
  private final Clock clock;
  private final LongSupplier nanoTime;

  private volatile int queues;

  // Confined to the context.
  private long leaseUntilNanos;
  private boolean hasLease;
  private boolean looking;
  private @Nullable ScheduledJob polling;
  private @Nullable Promise<Void> stopping;

  /**
   * @param schedule the pending queues; used on this object's event loop only
   * @param jobs runs the polls, and names this process in the lease
   */
  public DeliveryRounds(
      Vertx vertx,
      Database database,
      Terms terms,
      Schedule schedule,
      Work work,
      Clock clock,
      LongSupplier nanoTime,
      BackgroundJobs jobs) {
    this.context = vertx.getOrCreateContext();
    this.terms = terms;
    this.jobs = jobs;
    this.lease = new JobLease(database, terms.lease(), jobs.process());
    this.schedule = schedule;
    this.work = work;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  public void start() {
    context.runOnContext(
        turn ->
            polling =
                jobs.start(
                    BackgroundJob.underLease(
                        terms.job(), terms.summary(), terms.lookMillis(), this::look)));
  }

  /** Runs a task on the event loop of the rounds. Safe on any thread. */
  public void run(Runnable task) {
    context.runOnContext(turn -> task.run());
  }

  /** Schedules an immediate poll. Safe on any thread. */
  public void pollNow() {
    run(
        () -> {
          if (polling != null) {
            polling.runSoon();
          }
        });
  }

  /** Returns the number of non-empty queues known to this process. */
  public int queues() {
    return queues;
  }

  /** Returns true if this process delivers. On the event loop only. */
  public boolean hasLease() {
    return hasLease;
  }

  /** Returns true if an attempt may start. On the event loop only. */
  public boolean mayBegin() {
    return stopping == null
        && hasLease
        && leaseUntilNanos - nanoTime.getAsLong()
            > TimeUnit.MILLISECONDS.toNanos(terms.leastLeftMillis());
  }

  /**
   * Stops starting attempts, and succeeds when those in progress have ended. An attempt that takes
   * too long is repeated by the next holder of the lease.
   */
  public Future<Void> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        turn -> {
          stopping = stopped;
          if (polling != null) {
            polling.stop();
          }
          workEnded();
        });
    return stopped
        .future()
        .timeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty()
        .compose(ended -> hasLease ? lease.release() : Future.succeededFuture());
  }

  /** Reports the end of work that was in progress. On the event loop only. */
  public void workEnded() {
    if (stopping != null && schedule.underWay() == 0 && !work.isBusy() && !looking) {
      stopping.tryComplete();
    }
  }

  private Future<Boolean> look() {
    if (stopping != null) {
      return Future.succeededFuture(false);
    }
    looking = true;
    long begin = nanoTime.getAsLong();
    return lease
        .take(terms.leaseMillis())
        .compose(
            mine -> {
              leaseUntilNanos = begin + TimeUnit.MILLISECONDS.toNanos(terms.leaseMillis());
              boolean isNew = !hasLease;
              hasLease = true;
              return work.look(isNew);
            })
        .onComplete(
            done ->
                context.runOnContext(
                    turn -> {
                      looking = false;
                      if (done.failed()) {
                        pollFailed(done.cause());
                      }
                      workEnded();
                    }))
        .map(false);
  }

  private void pollFailed(Throwable fault) {
    if (fault instanceof JobLease.LeaseHeldException) {
      if (hasLease) {
        LOG.info("another process runs job {} now", terms.job());
      }
      hasLease = false;
      work.leaseLost();
      schedule.clear();
    }
  }

  /** Starts the attempts that are due. On the event loop only. */
  public void send() {
    queues = schedule.queues() + schedule.underWay();
    while (mayBegin()) {
      Optional<Schedule.Queue> next = schedule.take(clock.millis());
      if (next.isEmpty()) {
        return;
      }
      Schedule.Queue queue = next.get();
      work.attemptNext(queue)
          .onComplete(
              done ->
                  context.runOnContext(
                      turn -> {
                        if (done.failed()) {
                          LOG.debug("{} waits for the store: {}", queue, done.cause().toString());
                          // The store is down, so new items must wait too.
                          long due = clock.millis() + terms.lookMillis();
                          schedule.postpone(queue, due, due);
                        } else {
                          done.result().run();
                        }
                        send();
                        workEnded();
                      }));
    }
  }
}
