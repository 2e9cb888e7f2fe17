package dev.bourse.market;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the work on machines, so much at a time, and says when to look again at what failed. Used on
 * one context.
 */
final class Crew {
  private static final Logger LOG = LoggerFactory.getLogger(Crew.class);

  /** Machines in work at once: a site's operators can follow that many; the others wait in line. */
  private static final int MAX_IN_WORK = 64;

  /** Waits between tries double from the first to the last. */
  private static final long FIRST_RETRY_MILLIS = 1_000;

  private static final int MAX_RETRY_DOUBLINGS = 6;

  /** The longest wait between two tries. */
  static final long LAST_RETRY_MILLIS = FIRST_RETRY_MILLIS << MAX_RETRY_DOUBLINGS;

  private final Vertx vertx;
  private final Set<String> inWork = new HashSet<>();
  private final ArrayDeque<Supplier<Future<Void>>> waiting = new ArrayDeque<>();

  /** By allocation, or by node for those that nobody holds. */
  private final Map<String, Integer> failedTries = new HashMap<>();

  private int running;
  private boolean stopped;

  Crew(Vertx vertx) {
    this.vertx = vertx;
  }

  /**
   * Takes an allocation into work unless it is.
   *
   * @param cluster whose it is, for the log
   * @param look what to do afterwards: at once, or a while after a failure
   */
  void take(String allocationId, String cluster, Supplier<Future<Void>> work, Runnable look) {
    if (stopped || !inWork.add(allocationId)) {
      return;
    }
    waiting.add(
        () ->
            Future.succeededFuture()
                .compose(go -> work.get())
                .onComplete(
                    done -> {
                      if (done.failed() && !stopped) {
                        LOG.warn("{} of {}: {}", allocationId, cluster, done.cause().toString());
                      }
                      again(allocationId, look, done.failed());
                    }));
    startWaiting();
  }

  private void startWaiting() {
    while (!stopped && running < MAX_IN_WORK && !waiting.isEmpty()) {
      running++;
      waiting
          .remove()
          .get()
          .onComplete(
              done -> {
                running--;
                startWaiting();
              });
    }
  }

  private void again(String allocationId, Runnable look, boolean afterFailure) {
    int tries = afterFailure ? failed(allocationId) : 0;
    Runnable next =
        () -> {
          inWork.remove(allocationId);
          look.run();
        };
    if (!afterFailure) {
      succeeded(allocationId);
      next.run();
    } else if (!stopped) {
      vertx.setTimer(
          FIRST_RETRY_MILLIS << Math.min(tries - 1, MAX_RETRY_DOUBLINGS), timer -> next.run());
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

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    waiting.clear();
  }
}
