package dev.bourse.checkpoint;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
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
 * <p>May be called on any context; those who share are on the same one, where their futures
 * complete. There are never more look-ups or waiting callers than calls under way.
 */
final class CoalescedLookups<K, V> {
  private record Place<K>(@Nullable Context context, K key) {}

  /** The look-ups under way, and what their successors will be to whoever waits for them. */
  private final Map<Place<K>, Next<V>> underWay = new HashMap<>();

  private static final class Next<V> {
    private @Nullable Promise<V> answer;
  }

  /**
   * What a look-up that begins after this call finds.
   *
   * @param key the same for look-ups that find the same
   */
  Future<V> find(K key, Supplier<Future<V>> lookup) {
    Place<K> place = new Place<>(Vertx.currentContext(), key);
    synchronized (underWay) {
      Next<V> next = underWay.get(place);
      if (next != null) {
        if (next.answer == null) {
          next.answer = Promise.promise();
        }
        return next.answer.future();
      }
      underWay.put(place, new Next<>());
    }
    return begin(place, lookup);
  }

  private Future<V> begin(Place<K> place, Supplier<Future<V>> lookup) {
    return Future.<Void>succeededFuture()
        .compose(v -> lookup.get())
        .onComplete(
            found -> {
              Promise<V> waiting = succeed(place);
              if (waiting != null) {
                begin(place, lookup).onComplete(waiting);
              }
            });
  }

  /** Hands the place of a look-up that ended to those who wait, or frees it. */
  private @Nullable Promise<V> succeed(Place<K> place) {
    synchronized (underWay) {
      Next<V> next = underWay.remove(place);
      Promise<V> waiting = next == null ? null : next.answer;
      if (waiting != null) {
        underWay.put(place, new Next<>());
      }
      return waiting;
    }
  }
}
