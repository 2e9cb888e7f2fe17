package dev.bourse.checkpoint;

import org.jspecify.annotations.Nullable;

/**
 * The stored bytes of a revision and how to serve them.
 *
 * @param itemId the item's id
 * @param revision the revision's number
 * @param sha256 the digest of its bytes, in hex; null before they arrive
 * @param fileName the name for saving
 * @param contentType the media type it is served with
 * @param key of the blob; null for the key derived from item, revision and digest
 */
public record Content(
    String itemId,
    int revision,
    @Nullable String sha256,
    String fileName,
    String contentType,
    @Nullable String key) {

  /** Returns the content of one of an item's revisions. */
  public static Content of(Checkpoint item, Revision revision) {
    return new Content(
        item.id(),
        revision.number(),
        revision.sha256(),
        revision.metadata().fileName(),
        revision.metadata().contentType(),
        null);
  }

  /** Returns the key of the blob with this digest. */
  String blobKey(String digest) {
    return key != null ? key : BlobName.key(itemId, revision, digest);
  }
}
