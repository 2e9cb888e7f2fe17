package dev.bourse.checkpoint;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.core.ApiError;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;

/** Finds stored bytes, to whomever they are for, though they are replaced meanwhile. */
public final class ContentService {
  /** A revision replaced between look-up and opening is looked up again; not for ever. */
  private static final int ATTEMPTS = 3;

  private final CheckpointStore store;
  private final BlobStore blobs;

  /** Many download the same small file at once, when a run of many nodes starts. */
  private final SharedLookups<Wanted, Content> lookups = new SharedLookups<>();

  public ContentService(CheckpointStore store, BlobStore blobs) {
    this.store = store;
    this.blobs = blobs;
  }

  /**
   * What is looked for.
   *
   * @param orgId whose, by its members; empty on the public feed
   */
  private record Wanted(String orgId, String id) {}

  /** A revision's bytes, which the caller closes. */
  public record Opened(Content content, Reading bytes) {}

  /** Opens what an organization is shown of its item; {@code gone} when it has none. */
  public Future<Opened> openShown(String orgId, String id) {
    return openShared(
        new Wanted(orgId, id),
        () -> store.findShownContent(orgId, id),
        () -> Checkpoint.unknown(orgId, id));
  }

  /** Opens an item on the public feed; {@code not-found} for any other. */
  public Future<Opened> openPublic(String id) {
    return openShared(
        new Wanted("", id),
        () -> store.findContentOnFeed(id),
        () -> ApiError.notFound("checkpoint", id));
  }

  private Future<Opened> openShared(
      Wanted wanted, Supplier<Future<Optional<Content>>> lookup, Supplier<ApiError> unknown) {
    return open(
        () -> lookups.find(wanted, () -> lookup.get().map(found -> found.orElseThrow(unknown))));
  }

  /**
   * Opens bytes; fails as the finding does, and with {@code conflict} {@code object-missing} when
   * none are complete.
   *
   * @param finding looks for them, anew when they are gone meanwhile
   */
  public Future<Opened> open(Supplier<Future<Content>> finding) {
    return open(finding, ATTEMPTS);
  }

  private Future<Opened> open(Supplier<Future<Content>> finding, int left) {
    return finding
        .get()
        .compose(
            content -> {
              String sha256 = content.sha256();
              if (sha256 == null) {
                throw missing(content);
              }
              return blobs
                  .read(BlobName.key(content.itemId(), content.revision(), sha256))
                  .map(reading -> new Opened(content, reading))
                  .recover(
                      e ->
                          e instanceof BlobGone && left > 1
                              ? open(finding, left - 1)
                              : Future.failedFuture(e instanceof BlobGone ? missing(content) : e));
            });
  }

  private static ApiError missing(Content content) {
    return Refusal.OBJECT_MISSING.of(
        "the bytes of revision "
            + content.revision()
            + " of "
            + content.itemId()
            + " are not there");
  }
}
