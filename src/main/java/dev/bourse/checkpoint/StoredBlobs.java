package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which blobs there have to be, and what is known of each: from the rows alone. */
public final class StoredBlobs {
  /** How the keys of files of sets begin; they come behind those of revisions. */
  private static final String OF_SETS = "set.";

  private static final String REVISIONS =
      "SELECT r.item_id, r.revision, r.sha256, r.bytes FROM checkpoint_revision r ";

  private static final String FILES =
      "SELECT b.blob_key, b.sha256, b.bytes FROM checkpoint_blob b ";

  private final Database database;

  public StoredBlobs(Database database) {
    this.database = database;
  }

  /**
   * A blob that some revision is read from.
   *
   * @param key the name by which the store of bytes knows it
   * @param item the item it came with; other sets may have the same file
   * @param sha256 the digest its bytes have, in hex
   */
  public record Blob(String key, String item, int revision, String sha256, long bytes) {
    /** Whether it is a file of sets, and not the content of one revision. */
    public boolean isOfSets() {
      return key.startsWith(OF_SETS);
    }
  }

  /** How many there are, and their bytes together. */
  public record Total(long blobs, long bytes) {
    private Total plus(Total other) {
      return new Total(blobs + other.blobs, bytes + other.bytes);
    }
  }

  public Future<Total> total() {
    return total("checkpoint_revision WHERE sha256 IS NOT NULL")
        .compose(all -> total("checkpoint_blob WHERE refs > 0").map(all::plus));
  }

  private Future<Total> total(String of) {
    return database.readOne(
        "SELECT COUNT(*) AS blobs, COALESCE(SUM(bytes), 0) AS bytes FROM " + of,
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
    return after.startsWith(OF_SETS)
        ? listFiles(after, limit)
        : listRevisions(after, limit)
            .compose(
                found ->
                    found.size() == limit
                        ? Future.succeededFuture(found)
                        : listFiles("", limit - found.size()).map(files -> both(found, files)));
  }

  private static List<Blob> both(List<Blob> some, List<Blob> others) {
    List<Blob> all = new ArrayList<>(some);
    all.addAll(others);
    return all;
  }

  private Future<List<Blob>> listRevisions(String after, int limit) {
    BlobName last = BlobName.parse(after).orElse(new BlobName("", 0));
    return database.read(
        REVISIONS
            + """
            WHERE r.sha256 IS NOT NULL AND (r.item_id, r.revision) > (?, ?) \
            ORDER BY r.item_id, r.revision LIMIT ?\
            """,
        List.of(last.item(), last.revision(), limit),
        StoredBlobs::revision);
  }

  private Future<List<Blob>> listFiles(String after, int limit) {
    return database.read(
        FILES + "WHERE b.blob_key > ? ORDER BY b.blob_key LIMIT ?",
        List.of(after, limit),
        StoredBlobs::file);
  }

  /** The blob of this key; empty when nothing is read from it any more. */
  public Future<Optional<Blob>> find(String key) {
    if (key.startsWith(OF_SETS)) {
      return database.readFirst(
          FILES + "WHERE b.blob_key = ? AND b.refs > 0", List.of(key), StoredBlobs::file);
    }
    return BlobName.parse(key)
        .map(
            name ->
                database
                    .readFirst(
                        REVISIONS
                            + "WHERE r.item_id = ? AND r.revision = ? AND r.sha256 IS NOT NULL",
                        List.of(name.item(), name.revision()),
                        StoredBlobs::revision)
                    .map(found -> found.filter(blob -> blob.key().equals(key))))
        .orElseGet(() -> Future.succeededFuture(Optional.empty()));
  }

  /** The blobs of an item; none for one that does not exist or has no bytes yet. */
  public Future<List<Blob>> listOf(String item) {
    Future<List<Blob>> revisions =
        database.read(
            REVISIONS + "WHERE r.item_id = ? AND r.sha256 IS NOT NULL ORDER BY r.revision",
            List.of(item),
            StoredBlobs::revision);
    return revisions.compose(
        found ->
            database
                .read(
                    FILES
                        + """
                        WHERE b.blob_key IN (SELECT f.blob_key FROM checkpoint_file f \
                        WHERE f.item_id = ?) ORDER BY b.blob_key\
                        """,
                    List.of(item),
                    StoredBlobs::file)
                .map(files -> both(found, files)));
  }

  private static Blob revision(Row row) {
    String item = row.text("item_id");
    int number = row.smallInteger("revision");
    String sha256 = row.text("sha256");
    return new Blob(BlobName.key(item, number, sha256), item, number, sha256, row.integer("bytes"));
  }

  private static Blob file(Row row) {
    String key = row.text("blob_key");
    BlobName name = BlobName.parse(key).orElse(new BlobName("", 0));
    return new Blob(key, name.item(), name.revision(), row.text("sha256"), row.integer("bytes"));
  }
}
