package dev.bourse.move;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.blob.Upload;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.core.Digests;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Copies a blob from one store to another through an upload, and continues an interrupted copy. It
 * pauses after each piece for as long as the piece took, so that other users have at least half of
 * both stores.
 */
final class BlobCopy {
  /** Suffix of the upload's name; the sweep deletes abandoned uploads. */
  private static final String ATTEMPT = "move";

  private final Vertx vertx;
  private final LongSupplier nanoTime;
  private final StoredBlobs.Blob blob;
  private final Reading reading;
  private final BooleanSupplier isStopped;

  /** The copy was cancelled. */
  static final class CopyStoppedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CopyStoppedException() {
      super("the copy was stopped", null, false, false);
    }
  }

  /** The blob does not have its length or digest, so nothing was published. */
  static final class DamagedBlobException extends RuntimeException {
    private static final long serialVersionUID = 1;

    DamagedBlobException(String detail) {
      super(detail, null, false, false);
    }
  }

  private BlobCopy(
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
   * Copies and publishes the blob. Fails with {@link DamagedBlobException}, with {@link
   * CopyStoppedException}, with {@link dev.bourse.blob.BlobNotFoundException} if it does not exist,
   * and like the stores.
   *
   * @param isStopped checked before each piece
   */
  static Future<Void> run(
      Vertx vertx,
      LongSupplier nanoTime,
      BlobStore from,
      BlobStore to,
      StoredBlobs.Blob blob,
      BooleanSupplier isStopped) {
    return from.read(blob.key())
        .compose(
            reading ->
                new BlobCopy(vertx, nanoTime, blob, reading, isStopped)
                    .copy(to)
                    .eventually(reading::close));
  }

  private Future<Void> copy(BlobStore to) {
    if (reading.length() != blob.bytes()) {
      return Future.failedFuture(
          new DamagedBlobException(
              "it has %d bytes instead of %d".formatted(reading.length(), blob.bytes())));
    }
    String uploadId = blob.key().replace(blob.sha256(), ATTEMPT);
    MessageDigest digest = Digests.newSha256();
    return to.open(uploadId, digest::update)
        .compose(
            upload -> {
              boolean isFresh = upload.stored() == 0;
              return append(upload)
                  .compose(all -> upload.finish())
                  .eventually(upload::release)
                  .map(isFresh);
            })
        .compose(
            isFresh -> {
              String sha256 = HexFormat.of().formatHex(digest.digest());
              return sha256.equals(blob.sha256())
                  ? to.publish(uploadId, blob.key())
                  : to.abandon(uploadId).compose(done -> mismatch(isFresh, sha256, to));
            });
  }

  /** A continued upload may have been damaged with its machine, so it starts again. */
  private Future<Void> mismatch(boolean isFresh, String sha256, BlobStore to) {
    return isFresh
        ? Future.failedFuture(
            new DamagedBlobException(
                "its bytes have the digest %s instead of %s".formatted(sha256, blob.sha256())))
        : copy(to);
  }

  private Future<Void> append(Upload upload) {
    Promise<Void> copied = Promise.promise();
    appendFrom(upload, upload.stored(), copied);
    return copied.future();
  }

  private void appendFrom(Upload upload, long offset, Promise<Void> copied) {
    if (isStopped.getAsBoolean()) {
      copied.fail(new CopyStoppedException());
      return;
    }
    if (offset >= blob.bytes()) {
      copied.complete();
      return;
    }
    int length = (int) Math.min(BlobStore.MAX_BLOCK_BYTES, blob.bytes() - offset);
    long begin = nanoTime.getAsLong();
    reading
        .piece(offset, length)
        .compose(piece -> upload.append(piece.getBytes(), 0, length))
        .onFailure(copied::tryFail)
        .onSuccess(
            taken -> {
              long took = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - begin);
              vertx.setTimer(
                  Math.max(1, took), pause -> appendFrom(upload, offset + length, copied));
            });
  }
}
