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
 * An answer on its way from an engine's thread to the context that asked. The engine sets it, then
 * delivers it with the others of its batch: one task per event loop, not one per answer, for waking
 * a loop costs more than the answer.
 *
 * <p>It uses the context's internal interface because HTTP requests run on duplicates of a loop's
 * context: only {@code unwrap} tells which of them share a loop, and only {@code dispatch} enters a
 * duplicate without another task.
 */
public final class BatchedPromise<T> {
  private static final Logger log = LoggerFactory.getLogger(BatchedPromise.class);

  private final ContextInternal context;
  private final PromiseInternal<T> promise;
  private final @Nullable RequestContext request;
  private final long askedNanos;
  private final RequestContext.@Nullable Standing caller;

  /** When the engine began with it; 0 before. Set on its thread, and read once it has answered. */
  private long begunNanos;

  private @Nullable T value;
  private @Nullable Throwable failure;

  /** A reply to the current context; to {@code home} when the caller runs on none. */
  public BatchedPromise(ContextInternal home) {
    this(home, List.of());
  }

  /**
   * A reply to a commit.
   *
   * @param statements those of the commit, of which one may record an act of the caller
   */
  public BatchedPromise(ContextInternal home, List<Statement> statements) {
    caller = Statement.standing(statements);
    ContextInternal current = (ContextInternal) Vertx.currentContext();
    context = current == null ? home : current;
    promise = context.promise();
    request = RequestContext.of(context);
    askedNanos = request == null ? 0 : request.nanos();
  }

  /** The engine begins with what was asked; to be told again changes nothing. */
  public void begins() {
    if (request != null && begunNanos == 0) {
      begunNanos = request.nanos();
    }
  }

  /** Whether it answers a commit that records an act of the caller. */
  public boolean recordsCaller() {
    return caller != null;
  }

  /**
   * Judges that caller again, by what was stored at a moment or later; see {@link
   * RequestContext.Standing#confirm}.
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

  /** Of what the engine never began with, all was waiting. */
  private void tellRequest(RequestContext asking) {
    long now = asking.nanos();
    long begun = begunNanos == 0 ? now : begunNanos;
    asking.recordWait(RequestContext.Wait.STORE_QUEUE, askedNanos, begun);
    asking.recordWait(RequestContext.Wait.STORE, begun, now);
  }

  private void complete() {
    if (request != null) {
      tellRequest(request);
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
                "{} answers could not be delivered: their event loop has ended", theirs.size(), e);
          }
        });
  }
}
