package dev.bourse.delivery;

import dev.bourse.core.Ids;
import dev.bourse.store.Database;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what waits in queues, by the {@link Schedule}. All of it is on one event loop; of several
 * processes the one that has the lease does it. At each look it renews the lease and looks for
 * more.
 */
public final class DeliveryRounds {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryRounds.class);

  /** A receiver that does not answer must not keep the service from stopping. */
  private static final long STOP_MILLIS = 3_000;

  private static final int ID_LENGTH = 12;

  /** What is delivered. All of it is called on the event loop of the rounds. */
  public interface Work {
    /**
     * Looks for what waits, and puts it into the schedule.
     *
     * @param isNew whether another process delivered before, so that all must be looked for
     */
    Future<Void> look(boolean isNew);

    /** Tries the first that waits in a queue, and stores what came of it; what to schedule then. */
    Future<Runnable> tried(Schedule.Queue queue);

    /** Another process delivers now: what is known of its queues is forgotten. */
    void lost();

    /** Whether something else than an attempt is under way, whose end must be told. */
    boolean isBusy();
  }

  /**
   * How long the work may take.
   *
   * @param name what is delivered
   * @param lookMillis the time between two looks, which is also the pause after a failure of the
   *     store; milliseconds in tests
   * @param leaseMillis how long a process that ended keeps others from delivering
   * @param leastLeftMillis an attempt must end before another process may make the same: it begins
   *     with so much of the lease left
   */
  public record Terms(String name, long lookMillis, long leaseMillis, long leastLeftMillis) {}

  private final Vertx vertx;
  private final Context context;
  private final Terms terms;
  private final DeliveryLease lease;
  private final Schedule schedule;
  private final Work work;
  private final Clock clock;
  private final LongSupplier nanoTime;

  private volatile int queues;

  // On the context alone.
  private long leaseUntilNanos;
  private boolean hasLease;
  private boolean looking;
  private boolean lookAgain;
  private long timer = -1;
  private @Nullable Promise<Void> stopping;

  /**
   * @param schedule what waits; of this object's event loop alone
   */
  public DeliveryRounds(
      Vertx vertx,
      Database database,
      Terms terms,
      Schedule schedule,
      Work work,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.terms = terms;
    this.lease = new DeliveryLease(database, terms.name(), Ids.base62(random, ID_LENGTH));
    this.schedule = schedule;
    this.work = work;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  public void start() {
    context.runOnContext(
        turn -> {
          timer = vertx.setPeriodic(terms.lookMillis(), tick -> look());
          look();
        });
  }

  /** Does something on the event loop of the rounds. May be called on any thread. */
  public void run(Runnable task) {
    context.runOnContext(turn -> task.run());
  }

  /** Looks as soon as may be. May be called on any thread. */
  public void lookSoon() {
    run(this::look);
  }

  /** Queues in which something waits, known to this process. */
  public int queues() {
    return queues;
  }

  /** Whether this process delivers. On the event loop alone. */
  public boolean hasLease() {
    return hasLease;
  }

  /** Whether something may be begun. On the event loop alone. */
  public boolean mayBegin() {
    return stopping == null
        && hasLease
        && leaseUntilNanos - nanoTime.getAsLong()
            > TimeUnit.MILLISECONDS.toNanos(terms.leastLeftMillis());
  }

  /**
   * Begins no attempt any more; succeeds when those under way have ended. One that takes too long
   * is made again by whoever comes next.
   */
  public Future<Void> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        turn -> {
          stopping = stopped;
          vertx.cancelTimer(timer);
          noteEnded();
        });
    return stopped
        .future()
        .timeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty()
        .compose(ended -> hasLease ? lease.release() : Future.succeededFuture());
  }

  /** Something that was under way has ended. On the event loop alone. */
  public void noteEnded() {
    if (stopping != null && schedule.underWay() == 0 && !work.isBusy() && !looking) {
      stopping.tryComplete();
    }
  }

  private void look() {
    if (stopping != null) {
      return;
    }
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    long begin = nanoTime.getAsLong();
    lease
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
                        missed(done.cause());
                      }
                      if (lookAgain) {
                        lookAgain = false;
                        look();
                      }
                      noteEnded();
                    }));
  }

  private void missed(Throwable fault) {
    if (fault instanceof DeliveryLease.NotMine) {
      if (hasLease) {
        LOG.info("another process delivers {} now", terms.name());
      }
      hasLease = false;
      work.lost();
      schedule.clear();
    } else {
      LOG.debug("{} could not be looked for: {}", terms.name(), fault.toString());
    }
  }

  /** Begins what is due and may be. On the event loop alone. */
  public void send() {
    queues = schedule.queues() + schedule.underWay();
    while (mayBegin()) {
      Optional<Schedule.Queue> next = schedule.take(clock.millis());
      if (next.isEmpty()) {
        return;
      }
      Schedule.Queue queue = next.get();
      work.tried(queue)
          .onComplete(
              done ->
                  context.runOnContext(
                      turn -> {
                        if (done.failed()) {
                          LOG.debug("{} waits for the store: {}", queue, done.cause().toString());
                          // The store is away, which whatever came meanwhile does not change.
                          long due = clock.millis() + terms.lookMillis();
                          schedule.postponed(queue, due, due);
                        } else {
                          done.result().run();
                        }
                        send();
                        noteEnded();
                      }));
    }
  }
}
