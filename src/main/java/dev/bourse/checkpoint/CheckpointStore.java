package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rows of checkpoints and of organizations' storage, for requests. */
public final class CheckpointStore {
  /** The item has changed since it was read, or its place is taken; read it again and retry. */
  static final class ItemChangedException extends RuntimeException {
    ItemChangedException() {
      super("the checkpoint has changed since it was read", null, false, false);
    }
  }

  /** The organization has no storage left for an announcement. */
  static final class StorageFullException extends RuntimeException {
    private StorageFullException() {
      super("the organization has no storage left", null, false, false);
    }
  }

  static final String RETIRED = "SELECT org_id FROM org WHERE retired_at IS NOT NULL";

  private static final String OF_REVIEW =
      "WHERE c.item_id = (SELECT s.item_id FROM checkpoint_revision s WHERE s.review_id = ?)";

  /** Excludes the items of retired organizations, which are not served and soon deleted. */
  private static final String NOT_RETIRED = " AND o.retired_at IS NULL";

  /**
   * Items that one query of a search scans. Measured on two busy cores: 2 ms with descriptions of
   * 300 characters, 15 ms with the longest; other reads of the store wait for it.
   */
  static final int WINDOW = 500;

  /** Items that one page of a search scans: more than any organization may have. */
  static final int MOST_SEARCHED = 20_000;

  private static final Items FEED =
      new Items(
          "feed_at IS NOT NULL",
          "feed_at IS NOT NULL AND org_id NOT IN (" + RETIRED + ")",
          List.of(),
          "feed_at",
          "feed_search");

  /** Attempts to read items whose files are replaced between two reads. */
  private static final int ATTEMPTS = 3;

  private final Database database;
  private final ManifestLengths manifests;
  private final RevisionHistory history;

  public CheckpointStore(Database database) {
    this.database = database;
    this.history = new RevisionHistory(database);
    this.manifests = new ManifestLengths(database);
  }

  /**
   * An item and its organization's display name.
   *
   * @param orgDisplay empty for the platform
   * @param manifests the length of the manifest of each revision that is a set, by its number
   */
  public record Listed(Checkpoint item, String orgDisplay, Map<Integer, Long> manifests) {
    public Listed {
      manifests = Map.copyOf(manifests);
    }

    /** Returns the length of a revision's content; 0 for an expired set. */
    long contentBytes(Revision revision) {
      return revision.metadata().isSet()
          ? manifests.getOrDefault(revision.number(), 0L)
          : revision.metadata().bytes();
    }
  }

  /** The storage that an organization's items occupy. */
  record Usage(long bytes, long items) {}

  /**
   * The cursor of a list.
   *
   * @param atMillis the time that the list is ordered by
   * @param id the item's id
   */
  record Cursor(long atMillis, String id) {
    private static final Pattern TEXT = Pattern.compile("([0-9a-z]{1,11})-(ckp_[0-9A-Za-z]{1,32})");

    private static final int RADIX = 36;

    /** Returns the cursor as clients receive it; it is opaque to them. */
    String text() {
      return Long.toString(atMillis, RADIX) + '-' + id;
    }

    /**
     * Parses a cursor from {@link #text}.
     *
     * @throws ApiException {@code bad-request} for any other text
     */
    static Cursor parse(String text) {
      Matcher matcher = TEXT.matcher(text);
      if (!matcher.matches()) {
        throw ApiException.badField("before", text, "the cursor of the previous answer");
      }
      return new Cursor(Long.parseLong(matcher.group(1), RADIX), matcher.group(2));
    }
  }

  Future<Optional<Listed>> find(String itemId) {
    return one("WHERE c.item_id = ?", itemId);
  }

  /** Returns the item if it is public. */
  Future<Optional<Listed>> findOnFeed(String itemId) {
    return one("WHERE c.item_id = ? AND c.feed_at IS NOT NULL" + NOT_RETIRED, itemId);
  }

  /** Returns the public content of an item; empty if there is none. */
  Future<Optional<Content>> findContentOnFeed(String itemId) {
    return content(
        "c.live_revision WHERE c.item_id = ? AND c.feed_at IS NOT NULL" + NOT_RETIRED, itemId);
  }

