package dev.bourse.events;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.core.Slices;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Reads of the activity of clusters. */
public final class ActivityStore {
  /** How deep each kind of entry is read before the two are merged; older history ages out. */
  static final int DEPTH = 400;

  /** By how much the clocks of processes may differ: far less than leases would stand. */
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

  private static final String TOLD_AFTER =
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

  /** An entry as stored. */
  public record StoredActivity(long id, long atMillis, String cluster, Activity activity) {}

  /**
   * The newest entries of these clusters, both kinds merged, newest first.
   *
   * @param who {@code user} or {@code system} to see only requests of that origin
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
   * The newest of one kind. Each cluster has a SELECT of its own, because only then the index gives
   * its rows in order and the read ends after {@link #DEPTH} of them, however many are stored.
   *
   * @param byOrigin whether only requests of one origin are asked for
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
   * A place in the activity.
   *
   * @param id the entry's
   * @param atMillis when it was made
   */
  record Position(long id, long atMillis) {
    /** Before every entry. */
    static final Position START = new Position(0, 0);

    /** The place after these entries, which are by id. */
    Position after(List<StoredActivity> entries) {
      StoredActivity last = entries.isEmpty() ? null : entries.get(entries.size() - 1);
      return last == null ? this : new Position(last.id(), Math.max(atMillis, last.atMillis()));
    }
  }

  /** Where a cluster's actions stand now; {@link Position#START} when there are none. */
  Future<Position> findNewestAction(String cluster) {
    return database.readOne(
        NEWEST_ACTION,
        List.of(cluster, cluster, SKEW_MILLIS),
        row ->
            row.integerOrNull("id") == null
                ? Position.START
                : new Position(row.integer("id"), row.integer("ts")));
  }

  /** The entry of this id; 0 is the place before all; empty when there is none. */
  Future<Optional<Position>> findPosition(long id) {
    return id == 0
        ? Future.succeededFuture(Optional.of(Position.START))
        : database.readFirst(
            "SELECT ts FROM activity WHERE id = ?",
            List.of(id),
            row -> new Position(id, row.integer("ts")));
  }

  /** A cluster's actions after a place, by id; so many at most. */
  Future<List<StoredActivity>> listActionsAfter(String cluster, Position after, int limit) {
    // By time as well, for that is what the index goes by.
    return database.read(
        ACTIONS_AFTER,
        List.of(cluster, after.atMillis() - SKEW_MILLIS, after.id(), limit),
        ActivityStore::entry);
  }

  /**
   * What was done to a cluster after an entry, and declarations that came to their end, by id; so
   * many at most. One cluster's entries are committed in the order of their ids, so none is missed.
   *
   * @param atMillis when that entry was made, or when whoever asks began
   * @param nowMillis what follows an entry of a clock that was ahead is not made after it
   */
  public Future<List<StoredActivity>> listToldAfter(
      String cluster, long id, long atMillis, long nowMillis, int limit) {
    return database.read(
        TOLD_AFTER,
        List.of(cluster, Math.min(atMillis, nowMillis) - SKEW_MILLIS, id, limit),
        ActivityStore::entry);
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
