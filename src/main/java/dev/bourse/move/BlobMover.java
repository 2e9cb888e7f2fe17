package dev.bourse.move;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.BoundedWork;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves one blob after the other while a requested move runs. Steps must not overlap. */
public final class BlobMover {
  private static final Logger LOG = LoggerFactory.getLogger(BlobMover.class);

  /** Interval at which a process renews its claim on a blob. */
  private static final long RENEW_MILLIS = 60_000;

  /** When a claim expires: long enough for a process that stalls for a few minutes. */
  static final long LEFT_MILLIS = 10 * RENEW_MILLIS;

  /** Blobs that one step locates, with two small queries each. */
  private static final int WALKED = 100;

  /** Blobs that one step deletes from the former store. */
  private static final int DELETED = 100;

  /**
   * A blob store of the settings.
   *
   * @param isShared whether every process on the database sees the same bytes
   */
  public record Place(String name, BlobStore blobs, boolean isShared) {}

  private final Vertx vertx;
  private final MoveStore store;
  private final StoredBlobs stored;
  private final Optional<Place> from;
  private final Place to;
  private final long graceMillis;
  private final LongSupplier nanoTime;
  private volatile boolean isStopped;
  private volatile @Nullable String trouble;

  // Used by one step at a time.
  private long walkOf;
  private String position = "";
  private long left;
  private long waiting;

  /**
   * @param from the former store; empty if there is none
   * @param to the store of new blobs
   * @param graceMillis how long a moved blob stays in the former store
   * @param nanoTime the monotonic clock
   */
  public BlobMover(
      Vertx vertx,
      MoveStore store,
      StoredBlobs stored,
      Optional<Place> from,
      Place to,
      long graceMillis,
      LongSupplier nanoTime) {
    this.vertx = vertx;
    this.store = store;
    this.stored = stored;
    this.from = from;
    this.to = to;
    this.graceMillis = graceMillis;
    this.nanoTime = nanoTime;
  }

  /** Cancels the copy in progress, which another process then continues; starts no other. */
  public Future<Void> stop() {
    isStopped = true;
    return Future.succeededFuture();
  }

  /**
   * Starts a move of everything, or continues a running one.
   *
   * @throws ApiException {@code conflict} if these are not the stores of the settings
   */
  public Future<MoveStore.Asked> ask(String fromName, String toName, long nowMillis) {
    String formerName = from.map(Place::name).orElse("none");
    if (from.isEmpty() || !isSame(formerName, fromName) || !isSame(to.name(), toName)) {
      throw ApiException.of(
          ErrorCode.CONFLICT,
          """
          checkpoints.former-store is %s and checkpoints.store is %s; files move from the former \
          store to the other\
          """
              .formatted(formerName, to.name()));
    }
    return store
        .ask(formerName, to.name(), nowMillis)
        .compose(asked -> store.find())
        .map(Optional::orElseThrow);
  }

  /** Compares names without options of the address and a slash at the end. */
  private static boolean isSame(String name, String typed) {
    String place = typed.replaceFirst("\\?.*", "");
    return name.equals(place) || name.equals(place + '/');
  }

  /**
   * The progress of the move.
   *
   * @param asked the requested move; empty if there was never one
   * @param trouble the last failure of this process; null if it works
   */
  public record Progress(
      Optional<MoveStore.Asked> asked, @Nullable String trouble, List<MoveStore.Found> faults) {}

  /**
   * Returns the progress, with faults in the order of keys.
   *
   * @param after the key after which the faults begin; empty to start
   */
  public Future<Progress> progress(String after, int limit) {
    Future<Optional<MoveStore.Asked>> asked = store.find();
    Future<List<MoveStore.Found>> faults = store.listFaults(after, limit);
    return Future.all(asked, faults)
        .map(read -> new Progress(asked.result(), trouble, faults.result()));
  }