  /** Returns the content that an organization sees of its item, see {@link Checkpoint#shown}. */
  Future<Optional<Content>> findShownContent(String orgId, String itemId) {
    return content(
        """
        COALESCE(c.head_revision, c.live_revision, c.draft_revision)
        WHERE c.item_id = ? AND c.org_id = ?\
        """,
        itemId,
        orgId);
  }

  /** Reads the needed columns only, because this read bounds the rate of small downloads. */
  private Future<Optional<Content>> content(String revision, String... values) {
    return database.readFirst(
        """
        SELECT r.item_id, r.revision, r.sha256, r.filename, r.content_type FROM checkpoint c \
        LEFT JOIN org o ON o.org_id = c.org_id \
        JOIN checkpoint_revision r ON r.item_id = c.item_id AND r.revision = \
        """
            + revision,
        List.of(values),
        row ->
            new Content(
                row.text("item_id"),
                row.smallInteger("revision"),
                row.textOrNull("sha256"),
                row.text("filename"),
                row.text("content_type"),
                null));
  }

  /** Returns true if there is an organization of this id, retired or not. */
  Future<Boolean> isOrganization(String orgId) {
    return database.exists("SELECT 1 FROM org WHERE org_id = ?", List.of(orgId));
  }

  /** Returns the item at a place. */
  Future<Optional<Checkpoint>> findPlaced(String orgId, Visibility visibility, String fileName) {
    return one(
            "WHERE c.org_id = ? AND c.visibility = ? AND c.filename = ?",
            orgId,
            visibility.label(),
            fileName)
        .map(found -> found.map(Listed::item));
  }

  /**
   * Returns the item whose draft has this session; empty if the member who announced it may no
   * longer publish it.
   */
  public Future<Optional<Checkpoint>> findBySession(String sessionSha256) {
    return one(
            """
            WHERE c.item_id = (SELECT s.item_id FROM checkpoint_revision s \
            WHERE s.session_sha256 = ?) AND \
            """
                + CheckpointRows.MAY_PUBLISH,
            sessionSha256)
        .map(found -> found.map(Listed::item));
  }

  /** Returns the item whose revision has this review, decided or not. */
  Future<Optional<Listed>> findByReview(String reviewId) {
    return one(OF_REVIEW + NOT_RETIRED, reviewId);
  }

  private Future<Optional<Listed>> one(String where, String... values) {
    return items(CheckpointRows.select("checkpoint") + where, List.of(values))
        .map(found -> found.stream().findFirst());
  }

  /**
   * Returns a page of an organization's items, newest first.
   *
   * @param q text that the title, description or file name must contain; empty for all
   */
  Future<Page<Listed>> listOfOrg(String orgId, String q, Optional<Cursor> before, int limit) {
    return page(
        new Items("org_id = ?", "org_id = ?", List.of(orgId), "changed_at", "search"),
        q,
        before,
        limit);
  }

  /** Returns a page of the public feed, newest first; searches like {@link #listOfOrg}. */
  Future<Page<Listed>> listFeed(String q, Optional<Cursor> before, int limit) {
    return page(FEED, q, before, limit);
  }

  /**
   * A list of items ordered by time.
   *
   * @param all a condition on columns of the list's index, which may match a few items too many
   * @param these the exact condition
   * @param values parameters of either condition
   * @param time the column of the time
   * @param search the column that is searched
   */
  private record Items(String all, String these, List<String> values, String time, String search) {}

  private Future<Page<Listed>> page(Items list, String q, Optional<Cursor> before, int limit) {
    Future<List<Listed>> found =
        q.isEmpty()
            ? rows(list, q, before, Optional.empty(), limit + 1)
            : search(list, q, before, limit + 1, MOST_SEARCHED / WINDOW, new ArrayList<>());
    return found.map(items -> Page.of(items, limit));
  }

  /** Searches one window after another, so that other reads run between two of them. */
  private Future<List<Listed>> search(
      Items list, String q, Optional<Cursor> before, int most, int windows, List<Listed> found) {
    return windowEnd(list, before)
        .compose(
            end ->
                rows(list, q, before, end, most - found.size())
                    .compose(
                        more -> {
                          found.addAll(more);
                          return found.size() == most || end.isEmpty() || windows == 1
                              ? Future.succeededFuture(found)
                              : search(list, q, end, most, windows - 1, found);
                        }));
  }

