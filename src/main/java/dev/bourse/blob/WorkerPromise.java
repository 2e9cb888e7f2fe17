package dev.bourse.blob;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Delivers the result of work on a worker thread to the caller's context. */
public final class WorkerPromise<T> {
  private static final Logger log = LoggerFactory.getLogger(WorkerPromise.class);

  private final Context context;
  private final Promise<T> promise = Promise.promise();

  /** Creates a promise for the current context, or for {@code home} if the caller runs on none. */
  public WorkerPromise(Context home) {
    Context current = Vertx.currentContext();
    context = current == null ? home : current;
  }

  public Future<T> future() {
    return promise.future();
  }

  public void succeed(@Nullable T value) {
    deliver(() -> promise.tryComplete(value));
  }

  public void fail(Throwable cause) {
    deliver(() -> promise.tryFail(cause));
  }

  private void deliver(Runnable completion) {
    try {
      context.runOnContext(v -> completion.run());
    } catch (RejectedExecutionException e) {
      log.warn("a result was dropped because its event loop has stopped", e);
    }
  }
}
