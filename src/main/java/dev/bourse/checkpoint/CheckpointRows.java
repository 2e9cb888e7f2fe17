package dev.bourse.checkpoint;

import dev.bourse.access.Members;
import dev.bourse.store.Columns;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Maps items to rows: one for the item and one for each of its revisions. Statements are part of
 * {@link CheckpointStore}'s commits; reads return pieces, each the item with one revision.
 */
final class CheckpointRows {
  /** Columns from which an item is read. */
  private static final Columns<Checkpoint> ITEM =
      Columns.<Checkpoint>of("checkpoint")
          .fixed("item_id", Checkpoint::id)
          .fixed("org_id", Checkpoint::orgId)
          .fixed("visibility", item -> item.visibility().label())
          .changing("filename", Checkpoint::fileName)
          .fixed("creator", Checkpoint::creator)
          .fixed("creator_id", Checkpoint::creatorId)
          .fixed("publisher_name", Checkpoint::publisherName)
          .fixed("created_at", Checkpoint::createdAtMillis)
          .changing("changed_at", Checkpoint::changedAtMillis)
          .changing("last_revision", Checkpoint::lastRevision)
          .changing("version", Checkpoint::version)
          .changing("draft_revision", item -> number(item.draft()))
          .changing("head_revision", item -> number(item.head()))
          .changing("live_revision", item -> number(item.live()));

  /** The same with the columns that lists are searched and ordered by, which are only written. */
  private static final Columns<Checkpoint> INDEXED_ITEM =
      ITEM.changing("search", item -> searched(item.shown().metadata()))
          .changing("feed_at", item -> feedAt(item))
          .changing("feed_search", item -> feedSearch(item));

  private record Owned(String itemId, Revision revision) {
    Metadata metadata() {
      return revision.metadata();
    }
  }

  private static final Columns<Owned> REVISION =
      Columns.<Owned>of("checkpoint_revision")
          .fixed("item_id", Owned::itemId)
          .fixed("revision", row -> row.revision.number())
          .fixed("state", row -> row.revision.state().label())
          .fixed("title", row -> row.metadata().title())
          .fixed("description", row -> row.metadata().description())
          .fixed("filename", row -> row.metadata().fileName())
          .fixed("content_type", row -> row.metadata().contentType())
          .fixed("bytes", row -> row.metadata().bytes())
          .fixed("declared_sha256", row -> row.metadata().sha256())
          .fixed("files", row -> row.metadata().files())
          .fixed("resumable", row -> row.revision.resumable())
          .fixed("session_sha256", row -> row.revision.sessionSha256())
          .fixed("created_at", row -> row.revision.createdAtMillis())
          .fixed("expires_at", row -> row.revision.expiresAtMillis())
          .fixed("sha256", row -> row.revision.sha256())
          .fixed("published_at", row -> row.revision.publishedAtMillis())
          .fixed("review_id", row -> row.revision.reviewId())
          .fixed("findings", row -> new JsonArray(row.revision.findings()).encode())
          .fixed("rejection_reason", row -> row.revision.rejectionReason())
          .fixed("credential_id", row -> row.revision.credentialId());

  /** Prefix of a revision's column names where both tables are selected. */
  private static final String OF_REVISION = "r_";

  /**
   * Builds a SELECT of items from the text after FROM, which yields rows of {@code checkpoint}. The
   * owner of an item that was created before owners were stored is the member with the creator's
   * name, if they had it at that time.
   */
  static String select(String from) {
    return SELECTED + from + JOINED;
  }

  /** The release before sets rewrites a set's revision without its number of files. */
  private static final String FILES_COUNTED =
      """
      CASE WHEN r.files = 0 AND r.content_type = '%s' THEN (SELECT COUNT(*) FROM checkpoint_file f \
      WHERE f.item_id = r.item_id AND f.revision = r.revision) ELSE r.files END AS files_counted\
      """
          .formatted(SetFile.MANIFEST_TYPE);

  private static final String SELECTED =
      """
      SELECT %s, %s, %s, o.display AS org_display, COALESCE(c.creator_id, (SELECT %s FROM member m \
      WHERE m.org_id = c.org_id AND m.username = c.creator AND m.created_at <= c.created_at)) \
      AS owner_id FROM \
      """
          .formatted(ITEM.names("c"), REVISION.names("r", OF_REVISION), FILES_COUNTED, Members.ID);

  private static final String JOINED =
      """
       c JOIN checkpoint_revision r ON r.item_id = c.item_id \
      LEFT JOIN org o ON o.org_id = c.org_id \
      """;

  /**
   * Condition that the member who announced the draft of {@code c} may still publish it: they are
   * not suspended, and have been on the roster since before the announcement, so that a later
   * member with the same name cannot continue it; and for a public item the feed is open to the
   * organization {@code o}.
   */
  static final String MEMBER_MAY_PUBLISH =
      """
      (c.org_id = '' OR (o.retired_at IS NULL AND (c.visibility = '%s' OR o.kind = '%s') \
      AND EXISTS (SELECT 1 FROM member m JOIN checkpoint_revision d \
      ON d.item_id = c.item_id AND d.revision = c.draft_revision \
      WHERE m.org_id = c.org_id AND m.username = c.creator \
      AND m.suspended_at IS NULL AND m.created_at <= d.created_at \
      AND (c.creator_id IS NULL OR c.creator_id = %s))))\
      """
          .formatted(Visibility.ORG.label(), Publisher.PUBLISHES, Members.ID);

