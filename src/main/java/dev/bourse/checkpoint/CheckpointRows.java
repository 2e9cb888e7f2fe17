package dev.bourse.checkpoint;

import dev.bourse.access.Members;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How an item lies in rows: one of its own and one for each of its revisions. Written by statements
 * of {@link CheckpointStore}'s commits, read as pieces, each the item with one revision.
 */
final class CheckpointRows {
  /**
   * The owner. A row of the version before has none: its owner is the member of the creator's name,
   * if they had it when the item was made.
   */
  private static final String CREATOR_ID =
      "COALESCE(c.creator_id, (SELECT "
          + Members.ID
          + " FROM member m WHERE m.org_id = c.org_id AND m.username = c.creator"
          + " AND m.created_at <= c.created_at))";

  private static final String ITEM =
      "c.item_id, c.org_id, c.visibility, c.filename, c.creator, "
          + CREATOR_ID
          + ", c.publisher_name, c.created_at, c.changed_at, c.last_revision, c.version,"
          + " c.draft_revision, c.head_revision, c.live_revision";

  private static final String REVISION_COLUMNS =
      "revision, state, title, description, filename, content_type, bytes, declared_sha256,"
          + " resumable, session_sha256, created_at, expires_at, sha256, published_at, review_id,"
          + " findings, rejection_reason";

  private static final int ITEM_COLUMNS = 14;

  static final String SELECTED =
      ITEM + ", r." + REVISION_COLUMNS.replace(", ", ", r.") + ", o.display";

  static final String JOINED =
      " c JOIN checkpoint_revision r ON r.item_id = c.item_id"
          + " LEFT JOIN org o ON o.org_id = c.org_id ";

  /**
   * That whoever announced the draft of {@code c} may still publish it: is on the roster since
   * before, so that nobody who came later by the same name goes on with it, is not suspended, and
   * what is public is of an organization {@code o} that the feed is open to.
   */
  static final String IN_STANDING =
      "(c.org_id = '' OR (o.retired_at IS NULL AND (c.visibility = '"
          + Visibility.ORG.label()
          + "' OR o.kind = '"
          + Publisher.PUBLISHES
          + "') AND EXISTS (SELECT 1 FROM member m JOIN checkpoint_revision d"
          + " ON d.item_id = c.item_id AND d.revision = c.draft_revision"
          + " WHERE m.org_id = c.org_id AND m.username = c.creator"
          + " AND m.suspended_at IS NULL AND m.created_at <= d.created_at"
          + " AND (c.creator_id IS NULL OR c.creator_id = "
          + Members.ID
          + "))))";

  private CheckpointRows() {}

  /** The items that rows of {@link #SELECTED} are of, in the order of the first row of each. */
  static Future<List<CheckpointStore.Listed>> read(
      Database database, String sql, List<?> parameters) {
    return database.read(sql, parameters, CheckpointRows::piece).map(CheckpointRows::assembled);
  }

  static Statement insertion(Checkpoint item) {
    return Statement.guarded(
        CheckpointStore.UNCHANGED,
        "INSERT INTO checkpoint (item_id, org_id, visibility, filename, creator, creator_id,"
            + " publisher_name, created_at, changed_at, last_revision, version, draft_revision,"
            + " head_revision, live_revision, search, feed_at, feed_search) VALUES (?, ?, ?, ?, ?,"
            + " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        item.id(),
        item.orgId(),
        item.visibility().label(),
        item.fileName(),
        item.creator(),
        item.creatorId(),
        item.publisherName(),
        item.createdAtMillis(),
        item.changedAtMillis(),
        item.lastRevision(),
        item.version(),
        number(item.draft()),
        number(item.head()),
        number(item.live()),
        searched(item.shown().metadata()),
        feedAt(item),
        feedSearch(item));
  }

  /** The place is asked for too: renaming may meet another item there. */
  static Statement update(Checkpoint before, Checkpoint item) {
    return Statement.guarded(
        CheckpointStore.UNCHANGED,
        "UPDATE checkpoint SET filename = ?, changed_at = ?, last_revision = ?, version = ?,"
            + " draft_revision = ?, head_revision = ?, live_revision = ?, search = ?, feed_at = ?,"
            + " feed_search = ? WHERE item_id = ? AND version = ? AND NOT EXISTS (SELECT 1 FROM"
            + " checkpoint other WHERE other.org_id = ? AND other.visibility = ?"
            + " AND other.filename = ? AND other.item_id <> ?)",
        item.fileName(),
        item.changedAtMillis(),
        item.lastRevision(),
        item.version(),
        number(item.draft()),
        number(item.head()),
        number(item.live()),
        searched(item.shown().metadata()),
        feedAt(item),
        feedSearch(item),
        item.id(),
        before.version(),
        item.orgId(),
        item.visibility().label(),
        item.fileName(),
        item.id());
  }

