package dev.bourse.market;

import dev.bourse.nodes.NodeFailureException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work on machines, one at a time for each allocation or node, and schedules a retry after a
 * failure. The waits between attempts double. Used on one context.
 */
final class WorkPool {
  private static final Logger LOG = LoggerFactory.getLogger(WorkPool.class);

  /** Waits between attempts double from the first to the last. */
  private static final long FIRST_RETRY_MILLIS = 1_000;

  private static final int MAX_RETRY_DOUBLINGS = 6;

  /** The longest wait between two attempts, in milliseconds. */
  static final long LAST_RETRY_MILLIS = FIRST_RETRY_MILLIS << MAX_RETRY_DOUBLINGS;

  private final Vertx vertx;
  private final Set<String> running = new HashSet<>();
  private final Turns queue;

  /** Consecutive failures, by allocation, or by node for machines without a holder. */
  private final Map<String, Integer> failedTries = new HashMap<>();

  /** The task after a wait and the timer of the wait, by allocation or node. */
  private final Map<String, ScheduledTask> scheduled = new HashMap<>();

  private record ScheduledTask(long timer, Runnable next) {}

  private boolean stopped;

  /** Decides when work runs. */
  interface Turns {
    /**
     * Adds work.
     *
     * @param owner the owner of the work, for fair turns
     * @param isLater true if it waits behind other work, as after a failure
     */
    void add(String owner, boolean isLater, Supplier<Future<Void>> work);

    /** Stops starting work. */
    default void stop() {}
  }

  /**
   * @param queue decides how much work runs at a time
   */
  WorkPool(Vertx vertx, Turns queue) {
    this.vertx = vertx;
    this.queue = queue;
  }

  /**
   * Runs work for an allocation or a node, unless work is already running for it.
   *
   * @param of the owner in the log and the queue
   * @param look runs afterwards: at once, or after the wait that follows a failure
   */
  void submit(String id, String of, Supplier<Future<Void>> work, Runnable look) {
    submit(id, of, false, work, look);
  }

  /**
   * @param isLater true if it waits behind other work, as if it had failed before
   */
  void submit(String id, String of, boolean isLater, Supplier<Future<Void>> work, Runnable look) {
    if (stopped || !running.add(id)) {
      return;
    }
    queue.add(
        of,
        failedTries(id) > 0 || isLater,
        () ->
            Future.succeededFuture()
                .compose(go -> work.get())
                .onComplete(
                    done -> {
                      if (done.failed() && !stopped) {
                        LOG.warn("{} of {}: {}", id, of, done.cause().toString());
                      }
                      if (done.failed() && isBusy(done.cause())) {
                        schedule(id, FIRST_RETRY_MILLIS, () -> release(id, look));
                      } else {
                        finish(id, look, done.failed());
                      }
                    }));
  }

  /** Returns true if the machine was not asked, so that the attempt does not count as a failure. */
  static boolean isBusy(Throwable failure) {
    return failure instanceof NodeFailureException node && node.isBusy();
  }

  private void release(String id, Runnable look) {
    running.remove(id);
    look.run();
  }

  /** Schedules a task after a wait, or as soon as {@link #runNow} is called for this work. */
  void schedule(String work, long delayMillis, Runnable next) {
    if (!stopped) {
      long timer = vertx.setTimer(delayMillis, fired -> runNow(work));
      ScheduledTask before = scheduled.put(work, new ScheduledTask(timer, next));
      if (before != null) {
        vertx.cancelTimer(before.timer());
      }
    }
  }

  /** Ends the wait of this work, if it waits. */
  void runNow(String work) {
    ScheduledTask next = scheduled.remove(work);
    if (next != null && !stopped) {
      vertx.cancelTimer(next.timer());
      next.next().run();
    }
  }

  private void finish(String id, Runnable look, boolean afterFailure) {
    if (!afterFailure) {
      recordSuccess(id);
      release(id, look);
    } else {
      schedule(
          id,
          FIRST_RETRY_MILLIS << Math.min(recordFailure(id) - 1, MAX_RETRY_DOUBLINGS),
          () -> release(id, look));
    }
  }

  /** Returns how often in a row work on this allocation or node failed. */
  int failedTries(String work) {
    return failedTries.getOrDefault(work, 0);
  }

  /** Counts a failure and returns the number of failures in a row. */
  int recordFailure(String work) {
    return failedTries.merge(work, 1, Integer::sum);
  }

  void recordSuccess(String work) {
    failedTries.remove(work);
  }

  /** Forgets an allocation or node that has ended, and cancels the task that waits for it. */
  void forget(String work) {
    failedTries.remove(work);
    ScheduledTask next = scheduled.remove(work);
    if (next != null) {
      vertx.cancelTimer(next.timer());
    }
  }

  /** Stops starting work and cancels all waits. */
  void stop() {
    stopped = true;
    scheduled.values().forEach(next -> vertx.cancelTimer(next.timer()));
    scheduled.clear();
    queue.stop();
  }
}
