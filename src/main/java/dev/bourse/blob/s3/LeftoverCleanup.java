package dev.bourse.blob.s3;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the leftovers of crashed processes, which it finds by the rows: half-deleted uploads,
 * orphaned pieces, and multipart uploads without a row.
 */
final class LeftoverCleanup {
  private static final int TIDIED_AT_ONCE = 100;

  /**
   * Stops after this many failures in a row, because each call to an unreachable store takes a
   * minute.
   */
  private static final int FAILURES_IN_A_ROW = 3;

  /** An abort younger than this may still be in progress in another process. */
  private static final long HALF_DONE_MILLIS = 60_000;

  /**
   * An object that a crashed process was putting may appear after its deletion; after twice the
   * longest such call it cannot appear any more.
   */
  private static final long UNDER_WAY_MILLIS = 300_000;

  private static final long DAY_MILLIS = 86_400_000;

  private final S3Context context;
  private final Clock clock;

  /** When the store was last listed for multipart uploads without a row. */
  private volatile long listedAtMillis;

  /**
   * The object after which the next search for orphans starts, so that an orphan that cannot be
   * deleted does not hide others.
   */
  private volatile String orphansAfter = "";

  LeftoverCleanup(S3Context context, Clock clock) {
    this.context = context;
    this.clock = clock;
  }

  /**
   * Deletes some leftovers and returns how many. Continues after a failure, and fails with the
   * first failure at the end.
   */
  Future<Integer> tidy() {
    return each(
        List.<Supplier<Future<Integer>>>of(
            this::endHalfAborted, this::deleteOrphans, this::abortUnknown),
        Supplier::get);
  }

  private Future<Integer> endHalfAborted() {
    return context
        .lists()
        .halfAborted(clock.millis() - HALF_DONE_MILLIS, TIDIED_AT_ONCE)
        .compose(names -> each(names, name -> context.completion().abandon(name).map(1)));
  }

  private Future<Integer> deleteOrphans() {
    return context
        .lists()
        .orphanPieces(clock.millis() - UNDER_WAY_MILLIS, orphansAfter, TIDIED_AT_ONCE)
        .compose(
            pieces -> {
              orphansAfter = pieces.size() < TIDIED_AT_ONCE ? "" : lastOf(pieces).object();
              return each(pieces, piece -> context.completion().delete(piece).map(1));
            });
  }

  private static <T> T lastOf(List<T> all) {
    return all.get(all.size() - 1);
  }

  /**
   * The result of a series of calls.
   *
   * @param inARow failures since the last success
   * @param first the first failure; null if there is none
   */
  private record Outcome(int done, int inARow, @Nullable Throwable first) {
    Outcome with(AsyncResult<Integer> one) {
      return one.succeeded()
          ? new Outcome(done + one.result(), 0, first)
          : new Outcome(done, inARow + 1, first == null ? one.cause() : first);
    }
  }

  /** Runs the calls one after another, until all are done or too many fail in a row. */
  private static <T> Future<Integer> each(List<T> all, Function<T, Future<Integer>> work) {
    Future<Outcome> outcome = Future.succeededFuture(new Outcome(0, 0, null));
    for (T one : all) {
      outcome =
          outcome.compose(
              before ->
                  before.inARow() == FAILURES_IN_A_ROW
                      ? Future.succeededFuture(before)
                      : work.apply(one)
                          .transform(done -> Future.succeededFuture(before.with(done))));
    }
    return outcome.compose(
        ended ->
            ended.first() == null
                ? Future.succeededFuture(ended.done())
                : Future.failedFuture(ended.first()));
  }

  /**
   * Once a day, aborts multipart uploads that were started at least a day ago and have no row,
   * because their process crashed between starting and recording them.
   */
  private Future<Integer> abortUnknown() {
    long now = clock.millis();
    if (now - listedAtMillis < DAY_MILLIS) {
      return Future.succeededFuture(0);
    }
    Instant before = Instant.ofEpochMilli(now - DAY_MILLIS);
    return context
        .workers()
        .longCall(() -> context.calls().multiparts(before))
        .compose(found -> each(found, one -> abortUnknown(one).map(1)))
        .onSuccess(done -> listedAtMillis = now);
  }

  private Future<Void> abortUnknown(S3Calls.Multipart multipart) {
    return context
        .lists()
        .isKnown(multipart.id())
        .compose(
            isKnown ->
                isKnown
                    ? Future.succeededFuture()
                    : context
                        .workers()
                        .longCall(
                            () -> {
                              context.calls().abort(multipart);
                              return null;
                            }));
  }
}