  /** Returns the last position of a window; empty if less than a window is left. */
  private Future<Optional<Cursor>> windowEnd(Items list, Optional<Cursor> before) {
    List<Object> parameters = new ArrayList<>(list.values());
    String sql =
        """
        SELECT %1$s AS at, item_id FROM checkpoint WHERE %2$s%3$s \
        ORDER BY %1$s DESC, item_id DESC LIMIT 1 OFFSET ?\
        """
            .formatted(list.time(), list.all(), behind(list, before, parameters));
    parameters.add(WINDOW - 1);
    return database.readFirst(
        sql, parameters, row -> new Cursor(row.integer("at"), row.text("item_id")));
  }

  private static String behind(Items list, Optional<Cursor> before, List<Object> parameters) {
    before.ifPresent(place -> Collections.addAll(parameters, place.atMillis(), place.id()));
    return before.isPresent() ? " AND (" + list.time() + ", item_id) < (?, ?)" : "";
  }

  /**
   * @param through the last position to read; empty to read all
   */
  private Future<List<Listed>> rows(
      Items list, String q, Optional<Cursor> before, Optional<Cursor> through, int most) {
    List<Object> parameters = new ArrayList<>(list.values());
    StringBuilder sql = new StringBuilder("(SELECT * FROM checkpoint WHERE ").append(list.these());
    sql.append(behind(list, before, parameters));
    through.ifPresent(
        place -> {
          sql.append(" AND (").append(list.time()).append(", item_id) >= (?, ?)");
          Collections.addAll(parameters, place.atMillis(), place.id());
        });
    if (!q.isEmpty()) {
      sql.append(" AND ").append(list.search()).append(" LIKE ? ESCAPE '!'");
      parameters.add('%' + CheckpointRows.searched(q).replaceAll("[!%_]", "!$0") + '%');
    }
    sql.append(" ORDER BY ").append(list.time()).append(" DESC, item_id DESC LIMIT ?)");
    parameters.add(most);
    return items(
        "%sORDER BY c.%s DESC, c.item_id DESC, r.revision"
            .formatted(CheckpointRows.select(sql.toString()), list.time()),
        parameters);
  }

  /**
   * Returns a page of the open reviews, oldest first.
   *
   * @param after the last review of the previous page
   */
  Future<Page<Listed>> listReviews(Optional<Cursor> after, int limit) {
    List<Object> parameters = new ArrayList<>();
    after.ifPresent(
        cursor ->
            Collections.addAll(parameters, cursor.atMillis(), cursor.atMillis(), cursor.id()));
    parameters.add(limit + 1);
    String open =
        """
        (SELECT i.* FROM checkpoint i JOIN checkpoint_revision h \
        ON h.item_id = i.item_id AND h.revision = i.head_revision \
        WHERE h.state = 'review' AND i.org_id NOT IN (%s)%s ORDER BY i.changed_at, i.item_id LIMIT ?)\
        """
            .formatted(
                RETIRED,
                after.isPresent()
                    ? " AND (i.changed_at > ? OR (i.changed_at = ? AND i.item_id > ?))"
                    : "");
    return items(
            CheckpointRows.select(open) + "ORDER BY c.changed_at, c.item_id, r.revision",
            parameters)
        .map(found -> Page.of(found, limit));
  }

  /** Returns the published revisions of an item, newest first. */
  Future<List<RevisionHistory.Entry>> listRevisions(String itemId) {
    return history.list(itemId);
  }

  Future<Usage> usage(String orgId) {
    return database
        .read(
            "SELECT used_bytes, items FROM checkpoint_usage WHERE org_id = ?",
            List.of(orgId),
            row -> new Usage(row.integer("used_bytes"), row.integer("items")))
        .map(found -> found.isEmpty() ? new Usage(0, 0) : found.get(0));
  }

