package dev.bourse.capacity;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads of the activity of clusters. */
public final class ActivityStore {
  /** How deep each kind of entry is read before the two are merged; older history ages out. */
  static final int DEPTH = 400;

  private final Database database;

  public ActivityStore(Database database) {
    this.database = database;
  }

  /** An entry as stored. */
  public record Entry(long id, long atMillis, String cluster, Activity activity) {}

  /**
   * The newest entries of these clusters, both kinds merged, newest first.
   *
   * @param who {@code user} or {@code system} to see only requests of that origin
   */
  Future<List<Entry>> listNewest(List<String> clusters, Optional<String> who) {
    if (clusters.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    Future<List<Entry>> requests = listKind("request", clusters, who);
    Future<List<Entry>> actions =
        who.isPresent()
            ? Future.succeededFuture(List.of())
            : listKind("action", clusters, Optional.empty());
    return Future.all(requests, actions)
        .map(
            both -> {
              List<Entry> merged = new ArrayList<>(requests.result());
              merged.addAll(actions.result());
              merged.sort(
                  Comparator.comparingLong(Entry::atMillis)
                      .thenComparingLong(Entry::id)
                      .reversed());
              return merged;
            });
  }

  private Future<List<Entry>> listKind(String kind, List<String> clusters, Optional<String> who) {
    List<@Nullable Object> parameters = new ArrayList<>(clusters);
    parameters.add(kind);
    who.ifPresent(parameters::add);
    return database.read(
        "SELECT id, ts, cluster, kind, actor, who, max_gpus, ceiling_cents, note, reason"
            + " FROM activity WHERE cluster IN ("
            + String.join(", ", Collections.nCopies(clusters.size(), "?"))
            + ") AND kind = ?"
            + (who.isPresent() ? " AND who = ?" : "")
            + " ORDER BY ts DESC, id DESC LIMIT "
            + DEPTH,
        parameters,
        ActivityStore::entry);
  }

  private static Entry entry(Row row) {
    Long maxGpus = row.integerOrNull(6);
    return new Entry(
        row.integer(0),
        row.integer(1),
        row.text(2),
        new Activity(
            row.text(3),
            row.text(4),
            row.text(5),
            maxGpus == null ? null : Math.toIntExact(maxGpus),
            row.integerOrNull(7),
            row.textOrNull(8),
            row.textOrNull(9)));
  }
}
