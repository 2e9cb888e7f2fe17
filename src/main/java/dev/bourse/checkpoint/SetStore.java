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
 * Rows of sets' files: one for each file of each revision, and one for each blob, which files of
 * several revisions and items of an organization may share. A blob's row counts its references and
 * is deleted with the last one; every referenced blob has a row.
 */
public final class SetStore {
  /** Digests of one query: within both engines' limits of parameters. */
  private static final int DIGESTS = 500;

  /**
   * Files of one statement: few statements for many files, within both engines' limits of
   * parameters.
   */
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

  /** Bytes of an organization's sets. */
  private record Known(String sha256, long bytes) {}

  /** Returns the files, linked to blobs that the organization already has. */
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

  /** Skips damaged blobs, so that the file is sent again and is intact in the next set. */
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

  /** Returns a file of a revision. */
  public Future<Optional<SetFile>> find(String itemId, int revision, int number) {
    return database.readFirst(
        FILE + "WHERE f.item_id = ? AND f.revision = ? AND f.number = ?",
        List.of(itemId, revision, number),
        SetStore::file);
  }

  /** Returns all files of a revision, in the order of the announcement. */
  public Future<List<SetFile>> list(String itemId, int revision) {
    return database.read(
        FILE + "WHERE f.item_id = ? AND f.revision = ? ORDER BY f.number",
        List.of(itemId, revision),
        SetStore::file);
  }

  /**
   * Returns the first files of a revision, in the order of the announcement.
   *
   * @param most the limit
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

  /**
   * Records that a file's bytes are durable; returns false if its set was discarded, or the file
   * had already arrived.
   */
  public Future<Boolean> arrived(
      Checkpoint item, int revision, SetFile file, String key, List<String> findings) {
    return database
        .commit(arrival(item, revision, file, key, new JsonArray(findings).encode()))
        .map(true)
        .recover(
            e ->
                e instanceof CheckpointStore.ItemChangedException
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }

  /** Returns a file of a revision if its bytes have arrived. */
  Future<Optional<Content>> findFile(String itemId, int revision, String sha256) {
    return content(
        "WHERE f.item_id = ? AND f.revision = ? AND f.sha256 = ?", itemId, revision, sha256);
  }

  /** Returns a file of the published revision that an organization sees of its item. */
  Future<Optional<Content>> findShownFile(String orgId, String itemId, String sha256) {
    return content(
        """
        JOIN checkpoint c ON c.item_id = f.item_id \
        AND f.revision = COALESCE(c.head_revision, c.live_revision) \
        WHERE c.item_id = ? AND c.org_id = ? AND f.sha256 = ?\
        """,
        itemId,
        orgId,
        sha256);
  }

  /**
   * Returns the README of the published revision that an organization sees of its set: the file
   * {@code README.md} of its top folder, in any case of letters.
   */
  Future<Optional<Content>> findReadme(String orgId, String itemId) {
    return content(
        """
        JOIN checkpoint c ON c.item_id = f.item_id \
        AND f.revision = COALESCE(c.head_revision, c.live_revision) \
        WHERE c.item_id = ? AND c.org_id = ? AND LOWER(f.path) = 'readme.md'\
        """,
        itemId,
        orgId);
  }

  /** Returns a file of a public item. */
  Future<Optional<Content>> findFileOnFeed(String itemId, String sha256) {
    return content(
        """
        JOIN checkpoint c ON c.item_id = f.item_id AND f.revision = c.live_revision \
        LEFT JOIN org o ON o.org_id = c.org_id \
        WHERE c.item_id = ? AND c.feed_at IS NOT NULL AND o.retired_at IS NULL \
        AND f.sha256 = ?\
        """,
        itemId,
        sha256);
  }

  private Future<Optional<Content>> content(String where, Object... values) {
    return database.readFirst(
        FILE + where + " AND f.blob_key IS NOT NULL ORDER BY f.number LIMIT 1",
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
   * @param isLeft whether its revision was deleted by the release before sets, which does not
   *     delete files
   */
  record Stored(String item, int revision, boolean isLeft) {}

  /** Lists sets by item and revision, after one of them. */
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

  /** Deletes the files of such a set. */
  Future<Void> release(Stored left, long nowMillis) {
    return database.commit(release(left.item(), left.revision(), nowMillis));
  }

  /** Returns the given keys that files refer to. */
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

  /** Stores the files of a draft; linked files increase the reference counts of their blobs. */
  static List<Statement> insertion(Checkpoint item, ChangeSet.DraftFiles draft) {
    List<Statement> statements = new ArrayList<>();
    // In the order of their keys, so that two commits cannot deadlock.
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
                    CheckpointStore.ItemChangedException::new,
                    "UPDATE checkpoint_blob SET refs = refs + ? WHERE blob_key = ?",
                    count,
                    key)));
    return statements;
  }

  /** Stores a file's blob; identical files of the set get the same blob. */
  static List<Statement> arrival(
      Checkpoint item, int revision, SetFile file, String key, String findings) {
    return List.of(
        // A commit that drops the draft changes this row first, which orders the two commits.
        Statement.guarded(
            CheckpointStore.ItemChangedException::new,
            "UPDATE checkpoint SET version = version WHERE item_id = ? AND draft_revision = ?",
            item.id(),
            revision),
        Statement.guarded(
            CheckpointStore.ItemChangedException::new,
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
   * Deletes the files of a revision: schedules unreferenced blobs and incomplete uploads for
   * deletion.
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
