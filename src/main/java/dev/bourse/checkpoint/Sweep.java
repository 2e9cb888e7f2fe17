package dev.bourse.checkpoint;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.Page;
import dev.bourse.store.BoundedWork;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired data: announcements whose bytes did not arrive in time or whose author may no
 * longer publish them, items of retired organizations, bytes that were replaced or deleted, and
 * orphaned bytes that a crash left without a row.
 *
 * <p>A run does a bounded part of each; the next continues where it stopped. Several processes may
 * sweep at once, because every step is idempotent.
 */
public final class Sweep {
  private static final Logger LOG = LoggerFactory.getLogger(Sweep.class);

  /** Rows of one run: some milliseconds of the store. */
  private static final int ROWS = 100;

  /** Pages of undeletable bytes that one run skips. */
  private static final int PAGES = 10;

  /**
   * Failures after which the storage counts as down. Each attempt takes many seconds then, and the
   * rest of the sweep would starve.
   */
  private static final int FAILURES_IN_A_ROW = 3;

  /**
   * Time that the failures must take before the storage counts as down, because a storage that is
   * down fails slowly. A page of undeletable bytes fails faster and is skipped, so that it does not
   * block later pages.
   */
  private static final long AWAY_MILLIS = 3_000;

  /** Announcements checked in one run, each with two look-ups: some milliseconds of the store. */
  private static final int PENDING = 2_000;

  /** Interval at which the log repeats that some deletions fail while others succeed. */
  private static final long NEWS_MILLIS = 3_600_000;

  /** Names looked up in one run; the blob store may have millions. */
  private static final int NAMES = 500;

  /** An upload or blob younger than this may be about to get its row. */
  static final long ORPHAN_AGE_MILLIS = 3_600_000;

  /**
   * The actor that removes items of removed members and retired organizations, as with their
   * tokens.
   */
  private static final String OFFBOARD = "system:offboard";

  /** The actor that withdraws announcements of publishing credentials that have ended. */
  private static final String CHECKPOINTS = "system:checkpoints";

  /** Sorts before every set. */
  private static final BlobName FIRST = new BlobName("", 0);

  private final CheckpointChanges changes;
  private final SweepStore store;
  private final SetStore sets;
  private final BlobStore blobs;
  private final Clock clock;
  private final ConfirmedTime time;
  private String lastUpload = "";
  private String lastBlob = "";
  private BlobName lastSet = FIRST;
  private long lastPending;
  private Optional<SweepStore.Garbage> lastGarbage = Optional.empty();

  /** The last failure of this run; failed work is left to a later run. */
  private @Nullable Throwable trouble;

  private int failures;

  /** Consecutive failed deletions of this run, and the time they took. */
  private int failuresInARow;

  private long waitedMillis;

  private long nextNewsMillis;

  /**
   * @param clock the clock by which the storage dates its files
   */
  public Sweep(
      CheckpointChanges changes,
      SweepStore store,
      SetStore sets,
      BlobStore blobs,
      Clock clock,
      ConfirmedTime time) {
    this.changes = changes;
    this.store = store;
    this.sets = sets;
    this.blobs = blobs;
    this.clock = clock;
    this.time = time;
  }

  /**
   * Makes one run; returns the number of rows and files changed or deleted. Runs must not overlap.
   * If the storage is down, the next run continues after the last attempt. Fails if some work
   * failed and there was no other work.
   */
  public Future<Integer> run() {
    trouble = null;
    failures = 0;
    resetFailures();
    OptionalLong now = time.confirmedMillis();
    return withdraw()
        .compose(done -> removeRetired().map(more -> done + more))
        .compose(
            done ->
                now.isEmpty()
                    ? Future.succeededFuture(done)
                    : deleteByAge(now.getAsLong()).map(more -> done + more))
        .compose(
            done -> {
              Throwable cause = trouble;
              if (cause == null) {
                return Future.succeededFuture(done);
              }
              if (done == 0) {
                return Future.failedFuture(cause);
              }
              report(cause);
              return Future.succeededFuture(done);
            });
  }

  private Future<Integer> deleteByAge(long now) {
    return expire(now)
        .compose(done -> forget(now).map(more -> done + more))
        .compose(done -> releaseLeft(now).map(more -> done + more))
        .compose(done -> deleteGarbage(now, PAGES).map(more -> done + more))
        .compose(done -> unlessAway(() -> deleteOrphanUploads(now)).map(more -> done + more))
        .compose(done -> unlessAway(() -> deleteOrphanBlobs(now)).map(more -> done + more))
        .compose(done -> unlessAway(blobs::tidy).map(more -> done + more));
  }

