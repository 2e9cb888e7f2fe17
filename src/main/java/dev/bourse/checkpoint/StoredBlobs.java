package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which blobs there have to be, and what is known of each: from the rows alone. Those of revisions
 * come first, which of a set is its manifest, and then those of sets' files.
 */
public final class StoredBlobs {
  private static final String COLUMNS =
      "SELECT r.item_id, r.revision, r.state, r.sha256, r.bytes, r.content_type FROM checkpoint_revision r ";

  /** A file that several sets share is told of as one's of them. */
  private static final String FILES =
      """
      SELECT b.blob_key, b.sha256, b.bytes, f.item_id, f.revision FROM checkpoint_blob b \
      JOIN checkpoint_file f ON f.blob_key = b.blob_key AND NOT EXISTS (\
      SELECT 1 FROM checkpoint_file g WHERE g.blob_key = f.blob_key \
      AND (g.item_id, g.revision, g.number) < (f.item_id, f.revision, f.number)) \
      """;

  private final Database database;
  private final SetStore sets;

  public StoredBlobs(Database database) {
    this.database = database;
    this.sets = new SetStore(database);
  }

  /**
   * A blob that some revision is read from, or will be as soon as it is published.
   *
   * @param key the name by which the store of bytes knows it
   * @param item the item's id
   * @param sha256 the digest its bytes have, in hex
   * @param isPublished else its digest is noted already, and the store may not have it yet
   */
  public record Blob(
      String key, String item, int revision, String sha256, long bytes, boolean isPublished) {}

  /** How many there are, and their bytes together; of manifests only how many. */
  public record Total(long blobs, long bytes) {}

  public Future<Total> total() {
    return database.readOne(
        """
        SELECT (SELECT COUNT(*) FROM checkpoint_revision WHERE sha256 IS NOT NULL) \
        + (SELECT COUNT(*) FROM checkpoint_blob) AS blobs, \
        (SELECT COALESCE(SUM(bytes), 0) FROM checkpoint_revision \
        WHERE sha256 IS NOT NULL AND content_type <> ?) \
        + (SELECT COALESCE(SUM(bytes), 0) FROM checkpoint_blob) AS bytes\
        """,
        List.of(SetFile.MANIFEST_TYPE),
        row -> new Total(row.integer("blobs"), row.integer("bytes")));
  }

  /**
   * Blobs in an order of their own, the same on every call.
   *
   * @param after the key behind which they begin, whether its blob still exists or not; empty for
   *     the first
   */
  public Future<List<Blob>> list(String after, int limit) {
    if (BlobName.isOfFile(after)) {
      return listFiles(after, limit);
    }
    BlobName last = BlobName.parse(after).orElse(new BlobName("", 0));
    return revisions(
            """
            WHERE r.sha256 IS NOT NULL AND (r.item_id, r.revision) > (?, ?) \
            ORDER BY r.item_id, r.revision LIMIT ?\
            """,
            last.item(),
            last.revision(),
            limit)
        .compose(
            found ->
                found.size() == limit
                    ? Future.succeededFuture(found)
                    : listFiles("", limit - found.size()).map(files -> joined(found, files)));
  }

  private Future<List<Blob>> listFiles(String after, int limit) {
    return database.read(
        FILES + "WHERE b.blob_key > ? ORDER BY b.blob_key LIMIT ?",
        List.of(after, limit),
        StoredBlobs::file);
  }

  private static List<Blob> joined(List<Blob> first, List<Blob> second) {
    List<Blob> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  /** The blob of this key; empty when nothing is read from it any more. */
  public Future<Optional<Blob>> find(String key) {
    if (BlobName.isOfFile(key)) {
      return database.readFirst(FILES + "WHERE b.blob_key = ?", List.of(key), StoredBlobs::file);
    }
    return BlobName.parse(key)
        .map(
            name ->
                revisions(
                        "WHERE r.item_id = ? AND r.revision = ? AND r.sha256 IS NOT NULL",
                        name.item(),
                        name.revision())
                    .map(
                        found -> found.stream().filter(blob -> blob.key().equals(key)).findFirst()))
        .orElseGet(() -> Future.succeededFuture(Optional.empty()));
  }

  /** The blobs of an item; none for one that does not exist or has no bytes yet. */
  public Future<List<Blob>> listOf(String item) {
    return revisions("WHERE r.item_id = ? AND r.sha256 IS NOT NULL ORDER BY r.revision", item)
        .compose(
            found ->
                database
                    .read(
                        """
                        SELECT b.blob_key, b.sha256, b.bytes, f.item_id, \
                        MAX(f.revision) AS revision FROM checkpoint_file f \
                        JOIN checkpoint_blob b ON b.blob_key = f.blob_key WHERE f.item_id = ? \
                        GROUP BY b.blob_key, b.sha256, b.bytes, f.item_id ORDER BY b.blob_key\
                        """,
                        List.of(item),
                        StoredBlobs::file)
                    .map(files -> joined(found, files)));
  }

  /** A blob of a revision, before the length of a manifest is known. */
  private record Found(Blob blob, boolean isManifest) {}

  private Future<List<Blob>> revisions(String where, Object... values) {
    return database
        .read(COLUMNS + where, List.of(values), StoredBlobs::revision)
        .compose(
            found -> {
              Future<List<Blob>> all = Future.succeededFuture(List.of());
              for (Found one : found) {
                all = all.compose(before -> measured(one).map(b -> joined(before, List.of(b))));
              }
              return all;
            });
  }

  /**
   * Of a set the row tells the sum of its files; its manifest is as long as their names make it.
   */
  private Future<Blob> measured(Found found) {
    Blob blob = found.blob();
    return found.isManifest()
        ? sets.list(blob.item(), blob.revision())
            .map(
                files ->
                    new Blob(
                        blob.key(),
                        blob.item(),
                        blob.revision(),
                        blob.sha256(),
                        SetFile.manifest(files).length,
                        blob.isPublished()))
        : Future.succeededFuture(blob);
  }

  private static Found revision(Row row) {
    String item = row.text("item_id");
    int revision = row.smallInteger("revision");
    String sha256 = row.text("sha256");
    return new Found(
        new Blob(
            BlobName.key(item, revision, sha256),
            item,
            revision,
            sha256,
            row.integer("bytes"),
            Revision.State.of(row.text("state")) != Revision.State.PENDING),
        row.text("content_type").equals(SetFile.MANIFEST_TYPE));
  }

  private static Blob file(Row row) {
    return new Blob(
        row.text("blob_key"),
        row.text("item_id"),
        row.smallInteger("revision"),
        row.text("sha256"),
        row.integer("bytes"),
        true);
  }
}
