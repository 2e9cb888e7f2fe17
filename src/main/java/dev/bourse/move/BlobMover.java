package dev.bourse.move;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobWalker;
import dev.bourse.walk.DamagedBlobException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves one blob after the other while a requested move runs. Steps must not overlap. */
public final class BlobMover extends BlobWalker {
  private static final Logger LOG = LoggerFactory.getLogger(BlobMover.class);

  /** Blobs that one step locates, with two small queries each. */
  private static final int WALKED = 100;

  /** Blobs that one step deletes from the former store. */
  private static final int DELETED = 100;

  /**
   * Pause after a walk that found blobs which only another process can move, because each walk asks
   * both stores for every blob.
   */
  static final long REST_MILLIS = 300_000;

  /**
   * A blob store of the settings.
   *
   * @param isShared whether every process on the database sees the same bytes
   */
  public record Place(String name, BlobStore blobs, boolean isShared) {}

  private final MoveStore store;
  private final Optional<Place> from;
  private final Place to;
  private final long graceMillis;
  private volatile @Nullable String trouble;

  // Used by one step at a time.
  private long walkOf;
  private String position = "";

  /** Blobs that stay in the former store, or were left to a later walk or another process. */
  private long left;

  /** The part of them that needs another walk. */
  private long waiting;

  /** True if another process has some of the waiting blobs on its disk. */
  private boolean isElsewhere;

