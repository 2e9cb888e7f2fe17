package dev.bourse.app;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The stops of a service's parts, run in reverse order of the start. */
final class ShutdownHooks {
  private final Deque<Supplier<Future<?>>> stops = new ArrayDeque<>();

  /** Registers the stop of a started part. */
  synchronized void push(Supplier<Future<?>> stop) {
    stops.push(stop);
  }

  private synchronized @Nullable Supplier<Future<?>> next() {
    return stops.poll();
  }

  /**
   * Stops all parts, the last started first. Each stop starts when the previous one has completed
   * or failed. The future belongs to no event loop, because event loops may be among the stopped
   * parts.
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
