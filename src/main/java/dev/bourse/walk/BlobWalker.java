package dev.bourse.walk;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Visits one stored blob after the other, each by one process at a time. Steps must not overlap.
 */
public abstract class BlobWalker {
  protected final Vertx vertx;
  protected final StoredBlobs stored;
  protected final BlobClaims claims;
  private final int pageSize;
  private final LongSupplier nanoTime;
  private volatile boolean isStopped;

  /**
   * @param pageSize the most blobs that one step passes
   * @param nanoTime the monotonic clock
   */
  protected BlobWalker(
      Vertx vertx, StoredBlobs stored, BlobClaims claims, int pageSize, LongSupplier nanoTime) {
    this.vertx = vertx;
    this.stored = stored;
    this.claims = claims;
    this.pageSize = pageSize;
    this.nanoTime = nanoTime;
  }

  /** Cancels the visit in progress, which another process then continues; starts no other. */
  public final Future<Void> stop() {
    isStopped = true;
    return Future.succeededFuture();
  }

  protected final boolean isStopped() {
    return isStopped;
  }

  /** Finds an expired claim whose blob is visited before the next one in order. */
  protected Future<Optional<BlobClaims.Claim>> findUrgent(long nowMillis) {
    return Future.succeededFuture(Optional.empty());
  }

  /** Returns the key after which the walk continues; empty if no blob is due. */
  protected abstract Future<Optional<String>> position(long nowMillis);

  /**
   * Advances to the blob and decides whether it is visited.
   *
   * @return statements to commit with the claim on the blob; empty if it is not visited
   */
  protected abstract Future<Optional<List<Statement>>> pass(StoredBlobs.Blob blob, long nowMillis);

  /**
   * Passes a blob that another process visits, or that could not be looked at; fails to try it
   * again in the next step.
   */
  protected abstract Future<Void> passHeld();

  /** Ends the walk after the last blob. */
  protected abstract Future<Void> end(long nowMillis);

  /** Reads the blob while the claim is renewed. */
  protected abstract Future<Void> visit(Visit visit);

  /**
   * Ends or releases the claim after a visit.
   *
   * @param failure null if the visit succeeded
   */
  protected abstract Future<Void> settle(Visit visit, @Nullable Throwable failure);

  /** Passes blobs up to the next visit, or a page; returns false if there was no work. */
  protected final Future<Boolean> walk(long nowMillis) {
    return findUrgent(nowMillis)
        .compose(
            urgent ->
                urgent.isPresent()
                    ? claims
                        .take(urgent.get(), List.of(), nowMillis)
                        .compose(claim -> visit(claim, nowMillis))
                        .map(true)
                    : advance(nowMillis))
        .recover(
            e ->
                e instanceof ClaimLostException
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }

  private Future<Boolean> advance(long nowMillis) {
    return position(nowMillis)
        .compose(
            position ->
                position.isEmpty()
                    ? Future.succeededFuture(false)
                    : stored
                        .list(position.get(), pageSize)
                        .compose(
                            blobs ->
                                blobs.isEmpty()
                                    ? end(nowMillis).map(false)
                                    : pass(blobs, 0, nowMillis).map(true)));
  }

  /** Passes blobs until one is visited, which ends the step, because the time has advanced. */
  private Future<Void> pass(List<StoredBlobs.Blob> blobs, int index, long nowMillis) {
    if (index == blobs.size() || isStopped) {
      return Future.succeededFuture();
    }
    StoredBlobs.Blob blob = blobs.get(index);
    return passHeldOnFailure(pass(blob, nowMillis))
        .compose(
            progress ->
                progress.isEmpty()
                    ? pass(blobs, index + 1, nowMillis)
                    : passHeldOnFailure(claims.take(blob.key(), progress.get(), nowMillis))
                        .compose(
                            claim ->
                                claim.isPresent()
                                    ? visit(claim.get(), nowMillis)
                                    : passHeld()
                                        .compose(held -> pass(blobs, index + 1, nowMillis))));
  }

  /** Passes the blob as held if the call fails, because the position is already behind it. */
  private <T> Future<T> passHeldOnFailure(Future<T> call) {
    return call.recover(e -> passHeld().transform(passed -> Future.failedFuture(e)));
  }

  /** Visits a blob, unless it is obsolete. Releases the claim if the blob cannot be looked up. */
  private Future<Void> visit(BlobClaims.Claim claim, long nowMillis) {
    return passHeldOnFailure(
            stored
                .find(claim.key())
                .recover(e -> claims.release(claim).transform(released -> Future.failedFuture(e))))
        .compose(
            blob ->
                blob.isEmpty()
                    ? claims.drop(claim)
                    : new Visit(claim, blob.get(), nowMillis).run());
  }

  /** The visit was cancelled because its process stops or lost the claim. */
  public static final class VisitCancelledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    VisitCancelledException() {
      super("the visit of the blob was cancelled", null, false, false);
    }
  }