  private long restUntilMillis = Long.MIN_VALUE;

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
    super(vertx, stored, store.claims(), WALKED, nanoTime);
    this.store = store;
    this.from = from;
    this.to = to;
    this.graceMillis = graceMillis;
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
    if (from.isEmpty() || isStopped()) {
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
                                asked.get().isRunning() && !rests(asked.get(), nowMillis)
                                    ? walk(asked.get(), nowMillis)
                                    : Future.succeededFuture(deleted)))
        .onSuccess(done -> trouble = null)
        .onFailure(e -> trouble = String.valueOf(e.getMessage()));
  }

  /** Returns true during a pause, unless the move was requested again or the clock was set back. */
  private boolean rests(MoveStore.Asked asked, long nowMillis) {
    return walkOf == asked.askedAtMillis()
        && nowMillis < restUntilMillis
        && nowMillis >= restUntilMillis - REST_MILLIS;
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
  private Future<Boolean> walk(MoveStore.Asked asked, long nowMillis) {
    if (walkOf != asked.askedAtMillis()) {
      walkOf = asked.askedAtMillis();
      beginWalk();
    }
    return walk(nowMillis);
  }

  private void beginWalk() {
    position = "";
    left = 0;
    waiting = 0;
    isElsewhere = false;
  }

  @Override
  protected Future<Optional<String>> position(long nowMillis) {
    return Future.succeededFuture(Optional.of(position));
  }

  private Place former() {
    return from.orElseThrow();
  }

  @Override
  protected Future<Optional<List<Statement>>> pass(StoredBlobs.Blob blob, long nowMillis) {
    position = blob.key();
    Future<Boolean> isThere = to.blobs().exists(blob.key());
    Future<Boolean> isHere = former().blobs().exists(blob.key());
    return Future.all(isThere, isHere)
        .compose(
            both -> {
              if (isThere.result()) {
                return (isHere.result()
                        ? store.scheduleDeletion(blob.key(), former().name(), nowMillis)
                        : Future.<Void>succeededFuture())
                    .map(Optional.empty());
              }
              // A new blob on its way into the new store.
              boolean isArriving = !isHere.result() && !blob.isPublished();
              if (isArriving) {
                return Future.succeededFuture(Optional.empty());
              }
              return isHere.result() || former().isShared()
                  ? Future.succeededFuture(Optional.of(List.of()))
                  : passAbsent(blob.key());
            });
  }

  /**
   * Passes a blob that is not on this process's disk. It is on the disk of another process, which
   * moves it, or it is lost. Until it has moved or has a recorded fault, the move must not end. A
   * blob that the scrub found on no disk is visited, which records the fault.
   */
  private Future<Optional<List<Statement>>> passAbsent(String key) {
    return store
        .hasFault(key)
        .compose(
            isFaulty -> {
              if (isFaulty) {
                left++;
                return Future.succeededFuture(Optional.empty());
              }
              return store
                  .isLost(key)
                  .compose(
                      isLost -> {
                        if (isLost) {
                          return Future.succeededFuture(Optional.of(List.of()));
                        }
                        isElsewhere = true;
                        return passHeld().map(Optional.empty());
                      });
            });
  }

  /** Leaves a blob to the next walk. */
  @Override
  protected Future<Void> passHeld() {
    left++;
    waiting++;
    return Future.succeededFuture();
  }

  @Override
  protected Future<Void> end(long nowMillis) {
    boolean isEnd = waiting == 0;
    long found = left;
    if (isElsewhere) {
      restUntilMillis = nowMillis + REST_MILLIS;
    }
    beginWalk();
    return store
        .recordWalk(walkOf, found, isEnd, nowMillis)
        .onSuccess(
            told -> {
              if (isEnd) {
                LOG.info(
                    "moved the stored files to {}; {} faulty files stayed behind",
                    to.name(),
                    found);
              }
            });
  }

  @Override
  protected Future<Void> visit(Visit visit) {
    return to.blobs()
        .exists(visit.blob().key())
        .compose(
            isMoved ->
                isMoved
                    ? movedConcurrently(visit)
                    : new BlobCopy(visit, former().blobs(), to.blobs())
                        .run()
                        .compose(copied -> recordSwitch(visit)));
  }

  /**
   * Another process held the claim until after this one looked; the next walk checks both stores.
   */
  private Future<Void> movedConcurrently(Visit visit) {
    return passHeld().compose(counted -> claims.drop(visit.claim()));
  }

  /** Records that the new store has the blob, which may have become obsolete during the copy. */
  private Future<Void> recordSwitch(Visit visit) {
    return stored
        .find(visit.blob().key())
        .compose(
            found ->
                found.isPresent()
                    ? store.moved(visit, former().name())
                    : to.blobs()
                        .delete(visit.blob().key())
                        .compose(done -> claims.drop(visit.claim())));
  }

  @Override
  protected Future<Void> settle(Visit visit, @Nullable Throwable cause) {
    if (cause == null) {
      return Future.succeededFuture();
    }
    if (!(cause instanceof BlobNotFoundException) && !(cause instanceof DamagedBlobException)) {
      // A store is down or full, or this process is stopping.
      return leaveToNextWalk(visit, cause);
    }
    return recordFault(visit, cause).recover(e -> leaveToNextWalk(visit, e));
  }

  private Future<Void> leaveToNextWalk(Visit visit, Throwable cause) {
    return passHeld()
        .compose(counted -> claims.release(visit.claim()))
        .compose(
            released ->
                cause instanceof VisitCancelledException
                    ? Future.succeededFuture()
                    : Future.failedFuture(cause));
  }

  /** Records that the blob is lost or damaged, unless it is obsolete or has moved. */
  private Future<Void> recordFault(Visit visit, Throwable cause) {
    StoredBlobs.Blob blob = visit.blob();
    return Future.all(stored.find(blob.key()), to.blobs().exists(blob.key()))
        .compose(
            found -> {
              Optional<StoredBlobs.Blob> needed = found.resultAt(0);
              boolean isMoved = found.<Boolean>resultAt(1);
              if (needed.isEmpty() || isMoved) {
                return claims.drop(visit.claim());
              }
              String detail =
                  cause instanceof BlobNotFoundException
                      ? "the former store has no such blob"
                      : String.valueOf(cause.getMessage());
              return store
                  .keepFault(visit, detail)
                  .onSuccess(
                      kept -> {
                        left++;
                        LOG.error(
                            "revision {} of {} cannot be moved: {} (blob {})",
                            blob.revision(),
                            blob.item(),
                            detail,
                            blob.key());
                      });
            });
  }
}
