package dev.bourse.move;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.blob.Upload;
import dev.bourse.core.Digests;
import dev.bourse.walk.BlobWalker;
import io.vertx.core.Future;
import java.security.MessageDigest;

/** Copies a blob from one store to another through an upload, and continues an interrupted copy. */
record BlobCopy(BlobWalker.Visit visit, BlobStore from, BlobStore to) {
  /** Suffix of the upload's name; the sweep deletes abandoned uploads. */
  private static final String ATTEMPT = "move";

  /** Copies and publishes the blob. Fails like the stores and like a {@link BlobWalker.Visit}. */
  Future<Void> run() {
    return visit.read(from, this::copy);
  }

  private Future<Void> copy(Reading reading) {
    String key = visit.blob().key();
    String uploadId = key.replace(visit.blob().sha256(), ATTEMPT);
    MessageDigest digest = Digests.newSha256();
    return to.open(uploadId, digest::update)
        .compose(
            upload -> {
              boolean isFresh = upload.stored() == 0;
              return append(reading, upload)
                  .compose(all -> upload.finish())
                  .eventually(upload::release)
                  .map(isFresh);
            })
        .compose(
            isFresh ->
                visit
                    .requireDigest(digest)
                    .compose(
                        whole -> to.publish(uploadId, key),
                        damaged ->
                            to.abandon(uploadId)
                                .compose(
                                    abandoned ->
                                        // A continued upload may have been damaged with its
                                        // machine, so it starts again.
                                        isFresh ? Future.failedFuture(damaged) : copy(reading))));
  }

  private Future<Void> append(Reading reading, Upload upload) {
    return visit.eachPiece(
        reading, upload.stored(), piece -> upload.append(piece.getBytes(), 0, piece.length()));
  }
}
