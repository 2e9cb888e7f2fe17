package dev.bourse.app;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stops of a service's parts, run in reverse order of the start. */
final class ShutdownHooks {
  private static final Logger LOG = LoggerFactory.getLogger(ShutdownHooks.class);

  /**
   * The longest wait for a part that a silent peer can hold up. With a silent object store these
   * are four, and the process has half a minute for all parts.
   */
  static final long MOST_MILLIS = 6_000;

  private final Deque<Supplier<Future<?>>> stops = new ArrayDeque<>();
  private final long mostMillis;

  ShutdownHooks() {
    this(MOST_MILLIS);
  }

  /**
   * @param mostMillis the longest wait for a part that a silent peer can hold up
   */
  ShutdownHooks(long mostMillis) {
    this.mostMillis = mostMillis;
  }

  /** Registers the stop of a started part, which ends by itself. */
  synchronized void push(Supplier<Future<?>> stop) {
    stops.push(stop);
  }

  /**
   * Registers the stop of a started part that a silent peer can hold up. The next part is stopped
   * once it takes too long.
   *
   * @param name the part, for the log
   */
  void pushLimited(String name, Supplier<Future<?>> stop) {
    push(
        () ->
            Future.succeededFuture()
                .compose(v -> stop.get())
                .timeout(mostMillis, TimeUnit.MILLISECONDS)
                .onFailure(failure -> LOG.warn("{} did not stop: {}", name, failure.toString())));
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
      // A stop that throws is like one that fails.
      Future.succeededFuture().compose(v -> next.get()).onComplete(ended -> stopNext(stopped));
    }
  }
}
