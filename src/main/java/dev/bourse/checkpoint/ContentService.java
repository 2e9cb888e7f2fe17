package dev.bourse.checkpoint;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.core.ApiError;
import io.vertx.core.Future;
import java.util.function.Function;
import java.util.function.Supplier;

/** Finds stored bytes, to whomever they are for, though they are replaced meanwhile. */
public final class ContentService {
  /** A revision replaced between look-up and opening is looked up again; not for ever. */
  private static final int ATTEMPTS = 3;

  private final BlobStore blobs;

  public ContentService(BlobStore blobs) {
    this.blobs = blobs;
  }

  /** A revision and its bytes, which the caller closes. */
  public record Opened(Revision revision, Reading bytes) {}

  /**
   * Opens the bytes of one revision; fails as the finding does, and with {@code conflict} {@code
   * object-missing} when no bytes are complete.
   *
   * @param finding the item, looked up anew when its bytes are gone meanwhile
   * @param choosing which of its revisions
   */
  public Future<Opened> open(
      Supplier<Future<CheckpointStore.Listed>> finding, Function<Checkpoint, Revision> choosing) {
    return open(finding, choosing, ATTEMPTS);
  }

  private Future<Opened> open(
      Supplier<Future<CheckpointStore.Listed>> finding,
      Function<Checkpoint, Revision> choosing,
      int left) {
    return finding
        .get()
        .compose(
            found -> {
              Checkpoint item = found.item();
              Revision revision = choosing.apply(item);
              String sha256 = revision.sha256();
              if (sha256 == null) {
                throw missing(item, revision);
              }
              return blobs
                  .read(BlobName.key(item.id(), revision.number(), sha256))
                  .map(reading -> new Opened(revision, reading))
                  .recover(
                      e ->
                          e instanceof BlobGone && left > 1
                              ? open(finding, choosing, left - 1)
                              : Future.failedFuture(
                                  e instanceof BlobGone ? missing(item, revision) : e));
            });
  }

  private static ApiError missing(Checkpoint item, Revision revision) {
    return Refusal.OBJECT_MISSING.of(
        "the bytes of revision " + revision.number() + " of " + item.id() + " are not there");
  }
}
