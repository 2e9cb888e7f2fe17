package dev.bourse.scrub;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFault;
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

/** Checks one blob after the other, at the pace of its setting. Steps must not overlap. */
public final class Scrub {
  private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

  /** How often whoever reads a blob says so. */
  private static final long TELL_MILLIS = 60_000;

  /**
   * When a claim counts as left, and when a store that did not answer is asked again: a process
   * that stood still for a few minutes, or a store that is being restarted, is waited for.
   */
  static final long LEFT_MILLIS = 10 * TELL_MILLIS;

  /** How often a blob is tried that the store has and does not give. */
  static final int ATTEMPTS = 3;

  /** For how long the number of stored bytes is taken for known: counting reads every revision. */
  private static final long TOTAL_MILLIS = 3_600_000;

  /** How soon the number of faults tells what other processes found. */
  private static final long COUNT_MILLIS = 60_000;

  private final Vertx vertx;
  private final ScrubStore store;
  private final StoredBlobs stored;
  private final BlobStore blobs;
  private final Optional<OwnFolder> own;
  private final ScrubConfig config;
  private final LongSupplier nanoTime;
  private final AtomicLong checkedBytes = new AtomicLong();
  private volatile long faults;
  private volatile boolean isStopped;

  // Of the step under way alone.
  private StoredBlobs.@Nullable Total total;
  private long totalAtMillis;
  private long countedAtMillis = Long.MIN_VALUE / 2;
  private long restUntilMillis = Long.MIN_VALUE;

  /**
   * @param own where each process of the database has blobs of its own; empty where all see the
   *     same
   * @param nanoTime a clock that nobody sets
   */
  public Scrub(
      Vertx vertx,
      ScrubStore store,
      StoredBlobs stored,
      BlobStore blobs,
      Optional<OwnFolder> own,
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

  /** How many faults are known, of all processes. */
  public long faults() {
    return faults;
  }

  /** How many bytes this process has checked. */
  public long checkedBytes() {
    return checkedBytes.get();
  }

  /** Breaks off the check under way, which another process then takes up; no other begins. */
  public Future<Void> stop() {
    isStopped = true;
    return Future.succeededFuture();
  }

  /**
   * Checks the next blob if one is due; tells whether one was. What somebody asked for, and what
   * another process left, goes first.
   */
  public Future<Boolean> step(long nowMillis) {
    if (isStopped || (nowMillis < restUntilMillis && nowMillis >= restUntilMillis - LEFT_MILLIS)) {
      return Future.succeededFuture(false);
    }
    return own.map(folder -> folder.tell().compose(told -> folder.id()))
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
        .recover(e -> e instanceof ScrubStore.LostRace ? Future.succeededFuture(false) : fail(e))
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

  /** The claim on the next blob of the round; empty when it is not due yet. */
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
              Pace pace = mark.pace().next(nowMillis, blob.bytes(), storedBytes, config.share());
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

  /** What is not published yet may still be on its way into the store; a later round meets it. */
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
        .recover(e -> unanswered(claim, e, now.getAsLong()))
        .compose(result -> settle(claim, blob, result, now.getAsLong()));
  }

  /** Leaves to the others what is not here and may be on a disk of theirs. */
  private Future<Void> settle(
      ScrubStore.Claim claim, StoredBlobs.Blob blob, Optional<Fault> result, long nowMillis) {
    boolean isMissing = result.map(Fault::kind).filter(Fault.Kind.MISSING::equals).isPresent();
    Future<Boolean> isKnown =
        own.filter(folder -> isMissing)
            .map(folder -> folder.lacks(blob.key(), nowMillis))
            .orElse(Future.succeededFuture(true));
    return isKnown.compose(
        known ->
            known
                ? store
                    .settle(claim, blob, result, nowMillis)
                    .compose(settled -> report(blob, result))
                : store.tell(claim, 0));
  }

  /** Says at a claim that somebody is at it, for as long as that is so. */
  private final class Holding {
    private final long timer;
    private volatile boolean isLost;

    Holding(ScrubStore.Claim claim, LongSupplier now) {
      timer =
          vertx.setPeriodic(
              TELL_MILLIS,
              id ->
                  store
                      .tell(claim, now.getAsLong())
                      .onFailure(e -> isLost |= e instanceof ScrubStore.LostRace));
    }

    void end() {
      vertx.cancelTimer(timer);
    }
  }

  /**
   * Leaves a blob for later that the store did not give, to whoever comes first; at the last
   * attempt that is the result.
   */
  private Future<Optional<Fault>> unanswered(
      ScrubStore.Claim claim, Throwable cause, long nowMillis) {
    if (cause instanceof BlobCheck.Stopped) {
      return store.tell(claim, 0).compose(told -> fail(new ScrubStore.LostRace()));
    }
    if (cause instanceof StorageFault && claim.attempts() >= ATTEMPTS) {
      return Future.succeededFuture(
          Optional.of(new Fault(Fault.Kind.UNREADABLE, String.valueOf(cause.getMessage()))));
    }
    restUntilMillis = nowMillis + LEFT_MILLIS;
    return store.tell(claim, nowMillis).compose(told -> fail(cause));
  }

  /** What was deleted while it was read is no loss, and no fault of it was kept. */
  private Future<Void> report(StoredBlobs.Blob blob, Optional<Fault> result) {
    if (result.isEmpty()) {
      return Future.succeededFuture();
    }
    return store
        .hasFault(blob.key())
        .map(
            isKept -> {
              if (isKept) {
                tell(blob, result.get());
              }
              return null;
            });
  }

  private static void tell(StoredBlobs.Blob blob, Fault fault) {
    LOG.error(
        "the bytes of revision {} of {} are {}: {} (blob {})",
        blob.revision(),
        blob.item(),
        switch (fault.kind()) {
          case MISSING -> "lost";
          case LENGTH, DIGEST -> "not what was published";
          case UNREADABLE -> "not given by the store";
        },
        fault.detail(),
        blob.key());
  }

  /** Has all blobs of an item checked next, by whichever process; tells how many. */
  public Future<Integer> ask(String item) {
    return stored
        .listOf(item)
        .compose(
            found ->
                store.ask(found.stream().map(StoredBlobs.Blob::key).toList()).map(found.size()));
  }

  /**
   * How far the scrub is.
   *
   * @param round the number of the round, from 1; 0 before the first
   * @param roundSinceMillis null before the first round
   * @param waiting blobs that are being checked or will be next
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
   * Tells how far it is, with faults in the order of their keys.
   *
   * @param after the key behind which the faults begin; empty for the first
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