  /** A visit of one blob by the process that has the claim on it. */
  public final class Visit {
    private final BlobClaims.Claim claim;
    private final StoredBlobs.Blob blob;
    private final long beganAtMillis;
    private final long beganAtNanos = nanoTime.getAsLong();
    private volatile boolean isLost;

    private Visit(BlobClaims.Claim claim, StoredBlobs.Blob blob, long nowMillis) {
      this.claim = claim;
      this.blob = blob;
      this.beganAtMillis = nowMillis;
    }

    public BlobClaims.Claim claim() {
      return claim;
    }

    public StoredBlobs.Blob blob() {
      return blob;
    }

    /** Returns the time of the step, plus the duration of the visit so far. */
    public long nowMillis() {
      return beganAtMillis + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - beganAtNanos);
    }

    private Future<Void> run() {
      long timer =
          vertx.setPeriodic(
              BlobClaims.RENEW_MILLIS,
              id ->
                  claims
                      .renew(claim, nowMillis())
                      .onFailure(e -> isLost |= e instanceof ClaimLostException));
      return visit(this)
          .onComplete(done -> vertx.cancelTimer(timer))
          .transform(result -> settle(this, result.cause()));
    }

    /**
     * Opens the blob, and closes it after its use. Fails with {@link
     * dev.bourse.blob.BlobNotFoundException} if the store has none, and with {@link
     * DamagedBlobException} if its length is wrong.
     */
    public <T> Future<T> read(BlobStore store, Function<Reading, Future<T>> use) {
      return store
          .read(blob.key())
          .compose(
              reading ->
                  (reading.length() == blob.bytes()
                          ? use.apply(reading)
                          : Future.<T>failedFuture(
                              new DamagedBlobException(
                                  true,
                                  "it has %d bytes instead of %d"
                                      .formatted(reading.length(), blob.bytes()))))
                      .eventually(reading::close));
    }

    /**
     * Reads the blob piece by piece. It pauses after each piece for as long as the piece took, so
     * that other users have at least half of the store and of a core. Fails with {@link
     * VisitCancelledException} when the visit is cancelled.
     *
     * @param taker takes each piece before the next one is read
     */
    public Future<Void> eachPiece(Reading reading, long from, Function<Buffer, Future<?>> taker) {
      Promise<Void> read = Promise.promise();
      readFrom(reading, from, taker, read);
      return read.future();
    }

    private void readFrom(
        Reading reading, long offset, Function<Buffer, Future<?>> taker, Promise<Void> read) {
      if (isStopped || isLost) {
        read.fail(new VisitCancelledException());
        return;
      }
      if (offset >= blob.bytes()) {
        read.complete();
        return;
      }
      int length = (int) Math.min(BlobStore.MAX_BLOCK_BYTES, blob.bytes() - offset);
      long begin = nanoTime.getAsLong();
      reading
          .piece(offset, length)
          .compose(piece -> taker.apply(piece).<@Nullable Void>mapEmpty())
          .onFailure(read::tryFail)
          .onSuccess(
              taken -> {
                long took = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin);
                vertx.setTimer(
                    Math.max(1, took), pause -> readFrom(reading, offset + length, taker, read));
              });
    }

    /** Fails with {@link DamagedBlobException} unless this is the digest of the blob's bytes. */
    public Future<Void> requireDigest(MessageDigest digest) {
      String found = HexFormat.of().formatHex(digest.digest());
      return found.equals(blob.sha256())
          ? Future.succeededFuture()
          : Future.failedFuture(
              new DamagedBlobException(
                  false,
                  "its bytes have the digest %s instead of %s".formatted(found, blob.sha256())));
    }
  }
}
