package dev.bourse.audit;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Limit;
import dev.bourse.core.Slices;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailable;
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
 * Rows of audited reads on their way to the store: appended in memory and committed within 100 ms.
 * A crash loses at most that window; a clean stop loses nothing. A commit that failed is tried
 * again as the batch it was, by whose id a second try of one that was stored after all stores
 * nothing.
 *
 * <p>A store of its own server may be away for hours. Rows that it does not take in time go to a
 * {@link ReadJournal}, which is flushed to the disk within the same 100 ms, and from there to the
 * store when it is back, or when the process is started again. The disk is not touched while
 * commits end in time. An embedded store is on the same disk as a journal would be, so it has none,
 * and what it does not take waits in memory.
 *
 * <p>If a row can be put neither into the store nor into the journal, because the journal or its
 * disk is full, reads are refused with {@code overloaded} until one of them takes rows again.
 */
public final class AuditedReads {
  private static final Logger LOG = LoggerFactory.getLogger(AuditedReads.class);

  /**
   * The first flush behind a row begins its commit, and the second puts it into the journal if it
   * is not stored: that leaves 20 ms of the promised 100 for the journal's flush.
   */
  private static final long FLUSH_INTERVAL_MILLIS = 40;

  /**
   * Rows that may wait in memory: about 48 MB, two seconds of the fastest reading one machine does.
   * Past it reads are refused, because an unrecorded read is worse than a late one. An organization
   * may have as many as are free, so that the reads of one do not stop those of all others.
   */
  private static final int MAX_WAITING = 200_000;

  /** Rows of one commit: small enough that a write queued behind it waits a few milliseconds. */
  private static final int ROWS_PER_COMMIT = 1024;

  /** Batches of the journal stored at once: new rows of the same 40 ms are stored beside them. */
  private static final int LOADED_AT_ONCE = 8;

  /**
   * How long marks are kept of batches that were tried more than once, or that the process they are
   * of did not live to forget: the longest that a machine may be away with a journal.
   */
  static final Duration MARKS_KEPT = Duration.ofDays(30);

  /** A journal's batches are stored while their marks last that long still. */
  static final Duration MARKS_MARGIN = Duration.ofDays(1);

  /**
   * Rows of one commit, encoded once for all its tries.
   *
   * @param reads what stores them
   * @param places theirs among the rows that may wait
   * @param wasTried whether an earlier try failed, which may be under way still
   */
  private record Batch(
      ReadJournal.Batch rows, List<Statement> reads, List<Limit.Place> places, boolean wasTried) {
    String id() {
      return rows.id();
    }
  }

  /** A row that waits, in the place that it has. */
  private record Waiting(AuditRow row, Limit.Place place) {}

  private final Vertx vertx;
  private final AuditStore store;
  private final Optional<ReadJournal> journal;
  private final Clock clock;
  private final RandomGenerator random;
  private final Object lock = new Object();
  private final AtomicBoolean storeFails = new AtomicBoolean();
  private final AtomicBoolean journalFails = new AtomicBoolean();
  private List<Waiting> waiting = new ArrayList<>();

  /** What is given back once a row is stored. */
  private final Limit places =
      Limit.of("audited reads", MAX_WAITING).sharingFairly().refusing(bound -> refused());

