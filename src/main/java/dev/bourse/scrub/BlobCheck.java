package dev.bourse.scrub;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.Digests;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Reads a whole blob and compares its length and digest with the records. It pauses after each
 * piece for as long as the piece took, so that readers and uploads have at least half of the store
 * and of a core.
 */
final class BlobCheck {
  private static final Optional<BlobFault> WHOLE = Optional.empty();

  /** The check was cancelled. */
  static final class CheckStoppedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CheckStoppedException() {
      super("the check was stopped", null, false, false);
    }
  }

  private final Vertx vertx;
  private final StoredBlobs.Blob blob;
  private final Reading reading;
  private final LongSupplier nanoTime;
  private final BooleanSupplier isStopped;
  private final MessageDigest digest = Digests.newSha256();

  private BlobCheck(
      Vertx vertx,
      LongSupplier nanoTime,
      StoredBlobs.Blob blob,
      Reading reading,
      BooleanSupplier isStopped) {
    this.vertx = vertx;
    this.nanoTime = nanoTime;
    this.blob = blob;
    this.reading = reading;
    this.isStopped = isStopped;
  }

  /**
   * Checks the blob; empty if it is intact. Fails if the store does not answer, and with {@link
   * CheckStoppedException}.
   *
   * @param isStopped checked before each piece
   */
  static Future<Optional<BlobFault>> run(
      Vertx vertx,
      LongSupplier nanoTime,
      BlobStore blobs,
      StoredBlobs.Blob blob,
      BooleanSupplier isStopped) {
    return blobs
        .read(blob.key())
        .compose(
            reading ->
                new BlobCheck(vertx, nanoTime, blob, reading, isStopped)
                    .compare()
                    .eventually(reading::close))
        .recover(
            e ->
                e instanceof BlobNotFoundException
                    ? fault(BlobFault.Kind.MISSING, "the store has no such blob")
                    : Future.failedFuture(e));
  }

  private static Future<Optional<BlobFault>> fault(BlobFault.Kind kind, String detail) {
    return Future.succeededFuture(Optional.of(new BlobFault(kind, detail)));
  }

  private Future<Optional<BlobFault>> compare() {
    if (reading.length() != blob.bytes()) {
      return fault(
          BlobFault.Kind.LENGTH,
          "it has %d bytes instead of %d".formatted(reading.length(), blob.bytes()));
    }
    Promise<Void> read = Promise.promise();
    readFrom(0, read);
    return read.future()
        .compose(
            all -> {
              String found = HexFormat.of().formatHex(digest.digest());
              return found.equals(blob.sha256())
                  ? Future.succeededFuture(WHOLE)
                  : fault(
                      BlobFault.Kind.DIGEST,
                      "its bytes have the digest %s instead of %s".formatted(found, blob.sha256()));
            });
  }

  private void readFrom(long offset, Promise<Void> read) {
    if (isStopped.getAsBoolean()) {
      read.fail(new CheckStoppedException());
      return;
    }
    if (offset == blob.bytes()) {
      read.complete();
      return;
    }
    int length = (int) Math.min(BlobStore.MAX_BLOCK_BYTES, blob.bytes() - offset);
    long begin = nanoTime.getAsLong();
    reading
        .piece(offset, length)
        .compose(
            piece ->
                vertx.executeBlocking(
                    () -> {
                      digest.update(piece.getBytes());
                      return null;
                    },
                    false))
        .onFailure(read::tryFail)
        .onSuccess(
            seen -> {
              long took = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin);
              vertx.setTimer(Math.max(1, took), pause -> readFrom(offset + length, read));
            });
  }
}
