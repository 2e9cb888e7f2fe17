package dev.bourse.traces.otlp;

import dev.bourse.traces.TraceParent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are traced: requests that their clients trace, and a share of the requests
 * without a trace context. A request that its client does not sample is not traced here either.
 *
 * <p>A client that marks every request as sampled would have all of them traced, regardless of the
 * share. Therefore at most {@link #FOLLOWED_PER_SECOND} requests follow their client's decision;
 * the others are sampled at the usual share. A trusted proxy makes no difference, because proxies
 * forward the header unchanged.
 */
final class Sampler {
  /** Enough for a person who debugs, and negligible beside the requests of a process. */
  static final int FOLLOWED_PER_SECOND = 10;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final double share;
  private long begunNanos;
  private int followed;

  /**
   * @param nowNanos by the clock of all other calls
   */
  Sampler(double share, long nowNanos) {
    this.share = share;
    this.begunNanos = nowNanos;
  }

  /** Returns true if a random number, at least 0 and less than 1, is within the share. */
  boolean takes(double drawn) {
    return drawn < share;
  }

  /** Returns true if a request is traced. Safe on any thread. */
  boolean takes(@Nullable TraceParent caller, double drawn, long nowNanos) {
    if (caller == null) {
      return takes(drawn);
    }
    return caller.isSampled() && (takes(drawn) || follows(nowNanos));
  }

  private synchronized boolean follows(long nowNanos) {
    if (nowNanos - begunNanos >= SECOND) {
      begunNanos = nowNanos;
      followed = 0;
    }
    if (followed == FOLLOWED_PER_SECOND) {
      return false;
    }
    followed++;
    return true;
  }
}
