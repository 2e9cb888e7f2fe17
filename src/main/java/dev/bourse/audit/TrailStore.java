package dev.bourse.audit;

import dev.bourse.core.ApiError;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads of the trails: an organization's, the platform's, and one token's part of either. */
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
   * Makes sure that there is such a trail: the platform's, or that of an organization, retired or
   * not. Fails with an {@link ApiError} {@code not-found} otherwise.
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
                    ? Future.failedFuture(ApiError.notFound("organization", owner))
                    : Future.succeededFuture());
  }

  /**
   * A page of a trail, newest first. It begins with the newest row below which none can appear any
   * more, so that whoever goes on from it misses nothing.
   *
   * @param owner the organization, or {@link Trails#PLATFORM}
   * @param actor only what this actor did; empty for the whole trail
   */
  public Future<Page<TrailEntry>> listEntries(
      String owner, Optional<String> actor, TrailQuery query) {
    return listEntries(owner, actor, query.reads(), query.before(), query.pageSize());
  }

  /**
   * The same by its parts.
   *
   * @param before only entries below this id
   * @param size most entries of the page
   */
  Future<Page<TrailEntry>> listEntries(
      String owner, Optional<String> actor, boolean reads, long before, int size) {
    return database
        .settledTrail(before - 1)
        .compose(
            settled -> read(owner, actor, reads, settled < before ? settled + 1 : before, size));
  }

  /**
   * An organization's writes after an entry, by id; so many at most. None is among them below which
   * another can still appear.
   */
  public Future<List<TrailEntry>> listWritesAfter(String orgId, long id, int limit) {
    return database
        .settledTrail(Long.MAX_VALUE)
        .compose(
            settled ->
                database.read(WRITES_AFTER, List.of(orgId, id, settled, limit), TrailStore::entry));
  }

  /** An id above which everything is that is stored from now on. */
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
      // One more than the page tells whether there are more.
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

  /** The id below which nothing is needed any more; 0 unless there are enough. */
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
   * The newest rows below an id. Writes and reads are separate ranges of the indexes, each in order
   * of id, so each has a SELECT of its own: the page costs what it shows, however long the trail is
   * and however many reads lie between two writes.
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
    // As an expression the owner is no way in: the index by actor is the narrower one.
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
