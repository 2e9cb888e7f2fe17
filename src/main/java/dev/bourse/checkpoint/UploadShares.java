package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * How many requests of one owner may send bytes at a time. The blob store has so many uploads for
 * all; without shares the slow requests of a few members would keep everybody else's out.
 */
final class UploadShares {
  /** A quarter of what the blob store has; more at once is not faster for whoever sends them. */
  static final int MAX_REQUESTS = 32;

  private static final long RETRY_MILLIS = 1_000;

  /** Guarded by this object; an owner that sends nothing is not in it. */
  private final Map<String, Integer> sending = new HashMap<>();

  /**
   * Work that holds a place of its owner's until its future completes.
   *
   * @param orgId the owner; {@link Checkpoint#PLATFORM} has a share too
   */
  <T> Future<T> within(String orgId, Supplier<Future<T>> work) {
    synchronized (this) {
      int now = sending.getOrDefault(orgId, 0);
      if (now >= MAX_REQUESTS) {
        return Future.failedFuture(
            ApiError.retryLater(
                ErrorCode.OVERLOADED,
                "the organization sends " + now + " files at once, as many as it may",
                RETRY_MILLIS));
      }
      sending.put(orgId, now + 1);
    }
    return Future.succeededFuture()
        .compose(start -> work.get())
        .onComplete(done -> giveBack(orgId));
  }

  private synchronized void giveBack(String orgId) {
    sending.computeIfPresent(orgId, (owner, now) -> now == 1 ? null : now - 1);
  }
}
