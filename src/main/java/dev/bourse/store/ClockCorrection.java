package dev.bourse.store;

import dev.bourse.core.ConfirmedTime;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the corrections of all tables after a clock was ahead: when the time is first confirmed, and
 * after each step back of confirmed time. Without confirmed time it corrects nothing, because the
 * clock that is behind may be the wrong one. A step of a background job; steps must not overlap.
 */
public final class ClockCorrection {
  private static final Logger LOG = LoggerFactory.getLogger(ClockCorrection.class);

  private final List<Correction> corrections;
  private final ConfirmedTime time;
  private final LongSupplier nanoTime;

  /**
   * The largest lead of confirmed time over the monotonic clock since all corrections ran; null
   * before the first run.
   */
  private @Nullable Long mostAheadMillis;

  /**
   * @param corrections in the order in which they run
   * @param nanoTime the monotonic clock
   */
  public ClockCorrection(List<Correction> corrections, ConfirmedTime time, LongSupplier nanoTime) {
    this.corrections = List.copyOf(corrections);
    this.time = time;
    this.nanoTime = nanoTime;
  }

  /**
   * Runs the corrections that are due and returns false, because no work is left. Fails if a
   * correction fails.
   */
  public Future<Boolean> step() {
    OptionalLong confirmed = time.confirmedMillis();
    if (confirmed.isEmpty()) {
      return Future.succeededFuture(false);
    }
    long now = confirmed.getAsLong();
    long ahead = now - TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong());
    Long before = mostAheadMillis;
    boolean isAll = before == null || ahead < before - Correction.APART_MILLIS;
    if (before != null && !isAll) {
      mostAheadMillis = Math.max(before, ahead);
    }
    List<Throwable> failures = new ArrayList<>();
    return BoundedWork.inTurn(
            corrections.stream().filter(one -> isAll || !one.readsWholeTable()).toList(),
            correction -> correct(correction, now).onFailure(failures::add).otherwiseEmpty())
        .compose(
            done -> {
              if (!failures.isEmpty()) {
                return Future.failedFuture(failures.get(0));
              }
              if (isAll) {
                mostAheadMillis = ahead;
              }
              return Future.succeededFuture(false);
            });
  }

  private static Future<Void> correct(Correction correction, long now) {
    return correction
        .correct(now)
        .onSuccess(
            found -> {
              if (found) {
                LOG.warn(
                    "table {}: times that a clock had set ahead were corrected",
                    correction.table());
              }
            })
        .mapEmpty();
  }
}
