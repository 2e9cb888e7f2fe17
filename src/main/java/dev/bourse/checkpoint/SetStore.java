package dev.bourse.checkpoint;

import dev.bourse.core.Slices;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How the files of sets are stored: a row for each file of each revision, and one for each blob,
 * which files of several revisions and items of an organization may share. A blob's row counts the
 * files that refer to it and goes with the last of them; nothing refers to a blob without a row.
 */
public final class SetStore {
  /** Digests of one look-up: within every engine's parameters. */
  private static final int DIGESTS = 500;

  /** Files of one statement: few statements for many files, within every engine's parameters. */
  private static final int ROWS = 100;

  private static final String OF_SET = "item_id = ? AND revision = ?";

  private static final String FILE =
      """
      SELECT f.item_id, f.revision, f.number, f.path, f.bytes, f.sha256, f.blob_key, b.findings \
      FROM checkpoint_file f LEFT JOIN checkpoint_blob b ON b.blob_key = f.blob_key \
      """;

  private final Database database;

  public SetStore(Database database) {
    this.database = database;
  }

  /** Bytes that files of an organization's sets have. */
  private record Known(String sha256, long bytes) {}

  /** The files, linked to the blobs that the organization has of them already. */
  Future<List<SetFile>> link(String orgId, List<SetFile> files) {
    List<String> digests = files.stream().map(SetFile::sha256).distinct().toList();
    Map<Known, String> keys = new HashMap<>();
    return BoundedWork.inTurn(Slices.of(digests, DIGESTS), some -> findBlobs(orgId, some, keys))
        .map(
            all ->
                files.stream()
                    .map(
                        file -> {
                          String key = keys.get(new Known(file.sha256(), file.bytes()));
                          return key == null || !file.isLinkable() ? file : file.linked(key);
                        })
                    .toList());
  }

  /** A blob with a fault is passed over: sent again, the file is whole in the next set. */
  private Future<Void> findBlobs(String orgId, List<String> digests, Map<Known, String> into) {
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    parameters.addAll(digests);
    return database
        .read(
            """
            SELECT sha256, bytes, blob_key FROM checkpoint_blob b WHERE org_id = ? \
            AND NOT EXISTS (SELECT 1 FROM scrub_fault f WHERE f.blob_key = b.blob_key) \
            AND sha256 IN (%s) ORDER BY blob_key\
            """
                .formatted(marks(digests.size())),
            parameters,
            row -> {
              into.putIfAbsent(
                  new Known(row.text("sha256"), row.integer("bytes")), row.text("blob_key"));
              return row.text("blob_key");
            })
        .mapEmpty();
  }

  private static String marks(int count) {
    return String.join(", ", Collections.nCopies(count, "?"));
  }

  /** A file of a revision. */
  public Future<Optional<SetFile>> find(String itemId, int revision, int number) {
    return database.readFirst(
        FILE + "WHERE f.item_id = ? AND f.revision = ? AND f.number = ?",
        List.of(itemId, revision, number),
        SetStore::file);
  }

  /** All files of a revision, in the order of the announcement. */
  public Future<List<SetFile>> list(String itemId, int revision) {
    return database.read(
        FILE + "WHERE f.item_id = ? AND f.revision = ? ORDER BY f.number",
        List.of(itemId, revision),
        SetStore::file);
  }

  /**
   * The first files of a revision, in the order of the announcement.
   *
   * @param most how many
   */
  Future<List<SetFile>> listFirst(String itemId, int revision, int most) {
    return database.read(
        FILE + "WHERE f.item_id = ? AND f.revision = ? ORDER BY f.number LIMIT ?",
        List.of(itemId, revision, most),
        SetStore::file);
  }

  private static SetFile file(Row row) {
    String findings = row.textOrNull("findings");
    return new SetFile(
        row.smallInteger("number"),
        row.text("path"),
        row.integer("bytes"),
        row.text("sha256"),
        row.textOrNull("blob_key"),
        findings == null
            ? List.of()
            : new JsonArray(findings).stream().map(String::valueOf).toList());
  }

