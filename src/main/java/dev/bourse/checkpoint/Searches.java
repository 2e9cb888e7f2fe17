package dev.bourse.checkpoint;

import dev.bourse.core.Limit;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * Searches read the store one at a time, so that however many search, all other reads wait for a
 * piece of one search alone.
 */
final class Searches {
  /** Whoever comes last waits for some seconds at the worst. */
  static final int MAX_WAITING = 16;

  private final Limit limit = Limit.of("searches", 1).queueing(MAX_WAITING).sharingFairly();

  /** How many wait now. */
  int waiting() {
    return limit.waiting();
  }

  /**
   * Begins a search, on the caller's context, once all that were asked for before have ended. Fails
   * with {@code overloaded} when too many wait, or too many of the owner's.
   *
   * @param owner an organization, or the address of an anonymous reader
   */
  <T> Future<T> within(String owner, Supplier<Future<T>> search) {
    Context context = Vertx.currentContext();
    return Future.future(
        done ->
            limit.enter(
                owner,
                place -> {
                  Runnable begin =
                      () ->
                          Future.succeededFuture()
                              .compose(begun -> search.get())
                              .onComplete(ended -> place.close())
                              .onComplete(done);
                  if (context == null || context == Vertx.currentContext()) {
                    begin.run();
                  } else {
                    context.runOnContext(turn -> begin.run());
                  }
                }));
  }
}
