package dev.bourse.checkpoint;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.PromiseInternal;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Coalesces concurrent look-ups of the same key, for example of a popular download. Callers that
 * arrive during a look-up share the next one: each is answered by a look-up that started after its
 * call, so no caller sees an older state than with a look-up of its own, and nothing stale is kept.
 *
 * <p>Safe on any context. Requests run on duplicates of their event loop's context, so callers that
 * share a look-up are on the same loop; each future completes on its caller's context, and a
 * look-up runs on the context of its first caller, whose request is charged for it. There are never
 * more look-ups or waiting callers than calls in progress.
 */
final class CoalescedLookups<K, V> {
  private record Place<K>(@Nullable ContextInternal loop, K key) {}

  /** The look-ups in progress, each with the callers that wait for the next one. */
  private final Map<Place<K>, Next<V>> underWay = new HashMap<>();

  private static final class Next<V> {
    private @Nullable Waiting<V> waiting;
  }

  /**
   * Callers that wait for a look-up that has not started.
   *
   * @param first the context of the first caller; null outside of any context
   */
  private record Waiting<V>(@Nullable ContextInternal first, Promise<V> answer) {}

  /**
   * Returns the result of a look-up that starts after this call.
   *
   * @param key equal for look-ups with the same result
   */
  Future<V> find(K key, Supplier<Future<V>> lookup) {
    ContextInternal asking = (ContextInternal) Vertx.currentContext();
    Place<K> place = new Place<>(asking == null ? null : asking.unwrap(), key);
    synchronized (underWay) {
      Next<V> next = underWay.get(place);
      if (next != null) {
        if (next.waiting == null) {
          next.waiting = new Waiting<>(asking, Promise.promise());
        }
        return completedOn(asking, next.waiting.answer.future());
      }
      underWay.put(place, new Next<>());
    }
    return begin(place, lookup);
  }

  /** Completes on the caller's own context, not on that of the caller it shares with. */
  private static <V> Future<V> completedOn(@Nullable ContextInternal asking, Future<V> answer) {
    if (asking == null) {
      return answer;
    }
    PromiseInternal<V> own = asking.promise();
    answer.onComplete(own);
    return own.future();
  }

  private Future<V> begin(Place<K> place, Supplier<Future<V>> lookup) {
    return Future.<Void>succeededFuture()
        .compose(v -> lookup.get())
        .onComplete(
            found -> {
              Waiting<V> waiting = succeed(place);
              if (waiting == null) {
                return;
              }
              Runnable successor = () -> begin(place, lookup).onComplete(waiting.answer);
              if (waiting.first == null) {
                successor.run();
              } else {
                waiting.first.dispatch(successor);
              }
            });
  }

  /** Passes the slot of a finished look-up to the waiting callers, or frees it. */
  private @Nullable Waiting<V> succeed(Place<K> place) {
    synchronized (underWay) {
      Next<V> next = underWay.remove(place);
      Waiting<V> waiting = next == null ? null : next.waiting;
      if (waiting != null) {
        underWay.put(place, new Next<>());
      }
      return waiting;
    }
  }
}