  private boolean isAway() {
    return failuresInARow >= FAILURES_IN_A_ROW && waitedMillis >= AWAY_MILLIS;
  }

  private void resetFailures() {
    failuresInARow = 0;
    waitedMillis = 0;
  }

  private Future<Integer> unlessAway(Supplier<Future<Integer>> work) {
    return isAway() ? Future.succeededFuture(0) : work.get();
  }

  /** Reports failures of a run that did part of its work; the caller reports a failed run. */
  private void report(Throwable cause) {
    if (clock.millis() >= nextNewsMillis) {
      nextNewsMillis = clock.millis() + NEWS_MILLIS;
      LOG.warn("{} deletions failed and will be retried, the last: {}", failures, cause.toString());
    }
  }

  /**
   * Expires announcements whose bytes did not arrive in time; the expired draft is kept for
   * information.
   */
  private Future<Integer> expire(long now) {
    return store
        .listOverdue(Revision.State.PENDING, now, ROWS)
        .compose(late -> each(late, item -> commit(ChangeSet.of(item, item.expired()))));
  }

  /**
   * Withdraws announcements whose members may not publish any more, because they were removed or
   * suspended or the public feed was closed to their organization. No record is kept, because
   * nobody can read it.
   */
  private Future<Integer> withdraw() {
    long after = lastPending;
    return store
        .findPendingEnd(after, PENDING)
        .compose(
            end -> {
              lastPending = end.orElse(0L);
              long until = end.orElse(Long.MAX_VALUE);
              // A removal ends credentials, too; what it withdraws is recorded as its consequence.
              return store
                  .listOffboarded(after, until, PENDING)
                  .compose(found -> withdraw(OFFBOARD, found))
                  .compose(
                      count ->
                          store
                              .listRevoked(after, until, PENDING)
                              .compose(found -> withdraw(CHECKPOINTS, found))
                              .map(more -> count + more));
            });
  }

  private Future<Integer> withdraw(String actor, List<Checkpoint> withdrawn) {
    return each(
        withdrawn,
        item ->
            changes.commit(
                new ChangeSet(Optional.of(item), item.withoutDraft()),
                List.of(
                    changes.row(
                        actor,
                        item,
                        "checkpoint_withdraw",
                        CheckpointChanges.describe(item, Objects.requireNonNull(item.draft()))))));
  }

  /** Deletes expired drafts after the same time again. */
  private Future<Integer> forget(long now) {
    long before = now - changes.config().sessionMillis();
    return store
        .listOverdue(Revision.State.EXPIRED, before, ROWS)
        .compose(
            old ->
                each(old, item -> commit(new ChangeSet(Optional.of(item), item.withoutDraft()))));
  }

  /** Deletes the files of sets that the release before sets deleted, which left their files. */
  private Future<Integer> releaseLeft(long now) {
    return sets.listStored(lastSet.item(), lastSet.revision(), NAMES)
        .compose(
            found -> {
              SetStore.Stored last = found.isEmpty() ? null : found.get(found.size() - 1);
              lastSet =
                  last == null || found.size() < NAMES
                      ? FIRST
                      : new BlobName(last.item(), last.revision());
              return each(
                  found.stream().filter(SetStore.Stored::isLeft).toList(),
                  left -> sets.release(left, now));
            });
  }

  /** Removes the items of retired organizations. */
  private Future<Integer> removeRetired() {
    return store
        .listOfRetired(ROWS)
        .compose(items -> each(items, item -> changes.remove(OFFBOARD, item)));
  }

  private Future<Void> commit(ChangeSet change) {
    return changes.commit(change, List.of());
  }

  /**
   * Deletes a page, or skips pages of which nothing can be deleted; those are retried after the
   * last page.
   */
  private Future<Integer> deleteGarbage(long now, int pages) {
    return store
        .listGarbage(now - changes.config().graceMillis(), lastGarbage, ROWS)
        .compose(
            garbage -> {
              List<SweepStore.Garbage> deleted = new ArrayList<>();
              return each(
                      garbage,
                      one -> {
                        lastGarbage = Optional.of(one);
                        return delete(one).onSuccess(done -> deleted.add(one));
                      })
                  .compose(
                      done -> {
                        if (garbage.size() < ROWS && !isAway()) {
                          lastGarbage = Optional.empty();
                        }
                        return deleted.isEmpty()
                            ? Future.succeededFuture(done)
                            : store.forget(deleted).map(done);
                      });
            })
        .compose(
            done ->
                done == 0 && lastGarbage.isPresent() && pages > 1 && !isAway()
                    ? deleteGarbage(now, pages - 1)
                    : Future.succeededFuture(done));
  }

