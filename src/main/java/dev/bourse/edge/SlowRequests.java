package dev.bourse.edge;

import dev.bourse.logs.RequestContext;
import dev.bourse.logs.RequestContext.Wait;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the log of requests that took long, and where their time went. What makes one of them slow
 * may make all of them so; then only some are told, and how many there were.
 */
final class SlowRequests {
  private static final Logger LOG = LoggerFactory.getLogger(SlowRequests.class);

  /** Enough to see what they share; in a day no more than some 15 MB of lines. */
  static final int PER_MINUTE = 30;

  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final long slowMillis;
  private long begunNanos;
  private int told;
  private int untold;

  /**
   * @param slowMillis what counts as long; 0 for nothing
   */
  SlowRequests(long slowMillis) {
    this.slowMillis = slowMillis;
  }

  /** A request was answered, after so long. On any event loop. */
  void answered(RequestContext request, int status, long tookNanos) {
    if (slowMillis == 0 || TimeUnit.NANOSECONDS.toMillis(tookNanos) < slowMillis) {
      return;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(tookNanos) - request.waitedMillis(Wait.CHANGE);
    long body = request.waitedMillis(Wait.BODY);
    // Neither what the client waited for nor what it was waited for is the service's slowness.
    if (millis - body >= slowMillis && isToBeTold(request.nanos())) {
      long owner = request.waitedMillis(Wait.OWNER);
      long queue = request.waitedMillis(Wait.STORE_QUEUE);
      long store = request.waitedMillis(Wait.STORE);
      LOG.warn(
          """
          slow request: status {} after {} ms: {} for the body, {} in the owner's queue, {} in the \
          store's queue, {} in the store, {} elsewhere\
          """,
          status,
          millis,
          body,
          owner,
          queue,
          store,
          Math.max(0, millis - body - owner - queue - store));
    }
  }

  private synchronized boolean isToBeTold(long nowNanos) {
    report(nowNanos);
    if (told == 0) {
      begunNanos = nowNanos;
    }
    if (told == PER_MINUTE) {
      untold++;
      return false;
    }
    told++;
    return true;
  }

  /** Tells how many were left out once their minute is over. Called now and then. */
  synchronized void report(long nowNanos) {
    if (told == 0 || nowNanos - begunNanos < MINUTE) {
      return;
    }
    if (untold > 0) {
      LOG.warn("{} more slow requests within a minute were not told", untold);
    }
    told = 0;
    untold = 0;
  }
}
