package dev.bourse.audit;

import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Slices;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queues rows of audited reads in memory and commits them within 100 ms. A crash loses at most that
 * window; a clean stop loses nothing. A failed commit is retried with the same batch, whose id
 * prevents a second copy if the first attempt was stored after all.
 *
 * <p>A database server may be unreachable for hours. Rows that it does not take in time go to a
 * {@link ReadJournal}, which is flushed to the disk within the same 100 ms. From there they go to
 * the store when it is back, or when the process is restarted. The disk is not used while commits
 * end in time. An embedded store is on the same disk as a journal would be, so it has none, and its
 * rows wait in memory.
 *
 * <p>If neither the store nor the journal can take a row, because the journal or its disk is full,
 * reads are rejected with {@code overloaded} until one of them takes rows again.
 */
public final class AuditedReads {
  private static final Logger LOG = LoggerFactory.getLogger(AuditedReads.class);

  /**
   * The first flush after a row starts its commit, and the second puts it into the journal if it is
   * not stored, which leaves 20 ms of the promised 100 for the journal's flush.
   */
  private static final long FLUSH_INTERVAL_MILLIS = 40;

  /**
   * Rows that may wait in memory: about 48 MB, two seconds of the fastest reading of one machine.
   * Further reads are rejected, because an unrecorded read is worse than a late one. The free slots
   * bound each organization too, so that the reads of one cannot block all others.
   */
  private static final int MAX_WAITING = 200_000;

  /** Rows of one commit: few enough that a write queued behind it waits a few milliseconds. */
  private static final int ROWS_PER_COMMIT = 1024;

  /**
   * Batches of the journal that are stored at once; new rows of the same 40 ms are stored with
   * them.
   */
  private static final int LOADED_AT_ONCE = 8;

  /**
   * How long marks are kept for batches that were retried, or whose process ended before it deleted
   * them. It is the longest that a machine with a journal may be offline.
   */
  static final Duration MARKS_KEPT = Duration.ofDays(30);

  /** A journal's batches are stored only while their marks are valid for at least this long. */
  static final Duration MARKS_MARGIN = Duration.ofDays(1);

  /**
   * Rows of one commit, encoded once for all its attempts.
   *
   * @param reads the statements that store them
   * @param places the rows' slots in memory
   * @param wasTried true if an earlier attempt failed, which may still be in progress
   */
  private record Batch(
      ReadJournal.Batch rows,
      List<Statement> reads,
      List<Bulkhead.Place> places,
      boolean wasTried) {
    String id() {
      return rows.id();
    }
  }

  /** A waiting row and its slot. */
  private record Waiting(AuditRow row, Bulkhead.Place place) {}

  private final Vertx vertx;
  private final AuditStore store;
  private final Optional<ReadJournal> journal;
  private final Clock clock;
  private final RandomGenerator random;
  private final Object lock = new Object();
  private final AtomicBoolean storeFails = new AtomicBoolean();
  private final AtomicBoolean journalFails = new AtomicBoolean();
  private List<Waiting> waiting = new ArrayList<>();

  /** Slots in memory, which are released when their rows are stored. */
  private final Bulkhead places =
      Bulkhead.of("audited reads", MAX_WAITING).sharingFairly().refusing(bound -> overloaded());

