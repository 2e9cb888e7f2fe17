package dev.bourse.events;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.Slices;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Reads the activity of clusters. */
public final class ActivityStore {
  /** Entries of each kind that are read before both are merged; older ones are not listed. */
  static final int DEPTH = 400;

  /** Largest tolerated clock skew between processes: leases fail at far less. */
  public static final long SKEW_MILLIS = 600_000;

  /** Clusters of one statement: SQLite joins at most 500 SELECTs. */
  static final int CLUSTERS_PER_READ = 100;

  private static final String NEWEST = " ORDER BY ts DESC, id DESC LIMIT " + DEPTH;

  private static final String ACTIONS_AFTER =
      """
      SELECT %s FROM activity WHERE cluster = ? AND kind = 'action' AND ts >= ? AND id > ?
      ORDER BY id LIMIT ?\
      """
          .formatted(ActivityRows.NAMES);

  private static final String EVENTS_AFTER =
      """
      SELECT %s FROM activity WHERE cluster = ? AND kind IN ('action', 'request')
      AND ts >= ? AND id > ? AND (kind = 'action' OR reason IS NOT NULL) ORDER BY id LIMIT ?\
      """
          .formatted(ActivityRows.NAMES);

  private static final String NEWEST_ACTION =
      """
      SELECT MAX(id) AS id, MAX(ts) AS ts FROM activity
      WHERE cluster = ? AND kind = 'action' AND ts >=
      (SELECT MAX(x.ts) FROM activity x WHERE x.cluster = ? AND x.kind = 'action')
      - CAST(? AS BIGINT)\
      """;

  private final Database database;

  public ActivityStore(Database database) {
    this.database = database;
  }

  /** A stored entry. */
  public record StoredActivity(long id, long atMillis, String cluster, Activity activity) {}

  /** The names of all clusters of an organization's surface, the retired ones too. */
  Future<List<String>> listNames(String orgId, Cluster.Kind kind) {
    return database.read(
        "SELECT name FROM cluster WHERE org_id = ? AND kind = ? ORDER BY name",
        List.of(orgId, kind.name()),
        row -> row.text("name"));
  }

