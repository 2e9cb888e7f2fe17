package dev.bourse.scrub;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.Digests;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobClaims;
import dev.bourse.walk.BlobWalker;
import dev.bourse.walk.ClaimLostException;
import dev.bourse.walk.DamagedBlobException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks one blob after the other, at the configured rate. Steps must not overlap. */
public final class Scrub extends BlobWalker {
  private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

  /** When a failed store is tried again: long enough for one that restarts. */
  static final long REST_MILLIS = BlobClaims.EXPIRY_MILLIS;

  /** Attempts at a blob that the store has but does not return. */
  static final int ATTEMPTS = 3;

  /** How long the total of stored bytes is cached, because counting reads every revision. */
  private static final long TOTAL_MILLIS = 3_600_000;

  /** How long the number of faults is cached, which other processes change. */
  private static final long COUNT_MILLIS = 60_000;

  private final ScrubStore store;
  private final BlobStore blobs;
  private final Optional<FolderRegistry> own;
  private final ScrubConfig config;
  private final AtomicLong checkedBytes = new AtomicLong();
  private volatile long faults;

  // Used by one step at a time.
  private ScrubStore.@Nullable Mark mark;
  private StoredBlobs.@Nullable Total total;
  private long totalAtMillis;
  private long countedAtMillis = Long.MIN_VALUE / 2;
  private long restUntilMillis = Long.MIN_VALUE;

  /**
   * @param own the registry of folders where each process of the database has its own blobs; empty
   *     if all see the same
   * @param nanoTime the monotonic clock
   */
  public Scrub(
      Vertx vertx,
      ScrubStore store,
      StoredBlobs stored,
      BlobStore blobs,
      Optional<FolderRegistry> own,
      ScrubConfig config,
      LongSupplier nanoTime) {
    super(vertx, stored, store.claims(), 1, nanoTime);
    this.store = store;
    this.blobs = blobs;
    this.own = own;
    this.config = config;
  }

  /** Returns the number of known faults, of all processes. */
  public long faults() {
    return faults;
  }

  /** Returns the bytes that this process has checked. */
  public long checkedBytes() {
    return checkedBytes.get();
  }

  /**
   * Checks the next blob if one is due; returns whether one was. Requested checks and expired
   * claims of other processes come first.
   */
  public Future<Boolean> step(long nowMillis) {
    if (isStopped()
        || (nowMillis < restUntilMillis && nowMillis >= restUntilMillis - REST_MILLIS)) {
      return Future.succeededFuture(false);
    }
    return walk(nowMillis).compose(done -> countFaults(nowMillis, done).map(done));
  }

  private Future<Void> countFaults(long nowMillis, boolean isNews) {
    if (!isNews && nowMillis >= countedAtMillis && nowMillis < countedAtMillis + COUNT_MILLIS) {
      return Future.succeededFuture();
    }
    return store
        .countFaults()
        .compose(
            known ->
                known == 0
                    ? Future.succeededFuture(known)
                    : store.forgetUseless().compose(done -> store.countFaults()))
        .map(
            known -> {
              faults = known;
              countedAtMillis = nowMillis;
              return null;
            });
  }

  private Future<StoredBlobs.Total> total(long nowMillis) {
    StoredBlobs.Total known = total;
    if (known != null && nowMillis >= totalAtMillis && nowMillis < totalAtMillis + TOTAL_MILLIS) {
      return Future.succeededFuture(known);
    }
    return stored
        .total()
        .onSuccess(
            counted -> {
              total = counted;
              totalAtMillis = nowMillis;
            });
  }

  @Override
  protected Future<Optional<BlobClaims.Claim>> findUrgent(long nowMillis) {
    return own.map(folder -> folder.announce().compose(told -> folder.id()))
        .orElse(Future.succeededFuture(""))
        .compose(folder -> store.findExpired(folder, nowMillis));
  }

  /** Returns the position of the round, which all processes share, when its next blob is due. */
  @Override
  protected Future<Optional<String>> position(long nowMillis) {
    if (config.share() == 0) {
      return Future.succeededFuture(Optional.empty());
    }
    return store
        .findMark()
        .compose(
            found ->
                found.isPresent()
                    ? Future.succeededFuture(found)
                    : store.begin(nowMillis).compose(begun -> store.findMark()))
        .compose(
            found -> {
              mark = found.orElseThrow();
              return total(nowMillis)
                  .map(
                      all ->
                          found
                              .filter(m -> m.pace().isOver(nowMillis, all.bytes(), config.share()))
                              .map(ScrubStore.Mark::position));
            });
  }

  private ScrubStore.Mark mark() {
    return Objects.requireNonNull(mark);
  }

  @Override
  protected Future<Optional<List<Statement>>> pass(StoredBlobs.Blob blob, long nowMillis) {
    return total(nowMillis)
        .map(
            all ->
                Optional.of(
                    List.of(
                        store.advance(
                            mark(),
                            blob.key(),
                            mark()
                                .pace()
                                .next(nowMillis, blob.bytes(), all.bytes(), config.share())))));
  }

  @Override
  protected Future<Void> passHeld() {
    return Future.failedFuture(new ClaimLostException());
  }

  @Override
  protected Future<Void> end(long nowMillis) {
    return mark().position().isEmpty()
        ? Future.succeededFuture()
        : store.beginRound(mark(), nowMillis);
  }

