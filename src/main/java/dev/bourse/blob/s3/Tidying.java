package dev.bourse.blob.s3;

import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/** Ends what processes that died left half done, as the rows tell of it. */
final class Tidying {
  private static final int TIDIED_AT_ONCE = 100;

  /** An ending that is at work still is not taken from whoever does it. */
  private static final long HALF_DONE_MILLIS = 60_000;

  /**
   * An object that was begun by a process that died may appear later than it is deleted; after
   * twice the longest call it does not any more.
   */
  private static final long UNDER_WAY_MILLIS = 300_000;

  private static final long DAY_MILLIS = 86_400_000;

  private final Tools tools;
  private final Clock clock;

  /** When the store was last listed for multipart uploads that no row names. */
  private volatile long listedAtMillis;

  Tidying(Tools tools, Clock clock) {
    this.tools = tools;
    this.clock = clock;
  }

  /** Does some of what is left, and tells how much it was. */
  Future<Integer> tidy() {
    return tools
        .lists()
        .halfAborted(clock.millis() - HALF_DONE_MILLIS, TIDIED_AT_ONCE)
        .compose(names -> each(names, tools.completion()::abandon))
        .compose(
            done ->
                tools
                    .lists()
                    .orphanPieces(clock.millis() - UNDER_WAY_MILLIS, TIDIED_AT_ONCE)
                    .compose(pieces -> each(pieces, tools.completion()::delete))
                    .map(more -> done + more))
        .compose(done -> abortUnknown().map(more -> done + more));
  }

  private static <T> Future<Integer> each(List<T> all, Function<T, Future<Void>> work) {
    Future<Integer> done = Future.succeededFuture(0);
    for (T one : all) {
      done = done.compose(before -> work.apply(one).map(before + 1));
    }
    return done;
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
        .compose(found -> each(found, this::abortUnknown))
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
