package dev.bourse.market;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * How many previews are made at a time, and how many of them one organization's: without shares a
 * single client that never waits would keep everybody else from looking before they write.
 */
final class PreviewShares {
  /** Each may clear a whole pool, for tens of milliseconds of a core in the largest ones. */
  static final int MAX_PREVIEWS = 16;

  /** A quarter of them; more at once are not made sooner, for they wait for the same cores. */
  static final int MAX_OWN = MAX_PREVIEWS / 4;

  /** By then those under way are done. */
  private static final long RETRY_MILLIS = 1_000;

  /** Guarded by this object; an organization that previews nothing is not in it. */
  private final Map<String, Integer> making = new HashMap<>();

  private int all;

  /**
   * Work that holds a place of an organization's until its future completes. Refused with {@code
   * overloaded}.
   */
  <T> Future<T> within(String orgId, Supplier<Future<T>> work) {
    synchronized (this) {
      int own = making.getOrDefault(orgId, 0);
      if (own >= MAX_OWN) {
        return full("the organization has " + own + " previews being made, as many as it may");
      }
      if (all >= MAX_PREVIEWS) {
        return full(all + " previews are being made already");
      }
      making.put(orgId, own + 1);
      all++;
    }
    return Future.succeededFuture()
        .compose(start -> work.get())
        .onComplete(done -> giveBack(orgId));
  }

  private static <T> Future<T> full(String detail) {
    return Future.failedFuture(ApiError.retryLater(ErrorCode.OVERLOADED, detail, RETRY_MILLIS));
  }

  private synchronized void giveBack(String orgId) {
    making.computeIfPresent(orgId, (org, own) -> own == 1 ? null : own - 1);
    all--;
  }
}
