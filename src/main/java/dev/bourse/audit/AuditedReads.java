package dev.bourse.audit;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows of audited reads on their way to the store: appended in memory, committed within 100 ms. A
 * crash loses at most that window; a clean stop loses nothing.
 */
public final class AuditedReads {
  private static final Logger LOG = LoggerFactory.getLogger(AuditedReads.class);

  /** Half of the promised window: the other half is for the commit itself. */
  private static final long FLUSH_INTERVAL_MILLIS = 50;

  /**
   * Rows that may wait: about 40 MB, two seconds of the fastest reading one machine does. Past it
   * reads are refused, for an unrecorded read is worse than a late one.
   */
  private static final int MAX_WAITING = 200_000;

  /** Rows of one commit: small enough that a write queued behind it waits a few milliseconds. */
  private static final int ROWS_PER_COMMIT = 1024;

  private final AuditStore store;
  private final Object lock = new Object();
  private List<AuditRow> waiting = new ArrayList<>();
  private Future<Void> lastFlush = Future.succeededFuture();

  public AuditedReads(AuditStore store) {
    this.store = store;
  }

  /** Starts the periodic commit. */
  public void start(Vertx vertx) {
    vertx.setPeriodic(FLUSH_INTERVAL_MILLIS, timer -> flushUnlessBusy());
  }

  /**
   * Records one read. Never waits.
   *
   * @throws ApiError {@code overloaded} when too many rows wait for the store
   */
  public void record(AuditRow row) {
    synchronized (lock) {
      if (waiting.size() < MAX_WAITING) {
        waiting.add(row);
        return;
      }
    }
    throw ApiError.retryLater(
        ErrorCode.OVERLOADED, "audit rows wait for the store; this read cannot be recorded", 1000);
  }

  /** Commits all that waits; for a clean stop. */
  public synchronized Future<Void> flush() {
    lastFlush = lastFlush.otherwiseEmpty().compose(done -> flushWaiting());
    return lastFlush;
  }

  private synchronized void flushUnlessBusy() {
    if (lastFlush.isComplete()) {
      lastFlush = flushWaiting();
    }
  }

  private Future<Void> flushWaiting() {
    List<AuditRow> rows;
    synchronized (lock) {
      if (waiting.isEmpty()) {
        return Future.succeededFuture();
      }
      rows = waiting;
      waiting = new ArrayList<>(Math.min(rows.size(), MAX_WAITING));
    }
    List<Future<Void>> commits = new ArrayList<>();
    for (int from = 0; from < rows.size(); from += ROWS_PER_COMMIT) {
      List<AuditRow> part = rows.subList(from, Math.min(rows.size(), from + ROWS_PER_COMMIT));
      commits.add(
          store
              .insertReads(part)
              .onFailure(
                  e -> {
                    LOG.warn("{} audited reads not stored yet: {}", part.size(), e.getMessage());
                    putBack(part);
                  }));
    }
    return Future.join(commits).mapEmpty();
  }

  /** After a failed commit, rows go back to the front and are tried again with the next flush. */
  private void putBack(List<AuditRow> rows) {
    synchronized (lock) {
      List<AuditRow> merged = new ArrayList<>(rows.size() + waiting.size());
      merged.addAll(rows);
      merged.addAll(waiting);
      waiting = merged;
    }
  }
}
