package dev.bourse.delivery;

import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.JobLease;
import dev.bourse.jobs.ScheduledJob;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the items of one {@link DeliveryKind}: polls for pending queues, tries their first items
 * in the order of the {@link Schedule}, and has the kind store each result. All of it runs on one
 * event loop. With a lease, it runs in the one process that holds the lease; each poll renews it.
 *
 * <p>Due times in memory are measured by the monotonic clock, and stored ones by the wall clock. If
 * the wall clock steps forward or the machine was suspended, the next scan finds the due items. If
 * it steps back, retries come later by the step, but at most by the longest pause between attempts:
 * a stored time beyond it counts as past.
 *
 * @param <T> the items
 */
public final class DeliveryEngine<T> {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryEngine.class);

  /** A receiver that does not answer must not keep the service from stopping. */
  private static final long STOP_MILLIS = 3_000;

  /** Delay before an attempt that found no free slot is tried again. */
  private static final long ROOM_MILLIS = 1_000;

  /**
   * Queues held in memory, at 200 bytes each. Past half of them, queues whose last attempt failed
   * are left to the scans, and past a quarter those that are not due, so that failing receivers
   * leave room for others, and those with long pauses for those that are due.
   */
  private static final int MAX_QUEUES = 50_000;

  /**
   * With a hundred thousand receivers a scan occupies a reader for a second. Scans take at most one
   * part in this many of a reader's time, apart from those that a changed receiver causes.
   */
  private static final int SCAN_SHARE = 20;

  /**
   * Parameters of an engine.
   *
   * @param job the name of the job that polls
   * @param summary the kind of delivery, as the job's summary
   * @param pollMillis interval of polls, and the pause after a failure of the store; milliseconds
   *     in tests
   * @param scanMillis longest interval of scans for pending queues, a safety net for missed
   *     notifications
   * @param most concurrent attempts
   * @param mostOfReceiver concurrent attempts at one receiver
   * @param mostOfFailing concurrent attempts at all failing receivers together
   * @param leaseMillis how long a dead process keeps others from delivering; 0 without a lease
   * @param leastLeftMillis remaining lease that an attempt needs to start, so that it ends before
   *     another process may repeat it; 0 without a lease
   */
  public record Terms(
      String job,
      String summary,
      long pollMillis,
      long scanMillis,
      int most,
      int mostOfReceiver,
      int mostOfFailing,
      long leaseMillis,
      long leastLeftMillis) {
    /** Returns the same parameters with another interval of polls. */
    public Terms withPollMillis(long millis) {
      return new Terms(
          job,
          summary,
          millis,
          scanMillis,
          most,
          mostOfReceiver,
          mostOfFailing,
          leaseMillis,
          leastLeftMillis);
    }
  }

  /** The place before the first queue. */
  private static final Schedule.Queue START = new Schedule.Queue("", "");

  private final Context context;
  private final Terms terms;
  private final DeliveryKind<T> kind;
  private final RetrySchedule retries;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final int maxQueues;
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  private volatile int queues;
  private volatile int underWay;

  // Confined to the context.
  private final Schedule schedule;
  private @Nullable JobLease lease;
  private @Nullable ScheduledJob polling;
  private @Nullable Promise<Void> stopping;

  /** The mark at the start of the last complete pass over the pending queues. */
  private DeliveryKind.Mark scanned = DeliveryKind.Mark.UNKNOWN;

  /** The mark at the start of the pass in progress. */
  private DeliveryKind.Mark scanning = DeliveryKind.Mark.UNKNOWN;

  private boolean isPassing;

  /** The queue after which the pass in progress goes on; null for the first one. */
  private Schedule.@Nullable Queue scannedTo;

  /** Whether the pass in progress started at the first queue, or starts there again. */
  private boolean isFromFirst;

  /** Whether the pass in progress adds failing queues; not when it starts again. */
  private boolean isWithFailing;

  /**
   * The queue before the first failing one that found no room. The next pass adds failing queues
   * from there on, so that they take turns, and then starts again at the first queue for the rest.
   */
  private Schedule.@Nullable Queue resumeAfter;

  private long scannedNanos;
  private long scanTookNanos;
  private long leaseUntilNanos;
  private boolean isDelivering;
  private boolean isPolling;

  /**
   * @param nanoTime the monotonic clock
   */
  public DeliveryEngine(
      Vertx vertx,
      Terms terms,
      DeliveryKind<T> kind,
      RetrySchedule retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this(vertx, terms, kind, retries, clock, nanoTime, random, MAX_QUEUES);
  }

  /**
   * @param maxQueues queues held in memory
   */
  DeliveryEngine(
      Vertx vertx,
      Terms terms,
      DeliveryKind<T> kind,
      RetrySchedule retries,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      int maxQueues) {
    this.context = vertx.getOrCreateContext();
    this.terms = terms;
    this.kind = kind;
    this.retries = retries;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.random = random;
    this.maxQueues = maxQueues;
    this.schedule = new Schedule(terms.most(), terms.mostOfReceiver(), terms.mostOfFailing());
  }

  /**
   * Starts to deliver.
   *
   * @param leaseOfKind elects the process that delivers; null if the kind elects one for each item
   */
  public void start(BackgroundJobs jobs, @Nullable JobLease leaseOfKind) {
    BackgroundJob.Place place =
        leaseOfKind == null ? BackgroundJob.Place.EACH_PROCESS : BackgroundJob.Place.LEASE_HOLDER;
    BackgroundJob job =
        new BackgroundJob(
            terms.job(), terms.summary(), terms.pollMillis(), place, false, true, now -> poll());
    run(
        () -> {
          lease = leaseOfKind;
          polling = jobs.start(job);
        });
  }

  /** Runs a task on the event loop of the engine. Safe on any thread. */
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

  /** Returns the number of attempts in progress. */
  public int underWay() {
    return underWay;
  }

  /** Returns the number of items that this process delivered. */
  public long delivered() {
    return delivered.get();
  }

  /** Returns the number of failed attempts of this process. */
  public long failed() {
    return failed.get();
  }

  /** Returns true if this process delivers. On the event loop only. */
  public boolean isDelivering() {
    return isDelivering;
  }

  /** Returns true if an attempt may start. On the event loop only. */
  public boolean mayBegin() {
    return stopping == null
        && isDelivering
        && (lease == null
            || leaseUntilNanos - nanoTime.getAsLong()
                > TimeUnit.MILLISECONDS.toNanos(terms.leastLeftMillis()));
  }

  /**
   * Stops starting attempts, and returns true when those in progress have ended; false if some take
   * too long. Another process repeats them.
   */
  public Future<Boolean> stop() {
    Promise<Void> stopped = Promise.promise();
    run(
        () -> {
          stopping = stopped;
          if (polling != null) {
            polling.stop();
          }
          workEnded();
        });
    return stopped
        .future()
        .timeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
        .map(true)
        .otherwise(false)
        .compose(hasEnded -> releaseLease().map(hasEnded));
  }

  private Future<Void> releaseLease() {
    return lease != null && isDelivering ? lease.release() : Future.succeededFuture();
  }

  /** Reports the end of work that was in progress. On the event loop only. */
  public void workEnded() {
    if (stopping != null && schedule.underWay() == 0 && !kind.isBusy() && !isPolling) {
      stopping.tryComplete();
    }
  }

  private Future<Boolean> poll() {
    if (stopping != null) {
      return Future.succeededFuture(false);
    }
    isPolling = true;
    long begin = nanoTime.getAsLong();
    return (lease == null ? Future.<Void>succeededFuture() : lease.take(terms.leaseMillis()))
        .compose(
            mine -> {
              leaseUntilNanos = begin + TimeUnit.MILLISECONDS.toNanos(terms.leaseMillis());
              isDelivering = true;
              return kind.readMark().compose(this::look);
            })
        .onComplete(
            done ->
                run(
                    () -> {
                      isPolling = false;
                      if (done.failed()) {
                        pollFailed(done.cause());
                      }
                      workEnded();
                    }))
        .map(false);
  }

  private void pollFailed(Throwable fault) {
    if (fault instanceof JobLease.LeaseHeldException) {
      if (isDelivering) {
        LOG.info("another process runs job {} now", terms.job());
      }
      isDelivering = false;
      scanned = DeliveryKind.Mark.UNKNOWN;
      isPassing = false;
      resumeAfter = null;
      kind.leaseLost();
      schedule.clear();
      count();
    }
  }

  private Future<Void> look(DeliveryKind.Mark mark) {
    boolean isChanged = mark.changes() != scanned.changes();
    long begin = nanoTime.getAsLong();
    boolean isAwaited = !isPassing && mark.equals(scanned);
    long pause = isAwaited ? TimeUnit.MILLISECONDS.toNanos(terms.scanMillis()) : 0;
    boolean isScan =
        (isChanged && !isPassing)
            || begin - scannedNanos >= Math.max(pause, scanTookNanos * SCAN_SHARE);
    return kind.prepare(isScan)
        .compose(ready -> isScan ? scan(isChanged, mark, begin) : Future.succeededFuture())
        .onSuccess(found -> attemptDue());
  }

  /** Reads one page of the pending queues; a pass takes several if there are very many. */
  private Future<Void> scan(boolean isChanged, DeliveryKind.Mark mark, long begin) {
    if (!isPassing) {
      isPassing = true;
      scanning = mark;
      scannedTo = START.equals(resumeAfter) ? null : resumeAfter;
      isFromFirst = scannedTo == null;
      isWithFailing = true;
      resumeAfter = null;
    }
    return kind.listPending(Optional.ofNullable(scannedTo), maxQueues)
        .map(
            found -> {
              scannedNanos = nanoTime.getAsLong();
              scanTookNanos = scannedNanos - begin;
              boolean isLast = putAll(found, isChanged) && found.size() < maxQueues;
              if (isLast && isFromFirst) {
                isPassing = false;
                scanned = scanning;
              } else if (isLast) {
                isFromFirst = true;
                isWithFailing = false;
                scannedTo = null;
              }
              return null;
            });
  }

  /**
   * Adds listed queues up to the first one for which there is no room; returns true if all fit.
   * Queues that are not due or that fail do not wait for room: the next pass finds them.
   */
  private boolean putAll(List<DeliveryKind.Pending> found, boolean isChanged) {
    for (DeliveryKind.Pending pending : found) {
      long pause = pauseUntil(pending.dueMillis());
      if (pause == 0) {
        schedule.bringForward(pending.queue(), now());
      }
      if (isChanged || !schedule.knows(pending.queue())) {
        boolean isFailing = pending.tries() > 0;
        boolean fits =
            (isWithFailing || !isFailing || isChanged) && put(pending.queue(), pause, isFailing);
        if (!fits && pause == 0 && !isFailing) {
          return false;
        }
        if (!fits && pause == 0 && resumeAfter == null) {
          resumeAfter = scannedTo == null ? START : scannedTo;
        }
      }
      scannedTo = pending.queue();
    }
    return true;
  }

  /**
   * Adds a queue that has a new item. On the event loop only; {@link #attemptDue} starts the
   * attempt.
   */
  public void put(Schedule.Queue queue) {
    put(queue, 0, false);
  }

  /** Returns false if there is no room for the queue. */
  private boolean put(Schedule.Queue queue, long pauseMillis, boolean isFailing) {
    boolean fits =
        schedule.knows(queue)
            || (pauseMillis > 0
                ? mayWait()
                : schedule.queues() < (isFailing ? maxQueues / 2 : maxQueues));
    if (fits) {
      schedule.put(queue, now() + pauseMillis, isFailing);
    }
    return fits;
  }

  /** Returns true if there is room for a queue that is not due. */
  private boolean mayWait() {
    return schedule.queues() < maxQueues / 4;
  }

  /** Ends an attempt whose queue is due at a time of the monotonic clock. */
  private void putBack(Schedule.Queue queue, long dueMillis, boolean isFailure) {
    boolean isDropped = dueMillis > now() && !mayWait();
    if (isDropped && isFailure) {
      schedule.dropFailed(queue, now());
    } else if (isDropped) {
      schedule.recordEmpty(queue, now());
    } else if (isFailure) {
      schedule.recordFailure(queue, dueMillis, now());
    } else {
      schedule.postpone(queue, dueMillis, now());
    }
  }

  /** Returns the monotonic clock's time. */
  private long now() {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong());
  }

  /**
   * Returns the pause until a stored time; 0 if it is past. A time beyond the longest pause was
   * stored before the clock was set back, and counts as past too.
   */
  private long pauseUntil(long dueMillis) {
    long pause = dueMillis - clock.millis();
    return pause > DeliveryBackoff.MOST_MILLIS ? 0 : Math.max(0, pause);
  }

  /** Starts the attempts that are due. On the event loop only. */
  public void attemptDue() {
    while (mayBegin()) {
      Optional<Schedule.Queue> next = schedule.take(now());
      if (next.isEmpty()) {
        break;
      }
      Schedule.Queue queue = next.get();
      attemptNext(queue).onComplete(done -> run(() -> ended(queue, done)));
    }
    count();
  }

  private void count() {
    underWay = schedule.underWay();
    queues = isDelivering ? schedule.queues() + underWay : 0;
  }

  private void ended(Schedule.Queue queue, AsyncResult<Runnable> done) {
    if (done.succeeded()) {
      done.result().run();
    } else if (done.cause() instanceof ReceiverChangedException) {
      // It may have a new address; try that.
      schedule.postpone(queue, now(), now());
    } else {
      LOG.debug("{} waits for the store: {}", queue, done.cause().toString());
      // The store is down, so new items must wait too.
      long due = now() + terms.pollMillis();
      schedule.postpone(queue, due, due);
    }
    attemptDue();
    workEnded();
  }

  /** Tries the first item of a queue and stores the result; returns the update of the schedule. */
  private Future<Runnable> attemptNext(Schedule.Queue queue) {
    return Future.succeededFuture()
        .compose(begun -> kind.findNext(queue))
        .compose(
            found -> {
              if (found.isEmpty()) {
                return Future.succeededFuture(() -> schedule.recordEmpty(queue, now()));
              }
              T item = found.get();
              long pause = pauseUntil(kind.history(item).nextAtMillis());
              long due = now() + pause;
              return pause > 0
                  ? Future.succeededFuture(() -> putBack(queue, due, false))
                  : kind.send(item).compose(attempt -> conclude(queue, item, attempt));
            });
  }

  private Future<Runnable> conclude(Schedule.Queue queue, T item, Attempt attempt) {
    if (attempt.isSkipped()) {
      return Future.succeededFuture(() -> schedule.postpone(queue, now() + ROOM_MILLIS, now()));
    }
    long now = clock.millis();
    if (attempt.isDelivered()) {
      delivered.incrementAndGet();
      return kind.recordDelivered(item, attempt, now)
          .map(stored -> () -> schedule.recordSuccess(queue, now()));
    }
    failed.incrementAndGet();
    AttemptHistory before = kind.history(item);
    Long first = before.firstAtMillis();
    OptionalLong next =
        attempt.isFinal()
            ? OptionalLong.empty()
            : retries.next(before.tries() + 1, first == null ? now : first, now, random);
    // Before the outcome is stored, so that a clock that moves on during the commit delays no
    // retry.
    long due = now() + next.orElse(now) - now;
    Future<Void> stored =
        next.isEmpty()
            ? kind.giveUp(item, attempt, now)
            : kind.recordFailed(item, attempt, next.getAsLong(), now);
    return stored.map(done -> () -> putBack(queue, due, true));
  }
}