  /**
   * Commits a change with all its consequences. Fails with {@link ItemChangedException} or {@link
   * StorageFullException}.
   *
   * @param mostBytes storage limit of the organization; checked when storage is reserved
   * @param mostItems limit of the number of items
   */
  Future<Void> commit(
      ChangeSet change, long mostBytes, long mostItems, long nowMillis, List<AuditRow> audit) {
    List<Statement> statements = new ArrayList<>();
    Checkpoint item = change.item();
    change
        .dropped()
        .forEach(revision -> statements.add(CheckpointRows.deletion(item.id(), revision)));
    if (change.before().isEmpty()) {
      statements.add(CheckpointRows.insertion(item, ItemChangedException::new));
    } else if (change.after().isPresent()) {
      statements.add(CheckpointRows.update(change.before().get(), item, ItemChangedException::new));
    }
    for (Revision revision : change.written()) {
      statements.add(CheckpointRows.deletion(item.id(), revision));
      statements.add(CheckpointRows.insertion(item.id(), revision));
    }
    if (change.after().isEmpty()) {
      statements.add(RevisionHistory.removal(item.id()));
      statements.add(
          Statement.guarded(
              ItemChangedException::new,
              "DELETE FROM checkpoint WHERE item_id = ? AND version = ?",
              item.id(),
              item.version()));
    }
    // Links new files before old ones are released, because a repeated announcement shares the
    // files of the previous one.
    change.draftFiles().ifPresent(draft -> statements.addAll(SetStore.insertion(item, draft)));
    change
        .obsoleteSets()
        .forEach(number -> statements.addAll(SetStore.release(item.id(), number, nowMillis)));
    addUsage(statements, item.orgId(), change, mostBytes, mostItems);
    change
        .announcedByCredential()
        .ifPresent(draft -> statements.addAll(PublishingLimits.reserve(draft, nowMillis)));
    change
        .published()
        .ifPresent(
            revision -> {
              statements.addAll(RevisionHistory.addition(item.id(), revision, nowMillis));
              if (revision.credentialId() != null) {
                statements.add(PublishingLimits.spend(revision, nowMillis));
              }
            });
    change.obsoleteUploads().forEach(name -> statements.add(garbage(name, "upload", nowMillis)));
    change.obsoleteBlobs().forEach(key -> statements.add(garbage(key, "blob", nowMillis)));
    audit.forEach(row -> statements.add(AuditStore.insert(row)));
    return database.commit(statements);
  }

  private static void addUsage(
      List<Statement> statements, String orgId, ChangeSet change, long mostBytes, long mostItems) {
    long bytes = change.bytesTaken();
    int items = change.itemsTaken();
    if (bytes == 0 && items == 0) {
      return;
    }
    statements.add(
        Statement.of(
            """
            INSERT INTO checkpoint_usage (org_id, used_bytes, items) VALUES (?, 0, 0) \
            ON CONFLICT DO NOTHING\
            """,
            orgId));
    String taken =
        """
        UPDATE checkpoint_usage SET used_bytes = used_bytes + ?, items = items + ? WHERE org_id = ?\
        """;
    statements.add(
        bytes > 0 || items > 0
            ? Statement.guarded(
                StorageFullException::new,
                taken + " AND used_bytes <= ? AND items <= ?",
                bytes,
                items,
                orgId,
                mostBytes - bytes,
                mostItems - items)
            : Statement.of(taken, bytes, items, orgId));
  }

  private static Statement garbage(String name, String kind, long nowMillis) {
    return Statement.of(
        """
        INSERT INTO checkpoint_garbage (name, kind, since) VALUES (?, ?, ?) \
        ON CONFLICT DO NOTHING\
        """,
        name,
        kind,
        nowMillis);
  }

  private Future<List<Listed>> items(String sql, List<?> parameters) {
    return items(sql, parameters, ATTEMPTS);
  }

  private Future<List<Listed>> items(String sql, List<?> parameters, int attempts) {
    return CheckpointRows.read(database, sql, parameters)
        .compose(
            found -> {
              List<Checkpoint> items = found.stream().map(Listed::item).toList();
              return manifests
                  .load(items)
                  .compose(
                      loaded ->
                          attempts > 1 && items.stream().anyMatch(manifests::hasUnknown)
                              ? items(sql, parameters, attempts - 1)
                              : Future.succeededFuture(
                                  found.stream().map(this::measured).toList()));
            });
  }

  private Listed measured(Listed listed) {
    return new Listed(listed.item(), listed.orgDisplay(), manifests.of(listed.item()));
  }
}
