package dev.bourse.market;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * The order in which the machines of all pools are told of notices, one queue in a process. The
 * share of an organization is a part of the whole, so that one with clusters in several pools does
 * not take every place.
 */
final class NoticeTurns {
  /**
   * Machines that are visited at a time, as many as the ssh provider has connections for. A visit
   * takes about half a second, so a thousand machines of one organization and a thousand of others
   * are told within ten seconds.
   */
  static final int AT_ONCE = 128;

  /** How many of them may be drills, or have failed before. */
  static final int LATER_AT_ONCE = 32;

  /**
   * How many may be of one organization, which can make its machines answer slowly; the rest, which
   * is enough for a thousand machines, is for others.
   */
  static final int OF_ONE_AT_ONCE = 56;

  private final Context home;
  private final WorkQueue queue = new WorkQueue(AT_ONCE, LATER_AT_ONCE, OF_ONE_AT_ONCE);

  NoticeTurns(Vertx vertx) {
    home = vertx.getOrCreateContext();
  }

  /**
   * Returns the queue for work that runs on this context. It is never stopped: work of a pool whose
   * lease is lost gets its turn, and does nothing.
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