  /** Copies the next blob, or deletes some moved blobs; returns false if there was no work. */
  public Future<Boolean> step(long nowMillis) {
    if (from.isEmpty() || isStopped) {
      return Future.succeededFuture(false);
    }
    Place former = from.get();
    return store
        .find()
        .map(asked -> asked.filter(one -> isOurs(one, former)))
        .compose(
            asked ->
                asked.isEmpty()
                    ? Future.succeededFuture(false)
                    : deleteMoved(former, nowMillis)
                        .compose(
                            deleted ->
                                asked.get().isRunning()
                                    ? walk(asked.get(), former, nowMillis)
                                    : Future.succeededFuture(deleted)))
        .onSuccess(done -> trouble = null)
        .onFailure(e -> trouble = String.valueOf(e.getMessage()));
  }

  private boolean isOurs(MoveStore.Asked asked, Place former) {
    return asked.from().equals(former.name()) && asked.to().equals(to.name());
  }

  /** Deletes only blobs that the new store has, or that are no longer read. */
  private Future<Boolean> deleteMoved(Place former, long nowMillis) {
    return store
        .listMoved(former.name(), nowMillis - graceMillis, DELETED)
        .compose(
            keys -> {
              List<String> deleted = new ArrayList<>();
              return BoundedWork.inTurn(
                      keys,
                      key ->
                          to.blobs()
                              .exists(key)
                              .compose(
                                  is -> is ? former.blobs().delete(key) : Future.succeededFuture())
                              .onSuccess(done -> deleted.add(key)))
                  .compose(
                      all ->
                          deleted.isEmpty()
                              ? Future.succeededFuture()
                              : store.forgetMoved(former.name(), deleted))
                  .map(done -> !deleted.isEmpty());
            });
  }

  /** Continues the walk through all blobs until the next copy, or for a number of blobs. */
  private Future<Boolean> walk(MoveStore.Asked asked, Place former, long nowMillis) {
    if (walkOf != asked.askedAtMillis()) {
      walkOf = asked.askedAtMillis();
      beginWalk();
    }
    return stored
        .list(position, WALKED)
        .compose(
            blobs ->
                blobs.isEmpty()
                    ? endWalk(asked, nowMillis)
                    : pass(blobs, 0, former, nowMillis).map(true));
  }

  private void beginWalk() {
    position = "";
    left = 0;
    waiting = 0;
  }

  private Future<Boolean> endWalk(MoveStore.Asked asked, long nowMillis) {
    boolean isEnd = waiting == 0;
    long found = left;
    beginWalk();
    return store
        .recordWalk(asked, found, isEnd, nowMillis)
        .onSuccess(
            told -> {
              if (isEnd) {
                LOG.info(
                    "moved the stored files to {}; {} faulty files stayed behind",
                    to.name(),
                    found);
              }
            })
        .map(false);
  }

  private Future<Void> pass(List<StoredBlobs.Blob> blobs, int index, Place former, long nowMillis) {
    if (index == blobs.size() || isStopped) {
      return Future.succeededFuture();
    }
    StoredBlobs.Blob blob = blobs.get(index);
    position = blob.key();
    return pass(blob, former, nowMillis)
        .compose(
            copied ->
                copied ? Future.succeededFuture() : pass(blobs, index + 1, former, nowMillis));
  }

  /** Returns whether the blob was copied, which ends a step, because the time has advanced. */
  private Future<Boolean> pass(StoredBlobs.Blob blob, Place former, long nowMillis) {
    Future<Boolean> isThere = to.blobs().exists(blob.key());
    Future<Boolean> isHere = former.blobs().exists(blob.key());
    return Future.all(isThere, isHere)
        .compose(
            asked -> {
              if (isThere.result()) {
                return isHere.result()
                    ? store
                        .scheduleDeletion(
                            blob.key(), former.name(), nowMillis, nowMillis - LEFT_MILLIS)
                        .map(false)
                    : Future.succeededFuture(false);
              }
              if (!isHere.result() && !blob.isPublished()) {
                // A new blob on its way into the new store.
                return Future.succeededFuture(false);
              }
              if (!isHere.result() && !former.isShared()) {
                // Either on another process's disk, which moves it itself, or lost.
                left++;
                return Future.succeededFuture(false);
              }
              return store
                  .take(blob.key(), nowMillis, nowMillis - LEFT_MILLIS)
                  .compose(
                      claim -> {
                        if (claim.isEmpty()) {
                          left++;
                          waiting++;
                          return Future.succeededFuture(false);
                        }
                        return copy(claim.get(), blob, former, nowMillis).map(true);
                      });
            });
  }

