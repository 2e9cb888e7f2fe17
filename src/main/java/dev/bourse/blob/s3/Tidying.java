package dev.bourse.blob.s3;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Ends what processes that died left half done, as the rows tell of it. */
final class Tidying {
  private static final int TIDIED_AT_ONCE = 100;

  /** A store that is away is not waited for a hundred times, a minute each. */
  private static final int FAILURES_IN_A_ROW = 3;

  /** An ending that is at work still is not taken from whoever does it. */
  private static final long HALF_DONE_MILLIS = 60_000;

  /**
   * An object that was put by a process that died may appear later than it is deleted; after twice
   * the longest such call it does not any more.
   */
  private static final long UNDER_WAY_MILLIS = 300_000;

  private static final long DAY_MILLIS = 86_400_000;

  private final Tools tools;
  private final Clock clock;

  /** When the store was last listed for multipart uploads that no row names. */
  private volatile long listedAtMillis;

  /** The object behind which orphans are looked for next, so that none that stays hides others. */
  private volatile String orphansAfter = "";

  Tidying(Tools tools, Clock clock) {
    this.tools = tools;
    this.clock = clock;
  }

  /**
   * Does some of what is left, and tells how much it was. Does the rest also behind what fails, and
   * fails with that at the end.
   */
  Future<Integer> tidy() {
    return each(
        List.<Supplier<Future<Integer>>>of(
            this::endHalfAborted, this::deleteOrphans, this::abortUnknown),
        Supplier::get);
  }

  private Future<Integer> endHalfAborted() {
    return tools
        .lists()
        .halfAborted(clock.millis() - HALF_DONE_MILLIS, TIDIED_AT_ONCE)
        .compose(names -> each(names, name -> tools.completion().abandon(name).map(1)));
  }

  private Future<Integer> deleteOrphans() {
    return tools
        .lists()
        .orphanPieces(clock.millis() - UNDER_WAY_MILLIS, orphansAfter, TIDIED_AT_ONCE)
        .compose(
            pieces -> {
              orphansAfter = pieces.size() < TIDIED_AT_ONCE ? "" : lastOf(pieces).object();
              return each(pieces, piece -> tools.completion().delete(piece).map(1));
            });
  }

  private static <T> T lastOf(List<T> all) {
    return all.get(all.size() - 1);
  }

  /**
   * What came of some work.
   *
   * @param inARow how many failed since one was done
   * @param first the first failure; null while there is none
   */
  private record Outcome(int done, int inARow, @Nullable Throwable first) {
    Outcome with(AsyncResult<Integer> one) {
      return one.succeeded()
          ? new Outcome(done + one.result(), 0, first)
          : new Outcome(done, inARow + 1, first == null ? one.cause() : first);
    }
  }

  /** One after the other, until all are done or so many fail in a row that the store is away. */
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
   * Once a day ends multipart uploads that were begun a day ago and whose id no row has: a process
   * died between beginning them and noting it.
   */
  private Future<Integer> abortUnknown() {
    long now = clock.millis();
    if (now - listedAtMillis < DAY_MILLIS) {
      return Future.succeededFuture(0);
    }
    Instant before = Instant.ofEpochMilli(now - DAY_MILLIS);
    return tools
        .workers()
        .longCall(() -> tools.calls().multiparts(before))
        .compose(found -> each(found, one -> abortUnknown(one).map(1)))
        .onSuccess(done -> listedAtMillis = now);
  }

  private Future<Void> abortUnknown(S3Calls.Multipart multipart) {
    return tools
        .lists()
        .isKnown(multipart.id())
        .compose(
            isKnown ->
                isKnown
                    ? Future.succeededFuture()
                    : tools
                        .workers()
                        .longCall(
                            () -> {
                              tools.calls().abort(multipart);
                              return null;
                            }));
  }
}
