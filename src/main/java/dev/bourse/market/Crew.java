package dev.bourse.market;

import dev.bourse.nodes.NodeFailure;
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
 * Does the work on machines, so much at a time, and says when to look again at what failed. What
 * failed before is tried again in a share of its own. Used on one context.
 */
final class Crew {
  private static final Logger LOG = LoggerFactory.getLogger(Crew.class);

  /** Waits between tries double from the first to the last. */
  private static final long FIRST_RETRY_MILLIS = 1_000;

  private static final int MAX_RETRY_DOUBLINGS = 6;

  /** The longest wait between two tries. */
  static final long LAST_RETRY_MILLIS = FIRST_RETRY_MILLIS << MAX_RETRY_DOUBLINGS;

  private final Vertx vertx;
  private final Set<String> inWork = new HashSet<>();
  private final Lanes lanes;

  /** By allocation, or by node for those that nobody holds. */
  private final Map<String, Integer> failedTries = new HashMap<>();

  /** What is done after a wait, and the wait's timer; by allocation or node. */
  private final Map<String, Rest> resting = new HashMap<>();

  private record Rest(long timer, Runnable next) {}

  private boolean stopped;

  /**
   * @param lanes how much is done at a time
   */
  Crew(Vertx vertx, Lanes lanes) {
    this.vertx = vertx;
    this.lanes = lanes;
  }

  /**
   * Takes an allocation, or a node, into work unless it is.
   *
   * @param of whose it is, for the log
   * @param look what to do afterwards: at once, or a while after a failure
   */
  void take(String id, String of, Supplier<Future<Void>> work, Runnable look) {
    if (stopped || !inWork.add(id)) {
      return;
    }
    lanes.add(
        failedTries(id) > 0,
        () ->
            Future.succeededFuture()
                .compose(go -> work.get())
                .onComplete(
                    done -> {
                      if (done.failed() && !stopped) {
                        LOG.warn("{} of {}: {}", id, of, done.cause().toString());
                      }
                      if (done.failed() && isBusy(done.cause())) {
                        rest(id, FIRST_RETRY_MILLIS, () -> release(id, look));
                      } else {
                        again(id, look, done.failed());
                      }
                    }));
  }

  /** Whether a machine was not even asked: that is no try, and did not fail. */
  static boolean isBusy(Throwable failure) {
    return failure instanceof NodeFailure node && node.isBusy();
  }

  private void release(String id, Runnable look) {
    inWork.remove(id);
    look.run();
  }

  /** Does something after a while, or as soon as this work is to be hurried. */
  void rest(String work, long delayMillis, Runnable next) {
    if (!stopped) {
      long timer = vertx.setTimer(delayMillis, fired -> hurry(work));
      Rest before = resting.put(work, new Rest(timer, next));
      if (before != null) {
        vertx.cancelTimer(before.timer());
      }
    }
  }

  /** Ends the wait of this work, if it waits. */
  void hurry(String work) {
    Rest rest = resting.remove(work);
    if (rest != null && !stopped) {
      vertx.cancelTimer(rest.timer());
      rest.next().run();
    }
  }

  private void again(String id, Runnable look, boolean afterFailure) {
    int tries = afterFailure ? failed(id) : 0;
    if (!afterFailure) {
      succeeded(id);
      release(id, look);
    } else {
      rest(
          id,
          FIRST_RETRY_MILLIS << Math.min(tries - 1, MAX_RETRY_DOUBLINGS),
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
    Rest rest = resting.remove(work);
    if (rest != null) {
      vertx.cancelTimer(rest.timer());
    }
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    resting.values().forEach(rest -> vertx.cancelTimer(rest.timer()));
    resting.clear();
    lanes.stop();
  }
}
