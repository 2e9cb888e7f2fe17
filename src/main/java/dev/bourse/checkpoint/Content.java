package dev.bourse.checkpoint;

import org.jspecify.annotations.Nullable;

/**
 * What serving the bytes of a revision takes.
 *
 * @param itemId the item's
 * @param revision the revision's number
 * @param sha256 the digest of its bytes, in hex; null while they are awaited
 * @param fileName what it is saved as
 * @param contentType the media type it is served with
 * @param key of the blob; null for the one that item, revision and digest name
 */
public record Content(
    String itemId,
    int revision,
    @Nullable String sha256,
    String fileName,
    String contentType,
    @Nullable String key) {

  /** The bytes of one of an item's revisions. */
  public static Content of(Checkpoint item, Revision revision) {
    return new Content(
        item.id(),
        revision.number(),
        revision.sha256(),
        revision.metadata().fileName(),
        revision.metadata().contentType(),
        null);
  }

  /** The key of the blob whose digest is this. */
  String blobKey(String digest) {
    return key != null ? key : BlobName.key(itemId, revision, digest);
  }
}