  private static ApiError refused() {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED, "audit rows wait for the store; this read cannot be recorded", 1_000);
  }

  /** Why neither the store nor the journal takes rows; null while one of them does. */
  private volatile @Nullable Throwable refusal;

  // The rest is guarded by this object.
  private List<Batch> tried = List.of();
  private List<String> settled = List.of();
  private Future<Void> lastFlush = Future.succeededFuture();

  /** Batches of the flush under way. */
  private List<Batch> committing = List.of();

  /** Ids of batches in the journal, or about to be, whose commits have not ended. */
  private final Set<String> journaled = new HashSet<>();

  /** Ids of batches in the journal that are stored by now. */
  private final Set<String> storedMeanwhile = new HashSet<>();

  /** Whether the store took nothing when it was last asked; rows then go to the journal at once. */
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
   * Forgets marks past their time. A mark that goes too early lets its batch be stored twice, so
   * this is by confirmed time alone.
   */
  public Future<Boolean> forget(long confirmedMillis) {
    return store.forgetBatches(confirmedMillis - MARKS_KEPT.toMillis()).map(false);
  }

  /** Starts the periodic commit. */
  public void start() {
    timer = vertx.setPeriodic(FLUSH_INTERVAL_MILLIS, due -> tick());
  }

  /**
   * Records one read. Never waits.
   *
   * @throws ApiError {@code overloaded} when too many rows wait for the store, or too many of the
   *     organization's, or neither the store nor the journal takes rows
   */
  public void record(AuditRow row) {
    if (refusal != null) {
      throw refused();
    }
    Limit.Place place = places.enter(row.orgId());
    synchronized (lock) {
      waiting.add(new Waiting(row, place));
    }
  }

  /** Stores all that waits, or puts it into the journal, and ends. */
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

  /** Commits all that waits, or puts it into the journal. */
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

  /** Does what is due each {@link #FLUSH_INTERVAL_MILLIS}. */
  synchronized void tick() {
    boolean holds = journal.isPresent() && journal.get().mayHoldBatches();
    // While the journal holds batches, these are what an absent store is asked to take.
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
    // Those that were tried go first, so that rows are stored in their order.
    return vertx
        .executeBlocking(() -> encoded(taken), false)
        .onFailure(stopped -> giveBack(taken))
        .compose(fresh -> commit(Stream.concat(tried().stream(), fresh.stream()).toList()));
  }

  private synchronized List<Batch> tried() {
    return tried;
  }

  /** Puts into the journal what waits, what failed, and what is being committed. */
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
                appended(late, taken);
              } else {
                notAppended(late, taken, done.cause());
              }
            });
  }

  private synchronized void appended(List<Batch> late, List<Waiting> taken) {
    late.forEach(batch -> batch.places().forEach(Limit.Place::close));
    taken.forEach(waiting -> waiting.place().close());
    tried = tried.stream().filter(batch -> !journaled.contains(batch.id())).toList();
    keepJournaled(committing);
    refusal = null;
  }

  /** Forgets the ids of batches whose commits have ended. */
  private void keepJournaled(List<Batch> underWay) {
    Set<String> ids = new HashSet<>();
    Stream.concat(tried.stream(), underWay.stream()).forEach(batch -> ids.add(batch.id()));
    journaled.retainAll(ids);
  }

  private synchronized void notAppended(List<Batch> late, List<Waiting> taken, Throwable failure) {
    giveBack(taken);
    for (Batch batch : late) {
      journaled.remove(batch.id());
      storedMeanwhile.remove(batch.id());
    }
    if (refusal == null) {
      LOG.error(
          "audited reads can be put neither into the store nor into the journal; reads are refused: {}",
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
                    .onFailure(e -> outcome(e, 0))
                    .onSuccess(stored -> loaded(batches))
                    .compose(
                        stored ->
                            vertx.<Void>executeBlocking(
                                () -> {
                                  from.drop(batches.size());
                                  return null;
                                },
                                false)))
        .andThen(done -> journalOutcome(done.cause()));
  }

  /**
   * A batch that the store refuses for itself is set aside: it must not hold up those behind it.
   */
  private Future<Void> loaded(ReadJournal from, Batch batch) {
    return insertUnlessStored(batch)
        .recover(
            e ->
                e instanceof StoreUnavailable
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
      if (storedMeanwhile.contains(batch.id())) {
        return Future.succeededFuture();
      }
    }
    return store.insertReads(batch.id(), batch.reads(), List.of(), clock.millis());
  }

  private synchronized void loaded(List<Batch> batches) {
    batches.forEach(batch -> storedMeanwhile.remove(batch.id()));
    if (!batches.isEmpty()) {
      outcome(null, 0);
    }
  }

  /**
   * Notes whether the journal could be read and its batches stored. After an I/O error new rows go
   * to the store again, because the journal's batches no longer show whether the store is back.
   */
  private synchronized void journalOutcome(@Nullable Throwable failure) {
    if (failure instanceof IOException) {
      isAway = false;
    }
    boolean isNews = journalFails.getAndSet(failure != null) != (failure != null);
    if (failure != null && isNews && !storeFails.get()) {
      LOG.error("the journal of audited reads cannot be read", failure);
    }
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
      // Nothing is left unrecorded, so reads are let in again, also if the last append failed.
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
        batch.places().forEach(Limit.Place::close);
        if (isJournaled) {
          storedMeanwhile.add(batch.id());
        } else if (!batch.wasTried()) {
          stored.add(batch.id());
        }
      }
      // The mark of one that was tried again stays: an earlier try that nobody has heard of may
      // still reach the store, and must find it there. It goes with those of processes that ended.
    }
    tried = failed;
    settled = stored;
    committing = List.of();
    keepJournaled(List.of());
    outcome(failure, failedRows);
    if (failure != null && journal.isPresent() && lastAppend.isComplete()) {
      lastAppend = append();
    }
  }

  /** Notes whether the store took what it was asked to. */
  private synchronized void outcome(@Nullable Throwable failure, int failedRows) {
    // A commit that the store refuses for itself says nothing of the next.
    isAway = failure instanceof StoreUnavailable;
    if (failure == null) {
      refusal = null;
    }
    // A flush every 40 ms would drown the log; only a change is news.
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
