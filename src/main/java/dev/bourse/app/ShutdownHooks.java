package dev.bourse.app;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What ends a part of the service, to be done in the reverse order of the start. */
final class ShutdownHooks {
  private final Deque<Supplier<Future<?>>> stops = new ArrayDeque<>();

  /** A part has started; this ends it. */
  synchronized void push(Supplier<Future<?>> stop) {
    stops.push(stop);
  }

  private synchronized @Nullable Supplier<Future<?>> next() {
    return stops.poll();
  }

  /**
   * Ends all, the last started first, each when the one before has ended, failed or not. The future
   * belongs to no event loop, for those may be among what ends.
   */
  Future<Void> stopAll() {
    Promise<Void> stopped = Promise.promise();
    stopNext(stopped);
    return stopped.future();
  }

  private void stopNext(Promise<Void> stopped) {
    Supplier<Future<?>> next = next();
    if (next == null) {
      stopped.complete();
    } else {
      next.get().onComplete(ended -> stopNext(stopped));
    }
  }
}
