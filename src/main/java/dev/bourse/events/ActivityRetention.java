package dev.bourse.events;

import dev.bourse.core.ConfirmedTime;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.OptionalLong;

/**
 * Deletes expired activity of clusters, oldest first, in small commits. A step of a background job;
 * one at a time. Several processes may run it. Nothing is deleted without confirmed time.
 */
public final class ActivityRetention {
  /** Entries of one commit, which occupies the writer for some 10 ms. */
  static final int ENTRIES_PER_COMMIT = 500;

  private final Database database;
  private final long keptMillis;
  private final ConfirmedTime time;

  /**
   * @param keptMillis retention of entries; 0 to keep all
   */
  public ActivityRetention(Database database, long keptMillis, ConfirmedTime time) {
    this.database = database;
    this.keptMillis = keptMillis;
    this.time = time;
  }

  private record AgedActivity(long id, long atMillis) {}

  /** Deletes some entries; returns whether there may be more. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    if (keptMillis == 0 || now.isEmpty()) {
      return Future.succeededFuture(false);
    }
    long before = now.getAsLong() - keptMillis;
    // The newest entry is kept at any age, because SQLite would reuse its id.
    return database
        .read(
            """
            SELECT id, ts FROM activity WHERE id < (SELECT MAX(id) FROM activity)
            ORDER BY id LIMIT ?\
            """,
            List.of(ENTRIES_PER_COMMIT),
            row -> new AgedActivity(row.integer("id"), row.integer("ts")))
        .compose(oldest -> delete(oldest, before));
  }

  private Future<Boolean> delete(List<AgedActivity> oldest, long before) {
    long old = oldest.stream().filter(entry -> entry.atMillis() < before).count();
    if (old == 0) {
      return Future.succeededFuture(false);
    }
    long lastId = oldest.get(oldest.size() - 1).id();
    // Ids follow time except for clock skew, so the scan stops at the first young entry.
    boolean isMore = old == ENTRIES_PER_COMMIT;
    return database
        .commit(
            List.of(Statement.of("DELETE FROM activity WHERE id <= ? AND ts < ?", lastId, before)))
        .map(isMore);
  }
}
