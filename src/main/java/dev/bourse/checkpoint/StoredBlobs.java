package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Which blobs there have to be, and what is known of each: from the rows alone. */
public final class StoredBlobs {
  private static final String COLUMNS =
      "SELECT r.item_id, r.revision, r.sha256, r.bytes FROM checkpoint_revision r ";

  private final Database database;

  public StoredBlobs(Database database) {
    this.database = database;
  }

  /**
   * A blob that some revision is read from.
   *
   * @param item the item's id
   * @param sha256 the digest its bytes have, in hex
   */
  public record Blob(String item, int revision, String sha256, long bytes) {
    /** The name by which the store of bytes knows it. */
    public String key() {
      return BlobName.key(item, revision, sha256);
    }
  }

  /** How many there are, and their bytes together. */
  public record Total(long blobs, long bytes) {}

  public Future<Total> total() {
    return database.readOne(
        """
        SELECT COUNT(*) AS blobs, COALESCE(SUM(bytes), 0) AS bytes FROM checkpoint_revision \
        WHERE sha256 IS NOT NULL\
        """,
        List.of(),
        row -> new Total(row.integer("blobs"), row.integer("bytes")));
  }

  /**
   * Blobs in an order of their own, the same on every call.
   *
   * @param after the key behind which they begin, whether its blob still exists or not; empty for
   *     the first
   */
  public Future<List<Blob>> list(String after, int limit) {
    BlobName last = BlobName.parse(after).orElse(new BlobName("", 0));
    return database.read(
        COLUMNS
            + """
            WHERE r.sha256 IS NOT NULL AND (r.item_id, r.revision) > (?, ?) \
            ORDER BY r.item_id, r.revision LIMIT ?\
            """,
        List.of(last.item(), last.revision(), limit),
        StoredBlobs::blob);
  }

  /** The blob of this key; empty when nothing is read from it any more. */
  public Future<Optional<Blob>> find(String key) {
    return BlobName.parse(key)
        .map(
            name ->
                database
                    .readFirst(
                        COLUMNS + "WHERE r.item_id = ? AND r.revision = ? AND r.sha256 IS NOT NULL",
                        List.of(name.item(), name.revision()),
                        StoredBlobs::blob)
                    .map(found -> found.filter(blob -> blob.key().equals(key))))
        .orElseGet(() -> Future.succeededFuture(Optional.empty()));
  }

  /** The blobs of an item; none for one that does not exist or has no bytes yet. */
  public Future<List<Blob>> listOf(String item) {
    return database.read(
        COLUMNS + "WHERE r.item_id = ? AND r.sha256 IS NOT NULL ORDER BY r.revision",
        List.of(item),
        StoredBlobs::blob);
  }

  private static Blob blob(Row row) {
    return new Blob(
        row.text("item_id"),
        row.smallInteger("revision"),
        row.text("sha256"),
        row.integer("bytes"));
  }
}