  static Statement deletion(String itemId, Revision revision) {
    return Statement.of(
        "DELETE FROM checkpoint_revision WHERE item_id = ? AND revision = ?",
        itemId,
        revision.number());
  }

  static Statement insertion(String itemId, Revision revision) {
    Metadata metadata = revision.metadata();
    return Statement.of(
        "INSERT INTO checkpoint_revision (item_id, "
            + REVISION_COLUMNS
            + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        itemId,
        revision.number(),
        revision.state().label(),
        metadata.title(),
        metadata.description(),
        metadata.fileName(),
        metadata.contentType(),
        metadata.bytes(),
        metadata.sha256(),
        revision.resumable(),
        revision.sessionSha256(),
        revision.createdAtMillis(),
        revision.expiresAtMillis(),
        revision.sha256(),
        revision.publishedAtMillis(),
        revision.reviewId(),
        new JsonArray(revision.findings()).encode(),
        revision.rejectionReason());
  }

  private static @Nullable Integer number(@Nullable Revision revision) {
    return revision == null ? null : revision.number();
  }

  private static @Nullable Long feedAt(Checkpoint item) {
    Revision live = item.visibility() == Visibility.PUBLIC ? item.live() : null;
    return live == null ? null : live.publishedAtMillis();
  }

  private static @Nullable String feedSearch(Checkpoint item) {
    Revision live = item.visibility() == Visibility.PUBLIC ? item.live() : null;
    return live == null ? null : searched(live.metadata());
  }

  private static String searched(Metadata metadata) {
    return searched(metadata.title() + '\n' + metadata.description() + '\n' + metadata.fileName());
  }

  /** Text as it is compared: in lower case by rules that no engine or locale changes. */
  static String searched(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  /** An item row joined with one of its revisions. */
  private record Piece(
      CheckpointStore.Listed whole,
      @Nullable Long draft,
      @Nullable Long head,
      @Nullable Long live) {}

  private static List<CheckpointStore.Listed> assembled(List<Piece> pieces) {
    Map<String, List<Piece>> byItem = new LinkedHashMap<>();
    for (Piece piece : pieces) {
      byItem.computeIfAbsent(piece.whole.item().id(), id -> new ArrayList<>()).add(piece);
    }
    return byItem.values().stream().map(CheckpointRows::whole).toList();
  }

  private static CheckpointStore.Listed whole(List<Piece> pieces) {
    Map<Long, Revision> revisions = new LinkedHashMap<>();
    for (Piece piece : pieces) {
      Revision revision = piece.whole.item().shown();
      revisions.put((long) revision.number(), revision);
    }
    Piece first = pieces.get(0);
    Checkpoint item = first.whole.item();
    return new CheckpointStore.Listed(
        new Checkpoint(
            item.id(),
            item.orgId(),
            item.visibility(),
            item.fileName(),
            item.creator(),
            item.creatorId(),
            item.publisherName(),
            item.createdAtMillis(),
            item.changedAtMillis(),
            item.lastRevision(),
            item.version(),
            revisions.get(first.draft),
            revisions.get(first.head),
            revisions.get(first.live)),
        first.whole.orgDisplay());
  }

  private static Piece piece(Row row) {
    String display = row.textOrNull(ITEM_COLUMNS + 17);
    Checkpoint item =
        new Checkpoint(
            row.text(0),
            row.text(1),
            Visibility.of(row.text(2)),
            row.text(3),
            row.text(4),
            row.textOrNull(5),
            row.textOrNull(6),
            row.integer(7),
            row.integer(8),
            (int) row.integer(9),
            row.integer(10),
            null,
            revision(row),
            null);
    return new Piece(
        new CheckpointStore.Listed(item, display == null ? "" : display),
        row.integerOrNull(11),
        row.integerOrNull(12),
        row.integerOrNull(13));
  }

  private static Revision revision(Row row) {
    int at = ITEM_COLUMNS;
    List<String> findings = new JsonArray(row.text(at + 15)).stream().map(String::valueOf).toList();
    return new Revision(
        (int) row.integer(at),
        Revision.State.of(row.text(at + 1)),
        new Metadata(
            row.text(at + 2),
            row.text(at + 3),
            row.text(at + 4),
            row.text(at + 5),
            row.integer(at + 6),
            row.textOrNull(at + 7)),
        row.truth(at + 8),
        row.textOrNull(at + 9),
        row.integer(at + 10),
        row.integer(at + 11),
        row.textOrNull(at + 12),
        row.integerOrNull(at + 13),
        row.textOrNull(at + 14),
        findings,
        row.textOrNull(at + 16));
  }
}
