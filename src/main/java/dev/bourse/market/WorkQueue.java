package dev.bourse.market;

import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.function.Supplier;

/**
 * Work on machines that waits for its turn, at most so much running at a time. Work that failed
 * before has a smaller share of its own and waits behind all that did not: a dead machine keeps its
 * place until the call times out, and a few dead machines would otherwise hold up all others. Used
 * on one context.
 */
final class WorkQueue {
  private final int atOnce;
  private final int againAtOnce;
  private final ArrayDeque<Supplier<Future<Void>>> first = new ArrayDeque<>();
  private final ArrayDeque<Supplier<Future<Void>>> again = new ArrayDeque<>();
  private int running;
  private int runningAgain;
  private boolean isStarting;
  private boolean stopped;

  /**
   * @param atOnce how much runs at a time
   * @param againAtOnce how much of that may have failed before
   */
  WorkQueue(int atOnce, int againAtOnce) {
    this.atOnce = atOnce;
    this.againAtOnce = againAtOnce;
  }

  /** Carries work out as soon as there is a place for it. */
  void add(boolean failedBefore, Supplier<Future<Void>> work) {
    if (stopped) {
      return;
    }
    (failedBefore ? again : first).add(work);
    start();
  }

  /** In a loop of its own: work that is done at once would nest as deep as there is work. */
  private void start() {
    if (isStarting) {
      return;
    }
    isStarting = true;
    while (!stopped && running < atOnce) {
      if (!first.isEmpty()) {
        run(first.remove(), false);
      } else if (!again.isEmpty() && runningAgain < againAtOnce) {
        run(again.remove(), true);
      } else {
        break;
      }
    }
    isStarting = false;
  }

  private void run(Supplier<Future<Void>> work, boolean isAgain) {
    running++;
    runningAgain += isAgain ? 1 : 0;
    Future.succeededFuture()
        .compose(go -> work.get())
        .onComplete(
            done -> {
              running--;
              runningAgain -= isAgain ? 1 : 0;
              start();
            });
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    first.clear();
    again.clear();
  }
}
