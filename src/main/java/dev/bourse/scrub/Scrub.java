package dev.bourse.scrub;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.checkpoint.StoredBlobs;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks one blob after the other, at the configured rate. Steps must not overlap. */
public final class Scrub {
  private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

  /** Interval at which a process renews its claim on a blob. */
  private static final long RENEW_MILLIS = 60_000;

  /**
   * When a claim expires, and when a failed store is tried again: long enough for a process that
   * stalls for a few minutes, or a store that restarts.
   */
  static final long LEFT_MILLIS = 10 * RENEW_MILLIS;

  /** Attempts at a blob that the store has but does not return. */
  static final int ATTEMPTS = 3;

  /** How long the total of stored bytes is cached, because counting reads every revision. */
  private static final long TOTAL_MILLIS = 3_600_000;

  /** How long the number of faults is cached, which other processes change. */
  private static final long COUNT_MILLIS = 60_000;

  private final Vertx vertx;
  private final ScrubStore store;
  private final StoredBlobs stored;
  private final BlobStore blobs;
  private final Optional<FolderRegistry> own;
  private final ScrubConfig config;
  private final LongSupplier nanoTime;
  private final AtomicLong checkedBytes = new AtomicLong();
  private volatile long faults;
  private volatile boolean isStopped;

  // Used by one step at a time.
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
    this.vertx = vertx;
    this.store = store;
    this.stored = stored;
    this.blobs = blobs;
    this.own = own;
    this.config = config;
    this.nanoTime = nanoTime;
  }

  /** Returns the number of known faults, of all processes. */
  public long faults() {
    return faults;
  }

  /** Returns the bytes that this process has checked. */
  public long checkedBytes() {
    return checkedBytes.get();
  }

  /** Cancels the check in progress, which another process then repeats; starts no other. */
  public Future<Void> stop() {
    isStopped = true;
    return Future.succeededFuture();
  }

  /**
   * Checks the next blob if one is due; returns whether one was. Requested checks and expired
   * claims of other processes come first.
   */
  public Future<Boolean> step(long nowMillis) {
    if (isStopped || (nowMillis < restUntilMillis && nowMillis >= restUntilMillis - LEFT_MILLIS)) {
      return Future.succeededFuture(false);
    }
    return own.map(folder -> folder.announce().compose(told -> folder.id()))
        .orElse(Future.succeededFuture(""))
        .compose(
            folder ->
                store.findLeft(nowMillis - LEFT_MILLIS, nowMillis + LEFT_MILLIS, folder, nowMillis))
        .compose(
            left ->
                left.isPresent()
                    ? store.take(left.get(), nowMillis).map(Optional::of)
                    : takeNext(nowMillis))
        .compose(
            claim ->
                claim.isPresent()
                    ? check(claim.get(), nowMillis).map(true)
                    : Future.succeededFuture(false))
        .recover(
            e ->
                e instanceof ScrubStore.ClaimLostException
                    ? Future.succeededFuture(false)
                    : fail(e))
        .compose(done -> countFaults(nowMillis, done).map(done));
  }

  private static <T> Future<T> fail(Throwable cause) {
    return Future.failedFuture(cause);
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

  /** Claims the next blob of the round; empty if it is not due yet. */
  private Future<Optional<ScrubStore.Claim>> takeNext(long nowMillis) {
    int share = config.share();
    if (share == 0) {
      return Future.succeededFuture(Optional.empty());
    }
    return store
        .findMark()
        .compose(
            mark ->
                mark.isPresent()
                    ? Future.succeededFuture(mark)
                    : store.begin(nowMillis).compose(begun -> store.findMark()))
        .map(Optional::orElseThrow)
        .compose(
            mark ->
                total(nowMillis)
                    .compose(
                        all ->
                            mark.pace().isOver(nowMillis, all.bytes(), share)
                                ? takeAfter(mark, all.bytes(), nowMillis)
                                : Future.succeededFuture(Optional.empty())));
  }

  private Future<Optional<ScrubStore.Claim>> takeAfter(
      ScrubStore.Mark mark, long storedBytes, long nowMillis) {
    return stored
        .list(mark.position(), 1)
        .compose(
            next -> {
              if (next.isEmpty()) {
                return (mark.position().isEmpty()
                        ? Future.<Void>succeededFuture()
                        : store.beginRound(mark, nowMillis))
                    .map(Optional.empty());
              }
              StoredBlobs.Blob blob = next.get(0);
              ReadThrottle pace =
                  mark.pace().next(nowMillis, blob.bytes(), storedBytes, config.share());
              return store.advance(mark, blob.key(), pace, nowMillis).map(Optional::of);
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

  /**
   * Skips unpublished blobs, which may still be on their way into the store; a later round checks
   * them.
   */
  private Future<Void> check(ScrubStore.Claim claim, long nowMillis) {
    return stored
        .find(claim.key())
        .map(blob -> blob.filter(StoredBlobs.Blob::isPublished))
        .compose(blob -> blob.isEmpty() ? store.drop(claim) : check(claim, blob.get(), nowMillis));
  }

  private Future<Void> check(ScrubStore.Claim claim, StoredBlobs.Blob blob, long nowMillis) {
    long begin = nanoTime.getAsLong();
    LongSupplier now =
        () -> nowMillis + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin);
    Holding holding = new Holding(claim, now);
    return BlobCheck.run(vertx, nanoTime, blobs, blob, () -> isStopped || holding.isLost)
        .onComplete(done -> holding.end())
        .onSuccess(result -> checkedBytes.addAndGet(result.isEmpty() ? blob.bytes() : 0))
        .recover(e -> postpone(claim, e, now.getAsLong()))
        .compose(result -> settle(claim, blob, result, now.getAsLong()));
  }

  /** Leaves a blob that is missing here to other processes whose disks may have it. */
  private Future<Void> settle(
      ScrubStore.Claim claim, StoredBlobs.Blob blob, Optional<BlobFault> result, long nowMillis) {
    boolean isMissing =
        result.map(BlobFault::kind).filter(BlobFault.Kind.MISSING::equals).isPresent();
    Future<Boolean> isKnown =
        own.filter(folder -> isMissing)
            .map(folder -> folder.recordAbsence(blob.key(), nowMillis))
            .orElse(Future.succeededFuture(true));
    return isKnown.compose(
        known ->
            known
                ? store
                    .settle(claim, blob, result, nowMillis)
                    .compose(settled -> report(blob, result))
                : store.renew(claim, 0));
  }

  /** Renews a claim while the check runs. */
  private final class Holding {
    private final long timer;
    private volatile boolean isLost;

    Holding(ScrubStore.Claim claim, LongSupplier now) {
      timer =
          vertx.setPeriodic(
              RENEW_MILLIS,
              id ->
                  store
                      .renew(claim, now.getAsLong())
                      .onFailure(e -> isLost |= e instanceof ScrubStore.ClaimLostException));
    }

    void end() {
      vertx.cancelTimer(timer);
    }
  }

  /**
   * Leaves a blob that the store did not return to a later attempt of any process; after the last
   * attempt that is a fault.
   */
  private Future<Optional<BlobFault>> postpone(
      ScrubStore.Claim claim, Throwable cause, long nowMillis) {
    if (cause instanceof BlobCheck.CheckStoppedException) {
      return store.renew(claim, 0).compose(told -> fail(new ScrubStore.ClaimLostException()));
    }
    if (cause instanceof StorageFaultException && claim.attempts() >= ATTEMPTS) {
      return Future.succeededFuture(
          Optional.of(
              new BlobFault(BlobFault.Kind.UNREADABLE, String.valueOf(cause.getMessage()))));
    }
    restUntilMillis = nowMillis + LEFT_MILLIS;
    return store.renew(claim, nowMillis).compose(told -> fail(cause));
  }

  /** A blob that was deleted during the check is not a loss, and no fault was stored. */
  private Future<Void> report(StoredBlobs.Blob blob, Optional<BlobFault> result) {
    if (result.isEmpty()) {
      return Future.succeededFuture();
    }
    return store
        .hasFault(blob.key())
        .map(
            isKept -> {
              if (isKept) {
                log(blob, result.get());
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
