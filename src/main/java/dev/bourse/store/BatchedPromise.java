package dev.bourse.store;

import dev.bourse.logs.RequestContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.PromiseInternal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answer of an engine's thread to the caller's context. The engine sets it and delivers all
 * answers of a batch together: one task per event loop, not one per answer, because waking a loop
 * costs more than an answer.
 *
 * <p>It uses the context's internal interface because HTTP requests run on duplicates of a loop's
 * context: only {@code unwrap} shows which of them share a loop, and only {@code dispatch} enters a
 * duplicate without another task.
 */
public final class BatchedPromise<T> {
  private static final Logger log = LoggerFactory.getLogger(BatchedPromise.class);

  private final ContextInternal context;
  private final PromiseInternal<T> promise;
  private final @Nullable RequestContext request;
  private final long askedNanos;
  private final RequestContext.@Nullable Standing caller;

  /**
   * When the engine started the work; 0 before. Set on the engine's thread and read after the
   * answer.
   */
  private long begunNanos;

  private @Nullable T value;
  private @Nullable Throwable failure;

  /** Creates a promise for the current context, or for {@code home} if the caller runs on none. */
  public BatchedPromise(ContextInternal home) {
    this(home, List.of());
  }

  /**
   * Creates a promise for a commit.
   *
   * @param statements the statements of the commit, one of which may record an action of the caller
   */
  public BatchedPromise(ContextInternal home, List<Statement> statements) {
    caller = Statement.standing(statements);
    ContextInternal current = (ContextInternal) Vertx.currentContext();
    context = current == null ? home : current;
    promise = context.promise();
    request = RequestContext.of(context);
    askedNanos = request == null ? 0 : request.nanos();
  }

  /** Records that the engine has started the work. Idempotent. */
  public void recordStart() {
    if (request != null && begunNanos == 0) {
      begunNanos = request.nanos();
    }
  }

  /** Returns whether it answers a commit that records an action of the caller. */
  public boolean recordsCaller() {
    return caller != null;
  }

  /**
   * Checks that caller's standing again, against data that was stored at a moment or later; see
   * {@link RequestContext.Standing#confirm}.
   */
  public Future<Void> confirmCaller(long sinceNanos) {
    return caller == null ? Future.succeededFuture() : caller.confirm(sinceNanos);
  }

  public Future<T> future() {
    return promise.future();
  }

  public @Nullable Throwable failure() {
    return failure;
  }

  public void succeed(@Nullable T answer) {
    value = answer;
    failure = null;
  }

  public void fail(Throwable cause) {
    failure = cause;
  }

  /** Reports the waiting time; work that the engine never started has only waited. */
  private void reportWait(RequestContext asking) {
    long now = asking.nanos();
    long begun = begunNanos == 0 ? now : begunNanos;
    asking.recordWait(RequestContext.Wait.STORE_QUEUE, askedNanos, begun);
    asking.recordWait(RequestContext.Wait.STORE, begun, now);
  }

  private void complete() {
    if (request != null) {
      reportWait(request);
    }
    if (failure == null) {
      promise.complete(value);
    } else {
      promise.fail(failure);
    }
  }

  /** Completes the futures, in order, on their contexts. */
  public static void deliver(List<? extends BatchedPromise<?>> replies) {
    IdentityHashMap<ContextInternal, List<BatchedPromise<?>>> byContext = new IdentityHashMap<>();
    for (BatchedPromise<?> reply : replies) {
      byContext.computeIfAbsent(reply.context.unwrap(), c -> new ArrayList<>()).add(reply);
    }
    byContext.forEach(
        (context, theirs) -> {
          try {
            context.runOnContext(
                v -> theirs.forEach(reply -> reply.context.dispatch(reply::complete)));
          } catch (RejectedExecutionException e) {
            log.warn(
                "{} answers were dropped because their event loop has stopped", theirs.size(), e);
          }
        });
  }
}