  private Future<Void> copy(
      MoveStore.Claim claim, StoredBlobs.Blob blob, Place former, long nowMillis) {
    long begin = nanoTime.getAsLong();
    LongSupplier now =
        () -> nowMillis + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin);
    boolean[] isLost = {false};
    long timer =
        vertx.setPeriodic(
            RENEW_MILLIS,
            id ->
                store
                    .renew(claim, now.getAsLong())
                    .onFailure(e -> isLost[0] |= e instanceof MoveStore.ClaimLostException));
    return to.blobs()
        .exists(blob.key())
        .compose(
            isMoved ->
                isMoved
                    ? movedConcurrently(claim)
                    : BlobCopy.run(
                            vertx,
                            nanoTime,
                            former.blobs(),
                            to.blobs(),
                            blob,
                            () -> isStopped || isLost[0])
                        .compose(copied -> recordSwitch(claim, blob, former, now.getAsLong())))
        .onComplete(done -> vertx.cancelTimer(timer))
        .recover(e -> failed(claim, blob, e, now.getAsLong()))
        .recover(
            e ->
                e instanceof MoveStore.ClaimLostException
                    ? Future.succeededFuture()
                    : Future.failedFuture(e));
  }

  /**
   * Another process held the claim until after this one looked; the next walk checks both stores.
   */
  private Future<Void> movedConcurrently(MoveStore.Claim claim) {
    left++;
    waiting++;
    return store.drop(claim);
  }

  /** Records that the new store has the blob, which may have become obsolete during the copy. */
  private Future<Void> recordSwitch(
      MoveStore.Claim claim, StoredBlobs.Blob blob, Place former, long nowMillis) {
    return stored
        .find(blob.key())
        .compose(
            found ->
                found.isPresent()
                    ? store.moved(claim, blob, former.name(), nowMillis)
                    : to.blobs().delete(blob.key()).compose(done -> store.drop(claim)));
  }

  private Future<Void> failed(
      MoveStore.Claim claim, StoredBlobs.Blob blob, Throwable cause, long nowMillis) {
    if (cause instanceof MoveStore.ClaimLostException) {
      return Future.failedFuture(cause);
    }
    if (!(cause instanceof BlobNotFoundException)
        && !(cause instanceof BlobCopy.DamagedBlobException)) {
      // A store is down or full, or this process is stopping: the next walk retries.
      left++;
      waiting++;
      return store
          .renew(claim, 0)
          .compose(
              told ->
                  cause instanceof BlobCopy.CopyStoppedException
                      ? Future.succeededFuture()
                      : Future.failedFuture(cause));
    }
    return Future.all(stored.find(blob.key()), to.blobs().exists(blob.key()))
        .compose(
            found -> {
              Optional<StoredBlobs.Blob> needed = found.resultAt(0);
              boolean isMoved = found.<Boolean>resultAt(1);
              if (needed.isEmpty() || isMoved) {
                return store.drop(claim);
              }
              String detail =
                  cause instanceof BlobNotFoundException
                      ? "the former store has no such blob"
                      : String.valueOf(cause.getMessage());
              left++;
              LOG.error(
                  "revision {} of {} cannot be moved: {} (blob {})",
                  blob.revision(),
                  blob.item(),
                  detail,
                  blob.key());
              return store.keepFault(claim, blob, detail, nowMillis);
            });
  }
}
