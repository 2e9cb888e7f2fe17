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
 * Runs work on machines, one at a time for each allocation or node, and schedules another try after
 * a failure. The waits between tries double. Used on one context.
 */
final class WorkPool {
  private static final Logger LOG = LoggerFactory.getLogger(WorkPool.class);

  /** Waits between tries double from the first to the last. */
  private static final long FIRST_RETRY_MILLIS = 1_000;

  private static final int MAX_RETRY_DOUBLINGS = 6;

  /** The longest wait between two tries. */
  static final long LAST_RETRY_MILLIS = FIRST_RETRY_MILLIS << MAX_RETRY_DOUBLINGS;

  private final Vertx vertx;
  private final Set<String> running = new HashSet<>();
  private final Turns queue;

  /** By allocation, or by node for those that nobody holds. */
  private final Map<String, Integer> failedTries = new HashMap<>();

  /** What is done after a wait, and the wait's timer; by allocation or node. */
  private final Map<String, Scheduled> scheduled = new HashMap<>();

  private record Scheduled(long timer, Runnable next) {}

  private boolean stopped;

  /** Says when work is done. */
  interface Turns {
    /**
     * Adds work.
     *
     * @param owner whose it is
     * @param isLater whether it waits behind other work, as after a failure
     */
    void add(String owner, boolean isLater, Supplier<Future<Void>> work);

    /** Starts nothing more. */
    default void stop() {}
  }

  /**
   * @param queue how much is done at a time
   */
  WorkPool(Vertx vertx, Turns queue) {
    this.vertx = vertx;
    this.queue = queue;
  }

  /**
   * Runs work for an allocation, or a node, unless some is running for it.
   *
   * @param of whose it is, for the log and the queue
   * @param look what to do afterwards: at once, or a while after a failure
   */
  void submit(String id, String of, Supplier<Future<Void>> work, Runnable look) {
    submit(id, of, false, work, look);
  }

  /**
   * @param isLater whether it waits behind other work, as if it had failed before
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

  /** Whether a machine was not even asked: that is no try, and did not fail. */
  static boolean isBusy(Throwable failure) {
    return failure instanceof NodeFailureException node && node.isBusy();
  }

  private void release(String id, Runnable look) {
    running.remove(id);
    look.run();
  }

  /** Does something after a while, or as soon as {@link #runNow} is called for this work. */
  void schedule(String work, long delayMillis, Runnable next) {
    if (!stopped) {
      long timer = vertx.setTimer(delayMillis, fired -> runNow(work));
      Scheduled before = scheduled.put(work, new Scheduled(timer, next));
      if (before != null) {
        vertx.cancelTimer(before.timer());
      }
    }
  }

  /** Ends the wait of this work, if it waits. */
  void runNow(String work) {
    Scheduled next = scheduled.remove(work);
    if (next != null && !stopped) {
      vertx.cancelTimer(next.timer());
      next.next().run();
    }
  }

  private void finish(String id, Runnable look, boolean afterFailure) {
    if (!afterFailure) {
      succeeded(id);
      release(id, look);
    } else {
      schedule(
          id,
          FIRST_RETRY_MILLIS << Math.min(failed(id) - 1, MAX_RETRY_DOUBLINGS),
          () -> release(id, look));
    }
  }

  /** How often in a row work on this allocation or node failed. */
  int failedTries(String work) {
    return failedTries.getOrDefault(work, 0);
  }

  /** Once more; how often in a row by now. */
  int failed(String work) {
    return failedTries.merge(work, 1, Integer::sum);
  }

  void succeeded(String work) {
    failedTries.remove(work);
  }

  /** There is no such allocation or node any more: what waits for it is not done. */
  void forget(String work) {
    failedTries.remove(work);
    Scheduled next = scheduled.remove(work);
    if (next != null) {
      vertx.cancelTimer(next.timer());
    }
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    scheduled.values().forEach(next -> vertx.cancelTimer(next.timer()));
    scheduled.clear();
    queue.stop();
  }
}