  /**
   * Returns the newest entries of these clusters, both kinds merged, newest first.
   *
   * @param who {@code user} or {@code system} to return only entries of that origin
   */
  Future<List<StoredActivity>> listNewest(List<String> clusters, Optional<String> who) {
    if (clusters.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    Future<List<StoredActivity>> requests = listKind("request", clusters, who);
    Future<List<StoredActivity>> actions =
        who.isPresent()
            ? Future.succeededFuture(List.of())
            : listKind("action", clusters, Optional.empty());
    return Future.all(requests, actions)
        .map(both -> newestFirst(List.of(requests.result(), actions.result())));
  }

  private Future<List<StoredActivity>> listKind(
      String kind, List<String> clusters, Optional<String> who) {
    List<Future<List<StoredActivity>>> chunks = new ArrayList<>();
    for (List<String> chunk : Slices.of(clusters, CLUSTERS_PER_READ)) {
      List<Object> parameters = new ArrayList<>();
      for (String cluster : chunk) {
        parameters.add(cluster);
        parameters.add(kind);
        who.ifPresent(parameters::add);
      }
      chunks.add(
          database.read(
              newestOfKind(chunk.size(), who.isPresent()), parameters, ActivityStore::entry));
    }
    return Future.all(chunks)
        .map(
            all -> {
              List<StoredActivity> newest = newestFirst(all.list());
              return newest.subList(0, Math.min(DEPTH, newest.size()));
            });
  }

  /**
   * Returns the query for the newest entries of one kind. Each cluster has a SELECT of its own,
   * because only then the index returns its rows in order and the read ends after {@link #DEPTH} of
   * them, however many are stored.
   *
   * @param byOrigin whether to select requests of one origin only
   */
  static String newestOfKind(int clusters, boolean byOrigin) {
    String newestOfOne =
        "SELECT %s FROM activity WHERE cluster = ? AND kind = ?%s%s"
            .formatted(ActivityRows.NAMES, byOrigin ? " AND who = ?" : "", NEWEST);
    return clusters == 1
        ? newestOfOne
        : String.join(
                " UNION ALL ",
                Collections.nCopies(clusters, "SELECT * FROM (" + newestOfOne + ") AS newest"))
            + NEWEST;
  }

  /**
   * A position in the activity.
   *
   * @param id the entry's
   * @param atMillis its time
   */
  record Position(long id, long atMillis) {
    /** Before every entry. */
    static final Position START = new Position(0, 0);

    /** Returns the position after these entries, which are ordered by id. */
    Position after(List<StoredActivity> entries) {
      StoredActivity last = entries.isEmpty() ? null : entries.get(entries.size() - 1);
      return last == null ? this : new Position(last.id(), Math.max(atMillis, last.atMillis()));
    }
  }

  /** Returns the position of a cluster's newest action; {@link Position#START} if there is none. */
  Future<Position> findNewestAction(String cluster) {
    return database.readOne(
        NEWEST_ACTION,
        List.of(cluster, cluster, SKEW_MILLIS),
        row ->
            row.integerOrNull("id") == null
                ? Position.START
                : new Position(row.integer("id"), row.integer("ts")));
  }

  /**
   * Returns the position of an entry; id 0 is before all entries; empty if the entry does not
   * exist.
   */
  Future<Optional<Position>> findPosition(long id) {
    return id == 0
        ? Future.succeededFuture(Optional.of(Position.START))
        : database.readFirst(
            "SELECT ts FROM activity WHERE id = ?",
            List.of(id),
            row -> new Position(id, row.integer("ts")));
  }

  /** Lists a cluster's actions after a position, by id, up to a limit. */
  Future<List<StoredActivity>> listActionsAfter(String cluster, Position after, int limit) {
    // The condition on the time matches the index.
    return database.read(
        ACTIONS_AFTER,
        List.of(cluster, after.atMillis() - SKEW_MILLIS, after.id(), limit),
        ActivityStore::entry);
  }

  /**
   * Lists a cluster's actions, and declarations that ended, after an entry, by id, up to a limit.
   * One cluster's entries are committed in the order of their ids, so none is missed.
   *
   * @param atMillis time of that entry, or the start of the caller's interest
   * @param nowMillis bounds the entries' times, because entries after one written by a clock that
   *     ran ahead may have earlier times
   */
  public Future<List<StoredActivity>> listEventsAfter(
      String cluster, long id, long atMillis, long nowMillis, int limit) {
    return database.read(
        EVENTS_AFTER,
        List.of(cluster, Math.min(atMillis, nowMillis) - SKEW_MILLIS, id, limit),
        ActivityStore::entry);
  }

  /**
   * Returns the surface that shows a cluster. For a cluster that is not stored it is the Kubernetes
   * surface, which shows no address.
   */
  public Future<Cluster.Kind> findSurface(String cluster) {
    return database
        .readFirst(
            "SELECT kind FROM cluster WHERE name = ?",
            List.of(cluster),
            row -> row.value(Cluster.Kind.class, "kind"))
        .map(found -> found.orElse(Cluster.Kind.K8S));
  }

  /** Returns the id of the newest entry of all clusters; 0 if there is none. */
  public Future<Long> newestId() {
    return database.readOne(
        "SELECT COALESCE(MAX(id), 0) AS id FROM activity", List.of(), row -> row.integer("id"));
  }

  private static List<StoredActivity> newestFirst(List<List<StoredActivity>> lists) {
    List<StoredActivity> merged = new ArrayList<>();
    lists.forEach(merged::addAll);
    merged.sort(
        Comparator.comparingLong(StoredActivity::atMillis)
            .thenComparingLong(StoredActivity::id)
            .reversed());
    return merged;
  }

  private static StoredActivity entry(Row row) {
    return new StoredActivity(
        row.integer("id"), row.integer("ts"), row.text("cluster"), ActivityRows.activity(row));
  }
}
