package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Lists the blobs that must exist with their digests and lengths, from the rows alone: first those
 * of revisions, which for a set is its manifest, then those of sets' files.
 */
public final class StoredBlobs {
  private static final String COLUMNS =
      "SELECT r.item_id, r.revision, r.state, r.sha256, r.bytes, r.content_type FROM checkpoint_revision r ";

  /** A file that several sets share is listed once, with one of them. */
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
   * A blob from which a revision is read, or will be once it is published.
   *
   * @param key its name in the blob store
   * @param item the item's id
   * @param sha256 the digest of its bytes, in hex
   * @param isPublished if false, its digest is recorded but the blob may not be stored yet
   */
  public record Blob(
      String key, String item, int revision, String sha256, long bytes, boolean isPublished) {}

  /** The number of blobs and their total bytes; manifests count without bytes. */
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
   * Lists blobs in a stable order.
   *
   * @param after the key to continue after, which need not exist any more; empty to start
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

  /** Returns the blob of this key; empty if it is no longer read. */
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

  /** Returns the blobs of an item; empty if it does not exist or has no bytes yet. */
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
   * A set's row has the sum of its files' lengths; the length of its manifest follows from their
   * names.
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
