package dev.bourse.audit;

import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads trails: an organization's, the platform's, and one token's part of either. */
public final class TrailStore {
  private static final String WRITES_AFTER =
      """
      SELECT id, ts, actor, action, subject, detail FROM audit
      WHERE org_id = ? AND is_read = 0 AND id > ? AND id <= ? ORDER BY id LIMIT ?\
      """;

  private final Database database;
  private final ReadPages readPages;

  public TrailStore(Database database) {
    this.database = database;
    this.readPages = new ReadPages(database);
  }

  /**
   * Succeeds if the trail exists: the platform's, or that of an organization, even a retired one.
   * Otherwise fails with an {@link ApiException} {@code not-found}.
   *
   * @param owner the organization, or {@link Trails#PLATFORM}
   */
  public Future<Void> requireTrail(String owner) {
    if (owner.equals(Trails.PLATFORM)) {
      return Future.succeededFuture();
    }
    return database
        .read("SELECT 1 FROM org WHERE org_id = ?", List.of(owner), row -> true)
        .compose(
            found ->
                found.isEmpty()
                    ? Future.failedFuture(ApiException.notFound("organization", owner))
                    : Future.succeededFuture());
  }

  /**
   * Returns a page of a trail, newest first. It starts at the newest settled row, below which no
   * more rows can appear, so that a client that continues from it misses nothing.
   *
   * @param owner the organization, or {@link Trails#PLATFORM}
   * @param actor returns only entries of this actor; empty for the whole trail
   */
  public Future<Page<TrailEntry>> listEntries(
      String owner, Optional<String> actor, TrailQuery query) {
    return listEntries(owner, actor, query.reads(), query.before(), query.pageSize());
  }

  /**
   * Returns a page.
   *
   * @param before returns only entries below this id
   * @param size the maximum number of entries
   */
  Future<Page<TrailEntry>> listEntries(
      String owner, Optional<String> actor, boolean reads, long before, int size) {
    return database
        .settledTrail(before - 1)
        .compose(
            settled -> read(owner, actor, reads, settled < before ? settled + 1 : before, size));
  }

  /**
   * Lists an organization's writes after an entry, by id, at most {@code limit}. It includes only
   * settled rows, below which no more rows can appear.
   */
  public Future<List<TrailEntry>> listWritesAfter(String orgId, long id, int limit) {
    return database
        .settledTrail(Long.MAX_VALUE)
        .compose(
            settled ->
                database.read(WRITES_AFTER, List.of(orgId, id, settled, limit), TrailStore::entry));
  }

  /** Returns an id below all rows that are stored from now on. */
  public Future<Long> newestSettled() {
    return database.settledTrail(Long.MAX_VALUE);
  }

  private Future<Page<TrailEntry>> read(
      String owner, Optional<String> actor, boolean reads, long before, int size) {
    List<Object> parameters = new ArrayList<>();
    for (int kind = 0; kind <= (reads ? 1 : 0); kind++) {
      parameters.add(owner);
      actor.ifPresent(parameters::add);
      parameters.add(before);
      // One more than the page shows whether there are more.
      parameters.add(size + 1);
    }
    if (reads) {
      parameters.add(size + 1);
    }
    Future<List<TrailEntry>> rows =
        database.read(page(actor.isPresent(), reads), parameters, TrailStore::entry);
    return reads
        ? rows.compose(
            found ->
                readPages
                    .newest(owner, actor, before, lowest(found, size + 1), size + 1)
                    .map(more -> Page.of(merged(found, more, size + 1), size)))
        : rows.map(found -> Page.of(found, size));
  }

  /** Returns the id below which no entries are needed; 0 if there are not enough. */
  private static long lowest(List<TrailEntry> found, int enough) {
    return found.size() < enough ? 0 : found.get(enough - 1).id();
  }

  private static List<TrailEntry> merged(List<TrailEntry> rows, List<TrailEntry> more, int size) {
    return Stream.concat(rows.stream(), more.stream())
        .sorted(Comparator.comparingLong(TrailEntry::id).reversed())
        .limit(size)
        .toList();
  }

  /**
   * Returns the query of the newest rows below an id. Writes and reads are separate ranges of the
   * indexes, each in the order of ids, so each has its own SELECT: a page costs the same however
   * long the trail is and however many reads lie between two writes.
   */
  static String page(boolean ofActor, boolean reads) {
    return reads
        ? """
        SELECT * FROM (%s) AS writes UNION ALL SELECT * FROM (%s) AS reads \
        ORDER BY id DESC LIMIT ?\
        """
            .formatted(range(ofActor, 0), range(ofActor, 1))
        : range(ofActor, 0);
  }

  private static String range(boolean ofActor, int isRead) {
    // The expression disables the index by owner, because the index by actor is more selective.
    return """
    SELECT id, ts, actor, action, subject, detail FROM audit WHERE %s AND is_read = %d \
    AND id < ? ORDER BY id DESC LIMIT ?\
    """
        .formatted(ofActor ? "org_id || '' = ? AND actor = ?" : "org_id = ?", isRead);
  }

  private static TrailEntry entry(Row row) {
    return new TrailEntry(
        row.integer("id"),
        row.integer("ts"),
        row.text("actor"),
        row.text("action"),
        row.text("subject"),
        row.text("detail"));
  }
}
