package dev.bourse.edge;

import dev.bourse.logs.RequestContext;
import dev.bourse.logs.RequestContext.Wait;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs slow requests and where their time went. A common cause may make all requests slow, so it
 * logs a limited number per minute and counts the rest.
 */
final class SlowRequests {
  private static final Logger LOG = LoggerFactory.getLogger(SlowRequests.class);

  /** Enough to show a common cause; at most some 15 MB of lines a day. */
  static final int PER_MINUTE = 30;

  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final long slowMillis;
  private long begunNanos;
  private int logged;
  private int omitted;

  /**
   * @param slowMillis the duration from which a request is slow; 0 to log none
   */
  SlowRequests(long slowMillis) {
    this.slowMillis = slowMillis;
  }

  /** Records an answered request and its duration. Called on any event loop. */
  void answered(RequestContext request, int status, long tookNanos) {
    if (slowMillis == 0 || TimeUnit.NANOSECONDS.toMillis(tookNanos) < slowMillis) {
      return;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(tookNanos) - request.waitedMillis(Wait.CHANGE);
    long body = request.waitedMillis(Wait.BODY);
    // Excludes the time in which the service waited for the client.
    if (millis - body >= slowMillis && isLogged(request.nanos())) {
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

  private synchronized boolean isLogged(long nowNanos) {
    report(nowNanos);
    if (logged == 0) {
      begunNanos = nowNanos;
    }
    if (logged == PER_MINUTE) {
      omitted++;
      return false;
    }
    logged++;
    return true;
  }

  /** Logs the number of omitted requests after their minute. Called periodically. */
  synchronized void report(long nowNanos) {
    if (logged == 0 || nowNanos - begunNanos < MINUTE) {
      return;
    }
    if (omitted > 0) {
      LOG.warn("omitted {} more slow requests within a minute", omitted);
    }
    logged = 0;
    omitted = 0;
  }
}