  /** Condition that the draft {@code p} was announced by a publishing credential that has ended. */
  static final String CREDENTIAL_ENDED =
      """
      p.credential_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM oauth_grant \
      WHERE grant_id = p.credential_id AND %s)\
      """
          .formatted(PublishingLimits.NOT_ENDED);

  /** Condition that the draft of {@code c} may still be published. */
  static final String MAY_PUBLISH =
      """
      (%s AND NOT EXISTS (SELECT 1 FROM checkpoint_revision p \
      WHERE p.item_id = c.item_id AND p.revision = c.draft_revision AND %s))\
      """
          .formatted(MEMBER_MAY_PUBLISH, CREDENTIAL_ENDED);

  private CheckpointRows() {}

  /** Returns the items that {@link #select} finds, in the order of each item's first row. */
  static Future<List<CheckpointStore.Listed>> read(
      Database database, String sql, List<?> parameters) {
    return database.read(sql, parameters, CheckpointRows::piece).map(CheckpointRows::assembled);
  }

  static Statement insertion(Checkpoint item, Supplier<? extends RuntimeException> refusal) {
    return INDEXED_ITEM.insert(item, "ON CONFLICT DO NOTHING").orElse(refusal);
  }

  /** The place is checked too, because a renamed item may collide with another. */
  static Statement update(
      Checkpoint before, Checkpoint item, Supplier<? extends RuntimeException> refusal) {
    return INDEXED_ITEM
        .update(
            item,
            """
            item_id = ? AND version = ? AND NOT EXISTS (SELECT 1 FROM checkpoint other \
            WHERE other.org_id = ? AND other.visibility = ? AND other.filename = ? \
            AND other.item_id <> ?)\
            """,
            item.id(),
            before.version(),
            item.orgId(),
            item.visibility().label(),
            item.fileName(),
            item.id())
        .orElse(refusal);
  }

  static Statement deletion(String itemId, Revision revision) {
    return Statement.of(
        "DELETE FROM checkpoint_revision WHERE item_id = ? AND revision = ?",
        itemId,
        revision.number());
  }

  static Statement insertion(String itemId, Revision revision) {
    return REVISION.insert(new Owned(itemId, revision));
  }

  private static @Nullable Integer number(@Nullable Revision revision) {
    return revision == null ? null : revision.number();
  }

  private static @Nullable Revision onFeed(Checkpoint item) {
    return item.visibility() == Visibility.PUBLIC ? item.live() : null;
  }

  private static @Nullable Long feedAt(Checkpoint item) {
    Revision live = onFeed(item);
    return live == null ? null : live.publishedAtMillis();
  }

  private static @Nullable String feedSearch(Checkpoint item) {
    Revision live = onFeed(item);
    return live == null ? null : searched(live.metadata());
  }

  private static String searched(Metadata metadata) {
    return searched(metadata.title() + '\n' + metadata.description() + '\n' + metadata.fileName());
  }

  /** Normalizes text for comparison: lower case by rules that do not depend on engine or locale. */
  static String searched(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  /** An item joined with one of its revisions, which is stored in place of its draft. */
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
    return new CheckpointStore.Listed(
        first
            .whole
            .item()
            .withRevisions(
                revisions.get(first.draft), revisions.get(first.head), revisions.get(first.live)),
        first.whole.orgDisplay(),
        Map.of());
  }

  private static Piece piece(Row row) {
    String display = row.textOrNull("org_display");
    Checkpoint item =
        new Checkpoint(
            row.text("item_id"),
            row.text("org_id"),
            Visibility.of(row.text("visibility")),
            row.text("filename"),
            row.text("creator"),
            row.textOrNull("owner_id"),
            row.textOrNull("publisher_name"),
            row.integer("created_at"),
            row.integer("changed_at"),
            row.smallInteger("last_revision"),
            row.integer("version"),
            revision(row.of(OF_REVISION), row.smallInteger("files_counted")),
            null,
            null);
    return new Piece(
        new CheckpointStore.Listed(item, display == null ? "" : display, Map.of()),
        row.integerOrNull("draft_revision"),
        row.integerOrNull("head_revision"),
        row.integerOrNull("live_revision"));
  }

  private static Revision revision(Row row, int files) {
    return new Revision(
        row.smallInteger("revision"),
        Revision.State.of(row.text("state")),
        new Metadata(
            row.text("title"),
            row.text("description"),
            row.text("filename"),
            row.text("content_type"),
            row.integer("bytes"),
            row.textOrNull("declared_sha256"),
            files),
        row.truth("resumable"),
        row.textOrNull("session_sha256"),
        row.integer("created_at"),
        row.integer("expires_at"),
        row.textOrNull("sha256"),
        row.integerOrNull("published_at"),
        row.textOrNull("review_id"),
        new JsonArray(row.text("findings")).stream().map(String::valueOf).toList(),
        row.textOrNull("rejection_reason"),
        row.textOrNull("credential_id"));
  }
}
