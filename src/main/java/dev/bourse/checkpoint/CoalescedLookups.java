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
 * Coalesces look-ups of what many ask for at once, such as a file everybody downloads. Those who
 * ask while a look-up is under way share the one after it: each is answered by a look-up that began
 * after it asked, so nobody sees less than by a look-up of its own, and nothing is kept that could
 * be stale.
 *
 * <p>May be called on any context. Requests run on duplicates of their event loop's context, so
 * those who share are on the same loop; each future completes on the context it was asked from, and
 * a look-up runs on that of the first who waits for it, whose request pays for it. There are never
 * more look-ups or waiting callers than calls under way.
 */
final class CoalescedLookups<K, V> {
  private record Place<K>(@Nullable ContextInternal loop, K key) {}

  /** The look-ups under way, and what their successors will be to whoever waits for them. */
  private final Map<Place<K>, Next<V>> underWay = new HashMap<>();

  private static final class Next<V> {
    private @Nullable Waiting<V> waiting;
  }

  /**
   * Those who wait for a look-up that has not begun.
   *
   * @param first where the first of them asked; null outside of any context
   */
  private record Waiting<V>(@Nullable ContextInternal first, Promise<V> answer) {}

  /**
   * What a look-up that begins after this call finds.
   *
   * @param key the same for look-ups that find the same
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

  /** Whoever waits goes on with what is its own request's, not that of whom it shares with. */
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

  /** Hands the place of a look-up that ended to those who wait, or frees it. */
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
