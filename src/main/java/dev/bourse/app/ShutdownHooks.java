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
   * The longest wait for one part, beside the drain of connections. A peer that does not answer can
   * hold up some parts, such as the jobs that use an object store, and the process has half a
   * minute for all of them.
   */
  static final long MOST_MILLIS = 6_000;

  private record Hook(String starter, Supplier<Future<?>> stop) {}

  private final Deque<Hook> hooks = new ArrayDeque<>();
  private final long mostMillis;

  /**
   * @param mostMillis the longest wait for one part
   */
  ShutdownHooks(long mostMillis) {
    this.mostMillis = mostMillis;
  }

  /** Registers the stop of a part that the calling class has started. */
  void push(Supplier<Future<?>> stop) {
    Class<?> starter =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass();
    synchronized (this) {
      hooks.push(new Hook(starter.getSimpleName(), stop));
    }
  }

  private synchronized @Nullable Hook next() {
    return hooks.poll();
  }

  /**
   * Stops all parts, the last started first. Each stop starts when the previous one has completed,
   * failed or taken too long. The future belongs to no event loop, because event loops may be among
   * the stopped parts.
   */
  Future<Void> stopAll() {
    Promise<Void> stopped = Promise.promise();
    stopNext(stopped);
    return stopped.future();
  }

  private void stopNext(Promise<Void> stopped) {
    Hook next = next();
    if (next == null) {
      stopped.complete();
      return;
    }
    Future.succeededFuture()
        .compose(v -> next.stop.get())
        .timeout(mostMillis, TimeUnit.MILLISECONDS)
        .onFailure(
            failure ->
                LOG.warn("a part that {} started did not stop cleanly", next.starter, failure))
        .onComplete(ended -> stopNext(stopped));
  }
}
