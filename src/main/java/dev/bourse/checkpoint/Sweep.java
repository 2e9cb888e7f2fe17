package dev.bourse.checkpoint;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFault;
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
 * Deletes what is not needed any more: announcements whose bytes did not come in time or that
 * nobody may publish any more, items of retired organizations, bytes that were replaced or deleted,
 * and bytes that no row knows of because a crash came between them.
 *
 * <p>One run does a bounded piece of each; the next goes on where it stopped. Several processes may
 * sweep at once: everything it does can be done twice.
 */
public final class Sweep {
  private static final Logger LOG = LoggerFactory.getLogger(Sweep.class);

  /** Rows of one run: some milliseconds of the store. */
  private static final int ROWS = 100;

  /** How many pages of bytes that cannot be deleted one run passes over. */
  private static final int PAGES = 10;

  /**
   * A storage that is away is not waited for a thousand times, many seconds each: meanwhile nothing
   * else would be swept.
   */
  private static final int FAILURES_IN_A_ROW = 3;

  /**
   * One that is away takes seconds to fail, with all its tries. A page of what cannot be deleted
   * fails sooner than that and is passed over, so that it does not hold up what comes behind it.
   */
  private static final long AWAY_MILLIS = 3_000;

  /** Announcements looked at in one run, each with two look-ups: some milliseconds of the store. */
  private static final int PENDING = 2_000;

  /** How often the log repeats that some deletions fail while others succeed. */
  private static final long NEWS_MILLIS = 3_600_000;

  /** Names looked up in one run; the store behind may have millions. */
  private static final int NAMES = 500;

  /** An upload or blob younger than this may be about to get its row. */
  static final long ORPHAN_AGE_MILLIS = 3_600_000;

  /** Who removes what members and retired organizations leave behind, as with their tokens. */
  private static final String OFFBOARD = "system:offboard";

  /** Before every set. */
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

  /** Why something was left to a later run; nothing else is held up by it. */
  private @Nullable Throwable trouble;

  private int failures;

  /** How many deletions failed in this run since one was done, and how long they took to. */
  private int failuresInARow;

  private long waitedMillis;

  private long nextNewsMillis;

  /**
   * @param clock by which the storage dates its files
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
   * Makes one run and tells how many rows and files it changed or deleted. Runs must not overlap.
   * Once the storage is found to be away, the next run goes on behind what was tried last. Fails
   * when something could not be done and nothing else was left to do.
   */
  public Future<Integer> run() {
    trouble = null;
    failures = 0;
    storageAnswers();
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

  private void storageAnswers() {
    failuresInARow = 0;
    waitedMillis = 0;
  }

  private Future<Integer> unlessAway(Supplier<Future<Integer>> work) {
    return isAway() ? Future.succeededFuture(0) : work.get();
  }

  /** A run that fails is reported by its caller; one that did part of its work is reported here. */
  private void report(Throwable cause) {
    if (clock.millis() >= nextNewsMillis) {
      nextNewsMillis = clock.millis() + NEWS_MILLIS;
      LOG.warn("{} deletions failed and are tried again, the last: {}", failures, cause.toString());
    }
  }

  /** Gives up what did not arrive in time; a note stays for whoever asks why. */
  private Future<Integer> expire(long now) {
    return store
        .listOverdue(Revision.State.PENDING, now, ROWS)
        .compose(late -> each(late, item -> commit(ChangeSet.of(item, item.expired()))));
  }

  /**
   * Takes announcements back whose members may not publish any more, because they were removed or
   * suspended or the public feed was closed to their organization. Nobody is left who may ask why,
   * so no note stays.
   */
  private Future<Integer> withdraw() {
    long after = lastPending;
    return store
        .findPendingEnd(after, PENDING)
        .compose(
            end -> {
              lastPending = end.orElse(0L);
              return store.listWithdrawn(after, end.orElse(Long.MAX_VALUE), PENDING);
            })
        .compose(
            withdrawn ->
                each(
                    withdrawn,
                    item ->
                        changes.commit(
                            new ChangeSet(Optional.of(item), item.withoutDraft()),
                            List.of(
                                changes.row(
                                    OFFBOARD,
                                    item,
                                    "checkpoint_withdraw",
                                    CheckpointChanges.describe(
                                        item, Objects.requireNonNull(item.draft())))))));
  }

  /** Drops the notes once they are as old again. */
  private Future<Integer> forget(long now) {
    long before = now - changes.config().sessionMillis();
    return store
        .listOverdue(Revision.State.EXPIRED, before, ROWS)
        .compose(
            old ->
                each(old, item -> commit(new ChangeSet(Optional.of(item), item.withoutDraft()))));
  }

  /** Lets the files go of sets that the release before sets deleted, which knows of no files. */
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

  /** Removes the items of retired organizations, since nobody is left who could. */
  private Future<Integer> removeRetired() {
    return store
        .listOfRetired(ROWS)
        .compose(items -> each(items, item -> changes.remove(OFFBOARD, item)));
  }

  private Future<Void> commit(ChangeSet change) {
    return changes.commit(change, List.of());
  }

  /**
   * Deletes a page, or passes over pages of which nothing can be deleted: those are tried again
   * once the run has come to the end of all there is.
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
    return blobs
        .listBlobs(orphanTime(now), lastBlob, NAMES)
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
                                  return blobs.delete(key);
                                }))
                    .onComplete(done -> lastBlob = isAway() ? lastBlob : next(page)));
  }

  /** The keys among these that no set has. */
  private Future<List<String>> withoutSets(List<String> keys) {
    return sets.known(keys)
        .map(known -> keys.stream().filter(key -> !known.contains(key)).toList());
  }

  /**
   * The earlier of two times counts: files are dated by this machine's clock, which may differ from
   * the confirmed time.
   */
  private Instant orphanTime(long now) {
    return Instant.ofEpochMilli(Math.min(now, clock.millis()) - ORPHAN_AGE_MILLIS);
  }

  /** Where the next page begins; the first again after the last. */
  private static String next(Page<String> page) {
    return page.more() ? page.items().get(page.items().size() - 1) : "";
  }

  /** The names among these that no revision uses. */
  private Future<List<String>> orphans(
      List<String> names, BiFunction<Checkpoint, String, Boolean> isUsed) {
    Map<String, String> itemOf = new LinkedHashMap<>();
    // A name of no form of ours is somebody else's.
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

  /** The blob of an awaited set's file may be about to get its row, however old it is. */
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
   * Works on one after the other, so as to be in nobody's way. What fails is left to the next run,
   * as is an item that changed meanwhile, and whatever comes behind a storage that is away.
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
      storageAnswers();
      done.incrementAndGet();
      return Future.succeededFuture();
    }
    if (tried.cause() instanceof StorageFault) {
      failuresInARow++;
      waitedMillis += tookMillis;
    }
    if (!(tried.cause() instanceof CheckpointStore.ItemChanged)) {
      trouble = tried.cause();
      failures++;
    }
    return Future.succeededFuture();
  }
}
