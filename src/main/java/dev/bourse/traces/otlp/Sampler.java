package dev.bourse.traces.otlp;

import dev.bourse.traces.TraceParent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the requests that are traced: those that their clients trace, and a share of those of
 * which the clients say nothing. What a client does not trace is not traced here either.
 *
 * <p>A client that says so of each request would have all of them traced, whatever the share is. So
 * no more than {@link #FOLLOWED_PER_SECOND} are taken for what their clients say; the others are
 * traced in the share that all are. It is not asked whether a proxy in between is trusted, for
 * proxies pass the header on as it comes.
 */
final class Sampler {
  /** Enough for somebody who looks into a fault, and little beside what a process answers. */
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

  /** Whether a number that was drawn, from 0 to less than 1, is within the share. */
  boolean takes(double drawn) {
    return drawn < share;
  }

  /** Whether a request is traced. On any thread. */
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