  /**
   * Skips unpublished blobs, which may still be on their way into the store; a later round checks
   * them.
   */
  @Override
  protected Future<Void> visit(Visit visit) {
    MessageDigest digest = Digests.newSha256();
    return visit.blob().isPublished()
        ? visit.read(
            blobs,
            reading ->
                visit
                    .eachPiece(
                        reading,
                        0,
                        piece ->
                            vertx.executeBlocking(
                                () -> {
                                  digest.update(piece.getBytes());
                                  return null;
                                },
                                false))
                    .compose(all -> visit.requireDigest(digest)))
        : Future.succeededFuture();
  }

  @Override
  protected Future<Void> settle(Visit visit, @Nullable Throwable failure) {
    if (!visit.blob().isPublished()) {
      return claims.drop(visit.claim());
    }
    if (failure == null) {
      checkedBytes.addAndGet(visit.blob().bytes());
      return store.settle(visit.claim(), visit.blob(), Optional.empty(), visit.nowMillis());
    }
    Optional<BlobFault> fault = faultOf(visit.claim(), failure);
    return fault.isPresent() ? recordFault(visit, fault.get()) : postpone(visit, failure);
  }

  /** Returns the fault that a failed check found; empty if the check must be repeated. */
  private static Optional<BlobFault> faultOf(BlobClaims.Claim claim, Throwable cause) {
    String detail = String.valueOf(cause.getMessage());
    if (cause instanceof BlobNotFoundException) {
      return Optional.of(new BlobFault(BlobFault.Kind.MISSING, "the store has no such blob"));
    }
    if (cause instanceof DamagedBlobException damaged) {
      return Optional.of(
          new BlobFault(
              damaged.isLength() ? BlobFault.Kind.LENGTH : BlobFault.Kind.DIGEST, detail));
    }
    return cause instanceof StorageFaultException && claim.attempts() >= ATTEMPTS
        ? Optional.of(new BlobFault(BlobFault.Kind.UNREADABLE, detail))
        : Optional.empty();
  }

  /** Leaves a blob that is missing here to other processes whose disks may have it. */
  private Future<Void> recordFault(Visit visit, BlobFault fault) {
    StoredBlobs.Blob blob = visit.blob();
    Future<Boolean> isKnown =
        own.filter(folder -> fault.kind() == BlobFault.Kind.MISSING)
            .map(folder -> folder.recordAbsence(blob.key(), visit.nowMillis()))
            .orElse(Future.succeededFuture(true));
    return isKnown.compose(
        known ->
            known
                ? store
                    .settle(visit.claim(), blob, Optional.of(fault), visit.nowMillis())
                    .compose(settled -> report(blob, fault))
                : claims.release(visit.claim()));
  }

  /** Leaves a blob that the store did not return to a later attempt of any process. */
  private Future<Void> postpone(Visit visit, Throwable cause) {
    if (cause instanceof VisitCancelledException) {
      return claims
          .release(visit.claim())
          .compose(released -> Future.failedFuture(new ClaimLostException()));
    }
    restUntilMillis = visit.nowMillis() + REST_MILLIS;
    return claims
        .renew(visit.claim(), visit.nowMillis())
        .compose(told -> Future.failedFuture(cause));
  }

  /** A blob that was deleted during the check is not a loss, and no fault was stored. */
  private Future<Void> report(StoredBlobs.Blob blob, BlobFault fault) {
    return store
        .hasFault(blob.key())
        .map(
            isKept -> {
              if (isKept) {
                log(blob, fault);
              }
              return null;
            });
  }

  private static void log(StoredBlobs.Blob blob, BlobFault fault) {
    LOG.error(
        "the bytes of revision {} of {} are {}: {} (blob {})",
        blob.revision(),
        blob.item(),
        switch (fault.kind()) {
          case MISSING -> "lost";
          case LENGTH, DIGEST -> "different from those that were published";
          case UNREADABLE -> "not returned by the store";
        },
        fault.detail(),
        blob.key());
  }

  /** Schedules a check of all blobs of an item by any process; returns their number. */
  public Future<Integer> ask(String item) {
    return stored
        .listOf(item)
        .compose(
            found ->
                store.ask(found.stream().map(StoredBlobs.Blob::key).toList()).map(found.size()));
  }

  /**
   * The progress of the scrub.
   *
   * @param round the number of the round, from 1; 0 before the first
   * @param roundSinceMillis null before the first round
   * @param waiting blobs that are being checked or come next
   */
  public record Progress(
      double share,
      int round,
      @Nullable Long roundSinceMillis,
      long checkedBlobs,
      long checkedBytes,
      StoredBlobs.Total stored,
      long waiting,
      List<ScrubStore.Found> faults) {}

  /**
   * Returns the progress, with faults in the order of their keys.
   *
   * @param after the key after which the faults begin; empty to start
   */
  public Future<Progress> progress(String after, int limit) {
    Future<Optional<ScrubStore.Mark>> mark = store.findMark();
    Future<StoredBlobs.Total> all = stored.total();
    Future<Long> waiting = store.countClaims();
    Future<List<ScrubStore.Found>> found = store.listFaults(after, limit);
    return Future.all(mark, all, waiting, found)
        .map(
            read ->
                new Progress(
                    config.fraction(),
                    mark.result().map(ScrubStore.Mark::round).orElse(0),
                    mark.result().map(ScrubStore.Mark::roundSinceMillis).orElse(null),
                    mark.result().map(ScrubStore.Mark::checkedBlobs).orElse(0L),
                    mark.result().map(ScrubStore.Mark::checkedBytes).orElse(0L),
                    all.result(),
                    waiting.result(),
                    found.result()));
  }
}
