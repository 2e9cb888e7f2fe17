package dev.bourse.move;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.ApiError;
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

/** Moves one blob after the other, while a move runs that was asked for. Steps must not overlap. */
public final class Move {
  private static final Logger LOG = LoggerFactory.getLogger(Move.class);

  /** How often whoever copies a blob says so. */
  private static final long TELL_MILLIS = 60_000;

  /** When a claim counts as left: a process that stood still for a few minutes is waited for. */
  static final long LEFT_MILLIS = 10 * TELL_MILLIS;

  /** Blobs of which one step asks where they are, two small questions each. */
  private static final int WALKED = 100;

  /** Blobs that one step deletes where they were. */
  private static final int DELETED = 100;

  /**
   * A store of bytes, as the settings name it.
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

  // Of the step under way alone.
  private long walkOf;
  private String position = "";
  private long left;
  private long waiting;

  /**
   * @param from the former store; empty when there is none
   * @param to the one that takes new blobs
   * @param graceMillis how long a moved blob stays where it was
   * @param nanoTime a clock that nobody sets
   */
  public Move(
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

  /** Breaks off the copy under way, which another process then goes on with; no other begins. */
  public Future<Void> stop() {
    isStopped = true;
    return Future.succeededFuture();
  }

  /**
   * Begins to move everything, or lets a move go on that runs.
   *
   * @throws ApiError {@code conflict} when these are not the stores of the settings
   */
  public Future<MoveStore.Asked> ask(String fromName, String toName, long nowMillis) {
    String formerName = from.map(Place::name).orElse("none");
    if (from.isEmpty() || !isSame(formerName, fromName) || !isSame(to.name(), toName)) {
      throw ApiError.of(
          ErrorCode.CONFLICT,
          """
          checkpoints.former-store is %s and checkpoints.store is %s; files are moved from the one \
          to the other\
          """
              .formatted(formerName, to.name()));
    }
    return store
        .ask(formerName, to.name(), nowMillis)
        .compose(asked -> store.find())
        .map(Optional::orElseThrow);
  }

  /** Names may be typed with the options that addresses have, and without a slash at their end. */
  private static boolean isSame(String name, String typed) {
    String place = typed.replaceFirst("\\?.*", "");
    return name.equals(place) || name.equals(place + '/');
  }

  /**
   * How far the move is.
   *
   * @param asked empty when none was ever asked for
   * @param trouble what this process failed at last; null when all goes well
   */
  public record Progress(
      Optional<MoveStore.Asked> asked, @Nullable String trouble, List<MoveStore.Found> faults) {}

  /**
   * Tells how far the move is, with what cannot be moved in the order of keys.
   *
   * @param after the key behind which the faults begin; empty for the first
   */
  public Future<Progress> progress(String after, int limit) {
    Future<Optional<MoveStore.Asked>> asked = store.find();
    Future<List<MoveStore.Found>> faults = store.listFaults(after, limit);
    return Future.all(asked, faults)
        .map(read -> new Progress(asked.result(), trouble, faults.result()));
  }

  /** Copies the next blob, or deletes some that were moved; tells whether it did. */
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

  /** Only what the new store has, or what nothing is read from any more. */
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

  /** Goes on with the walk through all blobs, to the next that it copies or so many further. */
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
        .walked(asked, found, isEnd, nowMillis)
        .onSuccess(
            told -> {
              if (isEnd) {
                LOG.info("stored files are moved to {}; {} could not be", to.name(), found);
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

  /** Whether the blob was copied, which ends a step: the clock has gone on meanwhile. */
  private Future<Boolean> pass(StoredBlobs.Blob blob, Place former, long nowMillis) {
    Future<Boolean> isThere = to.blobs().exists(blob.key());
    Future<Boolean> isHere = former.blobs().exists(blob.key());
    return Future.all(isThere, isHere)
        .compose(
            asked -> {
              if (isThere.result()) {
                return isHere.result()
                    ? store
                        .isInBoth(blob.key(), former.name(), nowMillis, nowMillis - LEFT_MILLIS)
                        .map(false)
                    : Future.succeededFuture(false);
              }
              if (!isHere.result() && !blob.isPublished()) {
                // On its way into the new store, as everything that arrives now.
                return Future.succeededFuture(false);
              }
              if (!isHere.result() && !former.isShared()) {
                // On another process's disk, which moves it itself, or lost.
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
            TELL_MILLIS,
            id ->
                store
                    .tell(claim, now.getAsLong())
                    .onFailure(e -> isLost[0] |= e instanceof MoveStore.LostRace));
    return to.blobs()
        .exists(blob.key())
        .compose(
            isMoved ->
                isMoved
                    ? movedMeanwhile(claim)
                    : BlobCopy.run(
                            vertx,
                            nanoTime,
                            former.blobs(),
                            to.blobs(),
                            blob,
                            () -> isStopped || isLost[0])
                        .compose(copied -> switched(claim, blob, former, now.getAsLong())))
        .onComplete(done -> vertx.cancelTimer(timer))
        .recover(e -> failed(claim, blob, e, now.getAsLong()))
        .recover(
            e ->
                e instanceof MoveStore.LostRace
                    ? Future.succeededFuture()
                    : Future.failedFuture(e));
  }

  /** Another process had the claim until after this one looked; the next walk sees both stores. */
  private Future<Void> movedMeanwhile(MoveStore.Claim claim) {
    left++;
    waiting++;
    return store.drop(claim);
  }

  /** The new store has the blob. It may have become useless while it was copied. */
  private Future<Void> switched(
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
    if (cause instanceof MoveStore.LostRace) {
      return Future.failedFuture(cause);
    }
    if (!(cause instanceof BlobGone) && !(cause instanceof BlobCopy.Damaged)) {
      // A store that is away or full, or the end of this process: the next walk comes by again.
      left++;
      waiting++;
      return store
          .tell(claim, 0)
          .compose(
              told ->
                  cause instanceof BlobCopy.Stopped
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
                  cause instanceof BlobGone
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
