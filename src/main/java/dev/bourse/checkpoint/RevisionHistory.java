package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The published revisions of items, which stay listed after their bytes were replaced. */
final class RevisionHistory {
  /** The newest revisions that are kept; a job may publish one every few minutes for years. */
  static final int KEPT = 100;

  private final Database database;

  RevisionHistory(Database database) {
    this.database = database;
  }

  /**
   * A published revision.
   *
   * @param bytes the length of a file, or of all files of a set
   * @param files the number of files of a set; 0 for a single file
   * @param credentialId the publishing credential of the job that published it; null if the member
   *     did in person
   */
  record Entry(
      int revision,
      long publishedAtMillis,
      long bytes,
      int files,
      String sha256,
      @Nullable String credentialId) {}

  /** Returns the revisions of an item, newest first. */
  Future<List<Entry>> list(String itemId) {
    return database.read(
        """
        SELECT revision, published_at, bytes, files, sha256, credential_id FROM checkpoint_history \
        WHERE item_id = ? ORDER BY revision DESC LIMIT ?\
        """,
        List.of(itemId, KEPT),
        row ->
            new Entry(
                row.smallInteger("revision"),
                row.integer("published_at"),
                row.integer("bytes"),
                row.smallInteger("files"),
                row.text("sha256"),
                row.textOrNull("credential_id")));
  }

  /** Records a revision and forgets the one that is too old to be kept. */
  static List<Statement> addition(String itemId, Revision revision, long nowMillis) {
    return List.of(
        Statement.of(
            """
            INSERT INTO checkpoint_history (item_id, revision, published_at, bytes, files, sha256, \
            credential_id) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING\
            """,
            itemId,
            revision.number(),
            nowMillis,
            revision.metadata().bytes(),
            revision.metadata().files(),
            String.valueOf(revision.sha256()),
            revision.credentialId()),
        Statement.of(
            "DELETE FROM checkpoint_history WHERE item_id = ? AND revision <= ?",
            itemId,
            revision.number() - KEPT));
  }

  /** Forgets all revisions of an item. */
  static Statement removal(String itemId) {
    return Statement.of("DELETE FROM checkpoint_history WHERE item_id = ?", itemId);
  }
}
