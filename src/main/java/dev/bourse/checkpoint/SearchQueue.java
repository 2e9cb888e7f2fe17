package dev.bourse.checkpoint;

import dev.bourse.core.Bulkhead;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * Runs one search at a time, so that other reads of the store wait for one query of one search at
 * most, however many searches are requested.
 */
final class SearchQueue {
  /** The last in the queue waits for some seconds at worst. */
  static final int MAX_WAITING = 16;

  private final Bulkhead limit = Bulkhead.of("searches", 1).queueing(MAX_WAITING).sharingFairly();

  /** Returns the length of the queue. */
  int waiting() {
    return limit.waiting();
  }

  /**
   * Runs a search, on the caller's context, after all earlier ones. Fails with {@code overloaded}
   * if too many searches wait, in total or of this owner.
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
