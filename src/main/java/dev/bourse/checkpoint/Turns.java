package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Searches take turns: one at a time reads the store, so that however many search, everybody else's
 * reads wait for a piece of one search alone. May be called on any context; work begins on the
 * context that asked for it.
 */
final class Turns {
  /** Who comes last waits for some seconds at the worst. */
  static final int MAX_WAITING = 16;

  private static final long RETRY_MILLIS = 1_000;

  // Both guarded by this object.
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private boolean isTaken;

  /**
   * Work that begins once all that was asked for before has ended. Fails with {@code overloaded}
   * when too many wait.
   */
  <T> Future<T> within(Supplier<Future<T>> work) {
    Promise<Void> turn = Promise.promise();
    synchronized (this) {
      if (isTaken) {
        if (waiting.size() >= MAX_WAITING) {
          return Future.failedFuture(
              ApiError.retryLater(
                  ErrorCode.OVERLOADED,
                  waiting.size() + " searches wait already, as many as may",
                  RETRY_MILLIS));
        }
        waiting.add(onContext(Vertx.currentContext(), turn::complete));
      } else {
        isTaken = true;
        turn.complete();
      }
    }
    return turn.future().compose(v -> work.get()).onComplete(done -> next());
  }

  private static Runnable onContext(@Nullable Context context, Runnable begin) {
    return context == null ? begin : () -> context.runOnContext(v -> begin.run());
  }

  private void next() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      isTaken = next != null;
    }
    if (next != null) {
      next.run();
    }
  }
}
