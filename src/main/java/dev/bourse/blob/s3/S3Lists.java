package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.List;

/** Queries over many uploads and blobs of one object store, in pages. */
final class S3Lists {
  private final Database database;
  private final String store;

  /**
   * @param store the store's name, which is in all its rows
   */
  S3Lists(Database database, String store) {
    this.database = database;
    this.store = store;
  }

  /** Lists uploads without a change since a time, ordered by name. */
  Future<Page<String>> uploads(long beforeMillis, String after, int limit) {
    return names(
        """
        SELECT upload AS name FROM blob_upload
        WHERE store = ? AND upload > ? AND changed_at < ? ORDER BY upload LIMIT ?\
        """,
        beforeMillis,
        after,
        limit);
  }

  /** Lists keys stored before a time, in order. */
  Future<Page<String>> blobs(long beforeMillis, String after, int limit) {
    return names(
        """
        SELECT blob_key AS name FROM blob
        WHERE store = ? AND blob_key > ? AND stored_at < ? ORDER BY blob_key LIMIT ?\
        """,
        beforeMillis,
        after,
        limit);
  }

  private Future<Page<String>> names(String sql, long beforeMillis, String after, int limit) {
    checkPage(after, limit);
    return database
        .read(sql, List.of(store, after, beforeMillis, limit + 1), row -> row.text("name"))
        .map(names -> Page.of(names, limit));
  }

  private static void checkPage(String after, int limit) {
    if (limit < 1 || limit > 1_000) {
      throw new IllegalArgumentException("limit: " + limit + " is not within 1 to 1000");
    }
    if (!after.isEmpty()) {
      BlobStore.checkedName(after);
    }
  }

  /** Lists uploads in state {@code aborting} since before a time, least recently tried first. */
  Future<List<String>> halfAborted(long beforeMillis, int limit) {
    return database.read(
        """
        SELECT upload FROM blob_upload WHERE store = ? AND state = 'aborting' AND changed_at < ?
        ORDER BY changed_at, upload LIMIT ?\
        """,
        List.of(store, beforeMillis, limit),
        row -> row.text("upload"));
  }

  /**
   * Lists pieces of deleted uploads.
   *
   * @param madeBeforeMillis pieces whose objects may still be in transit are listed only if they
   *     are older than this
   * @param after the object to continue after; empty for the first page
   */
  Future<List<S3Rows.Piece>> orphanPieces(long madeBeforeMillis, String after, int limit) {
    return database.read(
        """
        SELECT p.upload AS upload, p.object AS object, p.start AS start, p.bytes AS bytes
        FROM blob_piece p LEFT JOIN blob_upload u ON u.store = p.store AND u.upload = p.upload
        WHERE p.store = ? AND p.object > ? AND u.upload IS NULL
        AND (p.kept = 1 OR p.made_at < ?) ORDER BY p.object LIMIT ?\
        """,
        List.of(store, after, madeBeforeMillis, limit),
        S3Rows::piece);
  }

  /** Returns whether a multipart upload of the store belongs to an upload in progress. */
  Future<Boolean> isKnown(String multipart) {
    return database.exists(
        "SELECT 1 FROM blob_upload WHERE store = ? AND multipart_id = ?",
        List.of(store, multipart));
  }
}