  private static ApiException overloaded() {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED, "this read cannot be recorded now; try again", 1_000);
  }

  /** Why neither the store nor the journal takes rows; null while one of them does. */
  private volatile @Nullable Throwable refusal;

  // The rest is guarded by this object.
  private List<Batch> tried = List.of();
  private List<String> settled = List.of();
  private Future<Void> lastFlush = Future.succeededFuture();

  /** Batches of the flush in progress. */
  private List<Batch> committing = List.of();

  /** Ids of batches that are in the journal, or about to be, and whose commits have not ended. */
  private final Set<String> journaled = new HashSet<>();

  /** Ids of batches in the journal that have been stored. */
  private final Set<String> storedIds = new HashSet<>();

  /** True if the store took nothing at the last attempt; rows then go to the journal at once. */
  private boolean isAway;

  private Future<Void> lastAppend = Future.succeededFuture();
  private volatile long timer = -1;

  private Future<Void> lastLoad = Future.succeededFuture();

  /**
   * @param journal empty for an embedded store
   */
  public AuditedReads(
      Vertx vertx,
      AuditStore store,
      Optional<ReadJournal> journal,
      Clock clock,
      RandomGenerator random) {
    this.vertx = vertx;
    this.store = store;
    this.journal = journal;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Deletes expired marks. If a mark is deleted too early, its batch may be stored twice, so this
   * uses confirmed time only.
   */
  public Future<Boolean> forget(long confirmedMillis) {
    return store.forgetBatches(confirmedMillis - MARKS_KEPT.toMillis()).map(false);
  }

  public void start() {
    timer = vertx.setPeriodic(FLUSH_INTERVAL_MILLIS, due -> tick());
  }

  /**
   * Records one read. Never waits.
   *
   * @throws ApiException {@code overloaded} if too many rows in total or of the organization wait
   *     for the store, or if neither the store nor the journal takes rows
   */
  public void record(AuditRow row) {
    if (refusal != null) {
      throw overloaded();
    }
    Bulkhead.Place place = places.enter(row.orgId());
    synchronized (lock) {
      waiting.add(new Waiting(row, place));
    }
  }

  /** Stores all waiting rows, or puts them into the journal, and closes. */
  public Future<Void> close() {
    vertx.cancelTimer(timer);
    return flush()
        .eventually(
            () ->
                vertx.executeBlocking(
                    () -> {
                      if (journal.isPresent()) {
                        journal.get().close();
                      }
                      return null;
                    },
                    false));
  }

  /** Commits all waiting rows, or puts them into the journal. */
  public synchronized Future<Void> flush() {
    lastFlush =
        lastFlush
            .otherwiseEmpty()
            .compose(done -> flushWaiting())
            .recover(
                e ->
                    journal.isPresent()
                        ? lastAppend().otherwiseEmpty().compose(done -> append())
                        : Future.failedFuture(e));
    return lastFlush;
  }

  private synchronized Future<Void> lastAppend() {
    return lastAppend;
  }

  /** Runs the work of one {@link #FLUSH_INTERVAL_MILLIS}. */
  synchronized void tick() {
    boolean holds = journal.isPresent() && journal.get().mayHoldBatches();
    // While the journal holds batches, these test whether an unreachable store is back.
    boolean asks = lastFlush.isComplete() && !(isAway && holds && refusal == null);
    if (asks) {
      lastFlush = flushWaiting();
    } else if (journal.isPresent() && lastAppend.isComplete()) {
      lastAppend = append();
    }
    if (holds && lastLoad.isComplete()) {
      lastLoad = load(journal.get());
    }
  }

  private synchronized Future<Void> flushWaiting() {
    List<Waiting> taken = take();
    if (taken.isEmpty()) {
      return commit(tried);
    }
    // Retried batches go first, so that rows are stored in order.
    return vertx
        .executeBlocking(() -> encoded(taken), false)
        .onFailure(stopped -> requeue(taken))
        .compose(fresh -> commit(Stream.concat(tried().stream(), fresh.stream()).toList()));
  }

  private synchronized List<Batch> tried() {
    return tried;
  }

  /** Puts waiting, failed and currently committing rows into the journal. */
  private synchronized Future<Void> append() {
    ReadJournal to = journal.orElseThrow();
    List<Batch> late =
        Stream.concat(tried.stream(), committing.stream())
            .filter(batch -> !journaled.contains(batch.id()))
            .toList();
    List<Waiting> taken = take();
    if (late.isEmpty() && taken.isEmpty()) {
      return Future.succeededFuture();
    }
    late.forEach(batch -> journaled.add(batch.id()));
    return vertx
        .<Void>executeBlocking(
            () -> {
              List<ReadJournal.Batch> batches = new ArrayList<>();
              late.forEach(batch -> batches.add(batch.rows()));
              Slices.of(taken, ROWS_PER_COMMIT).forEach(slice -> batches.add(batch(slice)));
              to.append(batches);
              return null;
            },
            false)
        .andThen(
            done -> {
              if (done.succeeded()) {
                recordAppend(late, taken);
              } else {
                recordFailedAppend(late, taken, done.cause());
              }
            });
  }

  private synchronized void recordAppend(List<Batch> late, List<Waiting> taken) {
    late.forEach(batch -> batch.places().forEach(Bulkhead.Place::close));
    taken.forEach(waiting -> waiting.place().close());
    tried = tried.stream().filter(batch -> !journaled.contains(batch.id())).toList();
    retainJournaled(committing);
    refusal = null;
  }

  /** Drops the ids of batches whose commits have ended. */
  private void retainJournaled(List<Batch> underWay) {
    Set<String> ids = new HashSet<>();
    Stream.concat(tried.stream(), underWay.stream()).forEach(batch -> ids.add(batch.id()));
    journaled.retainAll(ids);
  }

  private synchronized void recordFailedAppend(
      List<Batch> late, List<Waiting> taken, Throwable failure) {
    requeue(taken);
    for (Batch batch : late) {
      journaled.remove(batch.id());
      storedIds.remove(batch.id());
    }
    if (refusal == null) {
      LOG.error(
          "neither the store nor the journal takes audited reads; rejecting reads: {}",
          failure.getMessage());
    }
    refusal = failure;
  }

  /** Stores some batches of the journal. */
  private Future<Void> load(ReadJournal from) {
    int most = isAway ? 1 : LOADED_AT_ONCE;
    return vertx
        .executeBlocking(
            () ->
                from.oldest(most).stream()
                    .map(batch -> new Batch(batch, store.encoded(batch.rows()), List.of(), true))
                    .toList(),
            false)
        .compose(
            batches ->
                Future.join(batches.stream().map(batch -> loaded(from, batch)).toList())
                    .onFailure(e -> recordOutcome(e, 0))
                    .onSuccess(stored -> loaded(batches))
                    .compose(
                        stored ->
                            vertx.<Void>executeBlocking(
                                () -> {
                                  from.drop(batches.size());
                                  return null;
                                },
                                false)))
        .andThen(done -> recordJournalOutcome(done.cause()));
  }

  /**
   * Stores a batch of the journal. A batch that the store rejects for its content is set aside, so
   * that it does not block later ones.
   */
  private Future<Void> loaded(ReadJournal from, Batch batch) {
    return insertUnlessStored(batch)
        .recover(
            e ->
                e instanceof StoreUnavailableException
                    ? Future.failedFuture(e)
                    : vertx.<Void>executeBlocking(
                        () -> {
                          from.setAsideOldest(batch.id(), e);
                          return null;
                        },
                        false));
  }

  private Future<Void> insertUnlessStored(Batch batch) {
    synchronized (this) {
      if (storedIds.contains(batch.id())) {
        return Future.succeededFuture();
      }
    }
    return store.insertReads(batch.id(), batch.reads(), List.of(), clock.millis());
  }

  private synchronized void loaded(List<Batch> batches) {
    batches.forEach(batch -> storedIds.remove(batch.id()));
    if (!batches.isEmpty()) {
      recordOutcome(null, 0);
    }
  }

  /**
   * Records whether the journal could be read and its batches stored. After an I/O error new rows
   * go to the store again, because the journal's batches no longer show whether the store is back.
   */
  private synchronized void recordJournalOutcome(@Nullable Throwable failure) {
    if (failure instanceof IOException) {
      isAway = false;
    }
    boolean isNews = journalFails.getAndSet(failure != null) != (failure != null);
    if (failure != null && isNews && !storeFails.get()) {
      LOG.error("cannot read the journal of audited reads", failure);
    }
  }

  private List<Waiting> take() {
    synchronized (lock) {
      List<Waiting> taken = waiting;
      waiting = new ArrayList<>(taken.size());
      return taken;
    }
  }

  private void requeue(List<Waiting> taken) {
    synchronized (lock) {
      taken.addAll(waiting);
      waiting = taken;
    }
  }

  private List<Batch> encoded(List<Waiting> taken) {
    List<Batch> batches = new ArrayList<>();
    for (List<Waiting> slice : Slices.of(taken, ROWS_PER_COMMIT)) {
      ReadJournal.Batch rows = batch(slice);
      batches.add(
          new Batch(
              rows,
              store.encoded(rows.rows()),
              slice.stream().map(Waiting::place).toList(),
              false));
    }
    return batches;
  }

  private ReadJournal.Batch batch(List<Waiting> slice) {
    return new ReadJournal.Batch(
        Ids.next("arb", random), slice.stream().map(Waiting::row).toList());
  }

  private synchronized Future<Void> commit(List<Batch> batches) {
    if (batches.isEmpty()) {
      // No rows are unrecorded, so reads are accepted again, even if the last append failed.
      refusal = null;
      return Future.succeededFuture();
    }
    committing = batches;
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

  private synchronized void settle(
      List<Batch> batches, List<Future<Void>> commits, @Nullable Throwable failure) {
    List<Batch> failed = new ArrayList<>();
    List<String> stored = new ArrayList<>();
    int failedRows = 0;
    for (int i = 0; i < batches.size(); i++) {
      Batch batch = batches.get(i);
      boolean isJournaled = journaled.contains(batch.id());
      if (commits.get(i).failed()) {
        failedRows += batch.places().size();
        if (!isJournaled || !lastAppend.isComplete()) {
          failed.add(new Batch(batch.rows(), batch.reads(), batch.places(), true));
        }
      } else {
        batch.places().forEach(Bulkhead.Place::close);
        if (isJournaled) {
          storedIds.add(batch.id());
        } else if (!batch.wasTried()) {
          stored.add(batch.id());
        }
      }
      // The mark of a retried batch stays: an earlier attempt with an unknown outcome may still
      // reach the store and must find it. It expires together with marks of processes that ended.
    }
    tried = failed;
    settled = stored;
    committing = List.of();
    retainJournaled(List.of());
    recordOutcome(failure, failedRows);
    if (failure != null && journal.isPresent() && lastAppend.isComplete()) {
      lastAppend = append();
    }
  }

  /** Records whether the store took the batches. */
  private synchronized void recordOutcome(@Nullable Throwable failure, int failedRows) {
    // A commit that is rejected for its content does not predict the next one.
    isAway = failure instanceof StoreUnavailableException;
    if (failure == null) {
      refusal = null;
    }
    // Only changes are logged, because a message every 40 ms would flood the log.
    boolean changed = storeFails.getAndSet(failure != null) != (failure != null);
    if (failure != null && changed) {
      LOG.warn(
          "storing audited reads failed; {} rows wait and will be retried: {}",
          failedRows,
          failure.getMessage());
    } else if (failure == null && changed) {
      LOG.info("storing audited reads works again");
    }
  }
}
