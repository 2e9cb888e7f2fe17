package dev.bourse.market;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * The queue in which the machines of all pools receive notices; each process has one. The share of
 * an organization is part of the whole, so that an organization with clusters in several pools does
 * not take every place.
 */
final class NoticeTurns {
  /**
   * Machines visited at a time: all connections of the ssh provider for notices. A visit takes
   * about half a second, so a thousand machines of one organization and a thousand of others get
   * their notices within ten seconds.
   */
  static final int AT_ONCE = 128;

  /** Limit for drills and for deliveries that failed before. */
  static final int LATER_AT_ONCE = 32;

  /**
   * Limit for one organization, which can make its machines answer slowly. The rest is enough for a
   * thousand machines of others.
   */
  static final int OF_ONE_AT_ONCE = 56;

  private final Context home;
  private final WorkQueue queue = new WorkQueue(AT_ONCE, LATER_AT_ONCE, OF_ONE_AT_ONCE);

  NoticeTurns(Vertx vertx) {
    home = vertx.getOrCreateContext();
  }

  /**
   * Returns the queue for work that runs on this context. It never stops: work of a pool whose
   * lease is lost gets its turn and does nothing.
   */
  WorkPool.Turns on(Context context) {
    return (owner, isLater, work) ->
        home.runOnContext(go -> queue.add(owner, isLater, () -> run(context, work)));
  }

  private Future<Void> run(Context context, Supplier<Future<Void>> work) {
    Promise<Void> ended = Promise.promise();
    context.runOnContext(
        go ->
            Future.succeededFuture()
                .compose(turn -> work.get())
                .onComplete(done -> home.runOnContext(back -> ended.handle(done))));
    return ended.future();
  }
}
