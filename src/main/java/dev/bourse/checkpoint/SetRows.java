package dev.bourse.checkpoint;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How the files of sets are stored: a row for each file of each revision, and one for each blob,
 * which files of several revisions and items of an organization may share. A blob's row counts the
 * files that refer to it and goes with the last of them; nothing refers to a blob without a row.
 */
final class SetRows {
  /** Files of one statement: few statements for many files, within every engine's parameters. */
  private static final int ROWS = 100;

  private static final String OF_SET = "item_id = ? AND revision = ?";

  private SetRows() {}

  /** Stores the files of a draft; those that are linked raise the counts of their blobs. */
  static List<Statement> insertion(Checkpoint item, ChangeSet.DraftFiles draft) {
    List<Statement> statements = new ArrayList<>();
    // In the order of their keys: two commits then never wait for each other.
    Map<String, Integer> linked = new TreeMap<>();
    List<SetFile> files = draft.files();
    for (int from = 0; from < files.size(); from += ROWS) {
      List<SetFile> some = files.subList(from, Math.min(files.size(), from + ROWS));
      List<@Nullable Object> values = new ArrayList<>();
      for (SetFile file : some) {
        values.add(item.id());
        values.add(draft.revision());
        values.add(file.number());
        values.add(file.path());
        values.add(file.bytes());
        values.add(file.sha256());
        values.add(file.key());
        if (file.key() != null) {
          linked.merge(file.key(), 1, Integer::sum);
        }
      }
      statements.add(
          Statement.of(
              "INSERT INTO checkpoint_file (item_id, revision, number, path, bytes, sha256,"
                  + " blob_key) VALUES "
                  + String.join(", ", some.stream().map(file -> "(?, ?, ?, ?, ?, ?, ?)").toList()),
              values.toArray()));
    }
    linked.forEach(
        (key, count) ->
            statements.add(
                Statement.guarded(
                    CheckpointStore.ItemChanged::new,
                    "UPDATE checkpoint_blob SET refs = refs + ? WHERE blob_key = ?",
                    count,
                    key)));
    return statements;
  }

  /** A file's bytes are durable under a key; those of the set that are the same have them, too. */
  static List<Statement> arrival(
      Checkpoint item, int revision, SetFile file, String key, String findings) {
    return List.of(
        // Whoever drops the draft changes this row first, so that one of the two comes after.
        Statement.guarded(
            CheckpointStore.ItemChanged::new,
            "UPDATE checkpoint SET version = version WHERE item_id = ? AND draft_revision = ?",
            item.id(),
            revision),
        Statement.guarded(
            CheckpointStore.ItemChanged::new,
            "UPDATE checkpoint_file SET blob_key = ? WHERE "
                + OF_SET
                + " AND number = ? AND blob_key IS NULL",
            key,
            item.id(),
            revision,
            file.number()),
        Statement.of(
            "UPDATE checkpoint_file SET blob_key = ? WHERE "
                + OF_SET
                + " AND sha256 = ? AND LOWER(path) NOT LIKE ? AND blob_key IS NULL",
            key,
            item.id(),
            revision,
            file.sha256(),
            '%' + SetFile.SEARCHED_APART + '%'),
        Statement.of(
            """
            INSERT INTO checkpoint_blob (blob_key, org_id, sha256, bytes, findings, refs) \
            VALUES (?, ?, ?, ?, ?, (SELECT COUNT(*) FROM checkpoint_file f \
            WHERE f.item_id = ? AND f.revision = ? AND f.blob_key = ?))\
            """,
            key,
            item.orgId(),
            file.sha256(),
            file.bytes(),
            findings,
            item.id(),
            revision,
            key));
  }

  /**
   * Forgets the files of a revision: blobs that nothing else refers to, and what came of those that
   * did not arrive whole, are to be deleted.
   */
  static List<Statement> release(String itemId, int revision, long nowMillis) {
    String keys = "(SELECT blob_key FROM checkpoint_file WHERE " + OF_SET + ")";
    return List.of(
        Statement.of(
            """
            UPDATE checkpoint_blob SET refs = refs - (SELECT COUNT(*) FROM checkpoint_file f \
            WHERE f.item_id = ? AND f.revision = ? AND f.blob_key = checkpoint_blob.blob_key) \
            WHERE blob_key IN \
            """
                + keys,
            itemId,
            revision,
            itemId,
            revision),
        Statement.of(
            """
            INSERT INTO checkpoint_garbage (name, kind, since) \
            SELECT blob_key, 'blob', ? FROM checkpoint_blob WHERE refs <= 0 AND blob_key IN \
            """
                + keys
                + " ON CONFLICT DO NOTHING",
            nowMillis,
            itemId,
            revision),
        Statement.of(
            "DELETE FROM checkpoint_blob WHERE refs <= 0 AND blob_key IN " + keys,
            itemId,
            revision),
        Statement.of(
            """
            INSERT INTO checkpoint_garbage (name, kind, since) \
            SELECT ? || CAST(number AS TEXT), 'upload', ? FROM checkpoint_file WHERE \
            """
                + OF_SET
                + " AND blob_key IS NULL ON CONFLICT DO NOTHING",
            BlobName.ofFiles(itemId, revision),
            nowMillis,
            itemId,
            revision),
        Statement.of("DELETE FROM checkpoint_file WHERE " + OF_SET, itemId, revision));
  }
}