  private Future<Void> delete(SweepStore.Garbage garbage) {
    return garbage.isBlob() ? blobs.delete(garbage.name()) : blobs.abandon(garbage.name());
  }

  private Future<Integer> deleteOrphanUploads(long now) {
    return blobs
        .listUploads(orphanTime(now), lastUpload, NAMES)
        .compose(
            page ->
                orphans(page.items(), Sweep::isAwaited)
                    .compose(
                        orphans ->
                            each(
                                orphans,
                                name -> {
                                  lastUpload = name;
                                  return blobs.abandon(name);
                                }))
                    .onComplete(done -> lastUpload = isAway() ? lastUpload : next(page)));
  }

  private Future<Integer> deleteOrphanBlobs(long now) {
    Instant before = orphanTime(now);
    return blobs
        .listBlobs(before, lastBlob, NAMES)
        .compose(
            page ->
                orphans(page.items(), Sweep::isReferred)
                    .compose(this::withoutSets)
                    .compose(
                        orphans ->
                            each(
                                orphans,
                                key -> {
                                  lastBlob = key;
                                  return blobs.delete(key, before);
                                }))
                    .onComplete(done -> lastBlob = isAway() ? lastBlob : next(page)));
  }

  /** Returns the given keys that no set uses. */
  private Future<List<String>> withoutSets(List<String> keys) {
    return sets.known(keys)
        .map(known -> keys.stream().filter(key -> !known.contains(key)).toList());
  }

  /**
   * Uses the earlier of two times, because files are dated by this machine's clock, which may
   * differ from the confirmed time.
   */
  private Instant orphanTime(long now) {
    return Instant.ofEpochMilli(Math.min(now, clock.millis()) - ORPHAN_AGE_MILLIS);
  }

  /** Returns the cursor of the next page; of the first page after the last. */
  private static String next(Page<String> page) {
    return page.more() ? page.items().get(page.items().size() - 1) : "";
  }

  /** Returns the given names that no revision uses. */
  private Future<List<String>> orphans(
      List<String> names, BiFunction<Checkpoint, String, Boolean> isUsed) {
    Map<String, String> itemOf = new LinkedHashMap<>();
    // A name of another form belongs to another program.
    names.forEach(name -> BlobName.parse(name).ifPresent(b -> itemOf.put(name, b.item())));
    return store
        .findAll(itemOf.values().stream().distinct().toList())
        .map(
            items -> {
              List<String> orphans = new ArrayList<>();
              itemOf.forEach(
                  (name, id) -> {
                    Checkpoint item = items.get(id);
                    if (item == null || !isUsed.apply(item, name)) {
                      orphans.add(name);
                    }
                  });
              return orphans;
            });
  }

  private static boolean isAwaited(Checkpoint item, String name) {
    Revision draft = item.draft();
    return draft != null
        && draft.state() == Revision.State.PENDING
        && draft.resumable()
        && (name.equals(BlobName.upload(item.id(), draft.number()))
            || (draft.metadata().isSet()
                && name.startsWith(BlobName.ofFiles(item.id(), draft.number()))));
  }

  /** The blob of a pending set's file may be about to get its row, at any age. */
  private static boolean isReferred(Checkpoint item, String name) {
    return (BlobName.isOfFile(name) && isAwaited(item, name))
        || item.revisions().stream()
            .filter(revision -> revision.sha256() != null)
            .map(
                revision ->
                    BlobName.key(
                        item.id(), revision.number(), Objects.requireNonNull(revision.sha256())))
            .anyMatch(name::equals);
  }

  /**
   * Works on one after the other, to keep the load low. Failed items are left to the next run, as
   * are items that changed concurrently and everything after the storage went down.
   */
  private <T> Future<Integer> each(List<T> all, Function<T, Future<Void>> work) {
    AtomicInteger done = new AtomicInteger();
    return BoundedWork.each(
            all.stream().takeWhile(one -> !isAway()).iterator(),
            1,
            one -> {
              long begunMillis = clock.millis();
              return work.apply(one)
                  .transform(tried -> counted(done, clock.millis() - begunMillis, tried));
            })
        .map(ended -> done.get());
  }

  private Future<Void> counted(AtomicInteger done, long tookMillis, AsyncResult<Void> tried) {
    if (tried.succeeded()) {
      resetFailures();
      done.incrementAndGet();
      return Future.succeededFuture();
    }
    if (tried.cause() instanceof StorageFaultException) {
      failuresInARow++;
      waitedMillis += tookMillis;
    }
    if (!(tried.cause() instanceof CheckpointStore.ItemChangedException)) {
      trouble = tried.cause();
      failures++;
    }
    return Future.succeededFuture();
  }
}