  /** A file's bytes are durable; false when its set was given up, or it had arrived, meanwhile. */
  public Future<Boolean> arrived(
      Checkpoint item, int revision, SetFile file, String key, List<String> findings) {
    return database
        .commit(arrival(item, revision, file, key, new JsonArray(findings).encode()))
        .map(true)
        .recover(
            e ->
                e instanceof CheckpointStore.ItemChanged
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }

  /** A file of a revision whose bytes are there. */
  Future<Optional<Content>> findFile(String itemId, int revision, String sha256) {
    return content("WHERE f.item_id = ? AND f.revision = ? AND ", itemId, revision, sha256);
  }

  /** A file of what an organization is shown of its item, once that is published. */
  Future<Optional<Content>> findShownFile(String orgId, String itemId, String sha256) {
    return content(
        """
        JOIN checkpoint c ON c.item_id = f.item_id \
        AND f.revision = COALESCE(c.head_revision, c.live_revision) \
        WHERE c.item_id = ? AND c.org_id = ? AND \
        """,
        itemId,
        orgId,
        sha256);
  }

  /** A file of what everybody may read. */
  Future<Optional<Content>> findFileOnFeed(String itemId, String sha256) {
    return content(
        """
        JOIN checkpoint c ON c.item_id = f.item_id AND f.revision = c.live_revision \
        LEFT JOIN org o ON o.org_id = c.org_id \
        WHERE c.item_id = ? AND c.feed_at IS NOT NULL AND o.retired_at IS NULL AND \
        """,
        itemId,
        sha256);
  }

  private Future<Optional<Content>> content(String where, Object... values) {
    return database.readFirst(
        FILE + where + "f.sha256 = ? AND f.blob_key IS NOT NULL ORDER BY f.number LIMIT 1",
        List.of(values),
        row -> {
          SetFile file = file(row);
          return new Content(
              row.text("item_id"),
              row.smallInteger("revision"),
              file.sha256(),
              file.name(),
              SetFile.CONTENT_TYPE,
              file.key());
        });
  }

  /**
   * A set whose files are stored.
   *
   * @param isLeft whether its revision is no more: deleted by the release before sets, which knows
   *     of no files
   */
  record Stored(String item, int revision, boolean isLeft) {}

  /** Sets by item and revision, behind one of them. */
  Future<List<Stored>> listStored(String afterItem, int afterRevision, int limit) {
    return database.read(
        """
        SELECT f.item_id, f.revision, CASE WHEN EXISTS (SELECT 1 FROM checkpoint_revision r \
        WHERE r.item_id = f.item_id AND r.revision = f.revision AND r.state <> ?) \
        THEN 0 ELSE 1 END AS is_left FROM checkpoint_file f \
        WHERE f.number = 0 AND (f.item_id, f.revision) > (?, ?) \
        ORDER BY f.item_id, f.revision LIMIT ?\
        """,
        List.of(Revision.State.EXPIRED.label(), afterItem, afterRevision, limit),
        row ->
            new Stored(
                row.text("item_id"), row.smallInteger("revision"), row.integer("is_left") == 1));
  }

  /** Forgets the files of a set that is left. */
  Future<Void> release(Stored left, long nowMillis) {
    return database.commit(release(left.item(), left.revision(), nowMillis));
  }

  /** Those of these keys that files refer to. */
  Future<Set<String>> known(List<String> keys) {
    return keys.isEmpty()
        ? Future.succeededFuture(Set.of())
        : database
            .read(
                "SELECT blob_key FROM checkpoint_blob WHERE blob_key IN ("
                    + marks(keys.size())
                    + ")",
                keys,
                row -> row.text("blob_key"))
            .map(HashSet::new);
  }

  /** Stores the files of a draft; those that are linked raise the counts of their blobs. */
  static List<Statement> insertion(Checkpoint item, ChangeSet.DraftFiles draft) {
    List<Statement> statements = new ArrayList<>();
    // In the order of their keys: two commits then never wait for each other.
    Map<String, Integer> linked = new TreeMap<>();
    List<SetFile> files = draft.files();
    for (List<SetFile> some : Slices.of(files, ROWS)) {
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
