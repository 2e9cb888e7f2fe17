package dev.bourse.market;

import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.function.Supplier;

/**
 * Work on machines, so much at a time. What failed before has a share of its own and waits behind
 * all that did not: a machine that is dead keeps its lane until a time-out ends the call, and as
 * many of them as there are lanes would keep every other machine waiting. Used on one context.
 */
final class Lanes {
  private final int atOnce;
  private final int againAtOnce;
  private final ArrayDeque<Supplier<Future<Void>>> first = new ArrayDeque<>();
  private final ArrayDeque<Supplier<Future<Void>>> again = new ArrayDeque<>();
  private int running;
  private int runningAgain;
  private boolean isStarting;
  private boolean stopped;

  /**
   * @param atOnce works at a time
   * @param againAtOnce how many of them may be such as failed before
   */
  Lanes(int atOnce, int againAtOnce) {
    this.atOnce = atOnce;
    this.againAtOnce = againAtOnce;
  }

  /** Carries work out as soon as there is a lane for it. */
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
