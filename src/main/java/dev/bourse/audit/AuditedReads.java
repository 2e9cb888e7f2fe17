package dev.bourse.audit;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Limit;
import dev.bourse.core.Slices;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows of audited reads on their way to the store: appended in memory, committed within 100 ms. A
 * crash loses at most that window; a clean stop loses nothing. What a commit did not store is tried
 * again as the batch it was, by whose id a second try of one that was stored after all stores
 * nothing.
 */
public final class AuditedReads {
  private static final Logger LOG = LoggerFactory.getLogger(AuditedReads.class);

  /** Half of the promised window: the other half is for the commit itself. */
  private static final long FLUSH_INTERVAL_MILLIS = 50;

  /**
   * Rows that may wait: about 48 MB, two seconds of the fastest reading one machine does. Past it
   * reads are refused, because an unrecorded read is worse than a late one. An organization may
   * have as many as are free, so that the reads of one do not stop those of all others.
   */
  private static final int MAX_WAITING = 200_000;

  /** Rows of one commit: small enough that a write queued behind it waits a few milliseconds. */
  private static final int ROWS_PER_COMMIT = 1024;

  /**
   * How long marks of batches are kept that were tried more than once, or that the process they are
   * of did not live to forget.
   */
  private static final Duration MARKS_KEPT = Duration.ofDays(1);

  /**
   * Rows of one commit, encoded once for all its tries.
   *
   * @param reads what stores them
   * @param places theirs among the rows that may wait
   * @param wasTried whether an earlier try failed, which may be under way still
   */
  private record Batch(
      String id, List<Statement> reads, List<Limit.Place> places, boolean wasTried) {}

  /** A row that waits, in the place that it has. */
  private record Waiting(AuditRow row, Limit.Place place) {}

  private final Vertx vertx;
  private final AuditStore store;
  private final Clock clock;
  private final RandomGenerator random;
  private final Object lock = new Object();
  private final AtomicBoolean storeFails = new AtomicBoolean();
  private List<Waiting> waiting = new ArrayList<>();

  /** What is given back once a row is stored. */
  private final Limit places =
      Limit.of("audited reads", MAX_WAITING)
          .sharingFairly()
          .refusing(
              bound ->
                  ApiError.retryLater(
                      ErrorCode.OVERLOADED,
                      "audit rows wait for the store; this read cannot be recorded",
                      1_000));

  // Of one flush at a time.
  private List<Batch> tried = List.of();
  private List<String> settled = List.of();
  private Future<Void> lastFlush = Future.succeededFuture();

  public AuditedReads(Vertx vertx, AuditStore store, Clock clock, RandomGenerator random) {
    this.vertx = vertx;
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Forgets marks past their time. A mark that goes too early lets its batch be stored twice, so
   * this is by confirmed time alone.
   */
  public Future<Boolean> forget(long confirmedMillis) {
    return store.forgetBatches(confirmedMillis - MARKS_KEPT.toMillis()).map(false);
  }

  /** Starts the periodic commit. */
  public void start() {
    vertx.setPeriodic(FLUSH_INTERVAL_MILLIS, timer -> flushUnlessBusy());
  }

  /**
   * Records one read. Never waits.
   *
   * @throws ApiError {@code overloaded} when too many rows wait for the store, or too many of the
   *     organization's
   */
  public void record(AuditRow row) {
    Limit.Place place = places.enter(row.orgId());
    synchronized (lock) {
      waiting.add(new Waiting(row, place));
    }
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
    List<Waiting> taken = take();
    if (taken.isEmpty()) {
      return commit(tried);
    }
    // Those that were tried go first, so that rows are stored in their order.
    return vertx
        .executeBlocking(() -> encoded(taken), false)
        .onFailure(stopped -> giveBack(taken))
        .compose(fresh -> commit(Stream.concat(tried.stream(), fresh.stream()).toList()));
  }

  private List<Waiting> take() {
    synchronized (lock) {
      List<Waiting> taken = waiting;
      waiting = new ArrayList<>(taken.size());
      return taken;
    }
  }

  private void giveBack(List<Waiting> taken) {
    synchronized (lock) {
      taken.addAll(waiting);
      waiting = taken;
    }
  }

  private List<Batch> encoded(List<Waiting> taken) {
    List<Batch> batches = new ArrayList<>();
    for (List<Waiting> slice : Slices.of(taken, ROWS_PER_COMMIT)) {
      batches.add(
          new Batch(
              Ids.next("arb", random),
              store.encoded(slice.stream().map(Waiting::row).toList()),
              slice.stream().map(Waiting::place).toList(),
              false));
    }
    return batches;
  }

  private Future<Void> commit(List<Batch> batches) {
    if (batches.isEmpty()) {
      return Future.succeededFuture();
    }
    List<Future<Void>> commits = new ArrayList<>(batches.size());
    List<String> forgotten = settled;
    settled = List.of();
    for (Batch batch : batches) {
      commits.add(store.insertReads(batch.id(), batch.reads(), forgotten, clock.millis()));
      forgotten = List.of();
    }
    return Future.join(commits)
        .<Void>mapEmpty()
        .andThen(joined -> settle(batches, commits, joined.cause()));
  }

  private void settle(
      List<Batch> batches, List<Future<Void>> commits, @Nullable Throwable failure) {
    List<Batch> failed = new ArrayList<>();
    List<String> stored = new ArrayList<>();
    int failedRows = 0;
    for (int i = 0; i < batches.size(); i++) {
      Batch batch = batches.get(i);
      if (commits.get(i).failed()) {
        failed.add(new Batch(batch.id(), batch.reads(), batch.places(), true));
        failedRows += batch.places().size();
      } else {
        batch.places().forEach(Limit.Place::close);
        if (!batch.wasTried()) {
          stored.add(batch.id());
        }
      }
      // The mark of one that was tried again stays: an earlier try that nobody has heard of may
      // still reach the store, and must find it there. It goes with those of processes that ended.
    }
    tried = failed;
    settled = stored;
    // A flush every 50 ms would drown the log; only a change is news.
    boolean changed = storeFails.getAndSet(failure != null) != (failure != null);
    if (failure != null && changed) {
      LOG.warn(
          "audited reads are not stored; {} rows wait and are tried again: {}",
          failedRows,
          failure.getMessage());
    } else if (failure == null && changed) {
      LOG.info("audited reads are stored again");
    }
  }
}
