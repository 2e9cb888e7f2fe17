package dev.bourse.billing;

import dev.bourse.core.ConfirmedTime;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.OptionalLong;

/**
 * Deletes expired changes of nodes' health, oldest first, in small commits. The last change of a
 * held node is kept, because the present state follows from it; so is each change that an unposted
 * hour needs. A step of a background job; one at a time. Nothing is deleted without confirmed time.
 */
public final class HealthRetention {
  /** Rows of one commit: they hold the writer for some 10 ms. */
  static final int ROWS_PER_COMMIT = 500;

  private final Database database;
  private final long keptMillis;
  private final ConfirmedTime time;

  /**
   * @param keptMillis retention, the same as of the activity that bills are computed from; 0 to
   *     keep all
   */
  public HealthRetention(Database database, long keptMillis, ConfirmedTime time) {
    this.database = database;
    this.keptMillis = keptMillis;
    this.time = time;
  }

  /** Deletes some changes; returns whether there may be more. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    if (keptMillis == 0 || now.isEmpty()) {
      return Future.succeededFuture(false);
    }
    return database
        .readOne(
            "SELECT COALESCE(MIN(through), 0) AS posted FROM billing_posted",
            List.of(),
            row -> row.integer("posted"))
        .compose(posted -> delete(Math.min(posted, now.getAsLong() - keptMillis)));
  }

  private Future<Boolean> delete(long before) {
    return database
        .read(
            """
            SELECT h.id FROM allocation_health h WHERE h.ts < ? AND (EXISTS
            (SELECT 1 FROM allocation_health n WHERE n.allocation_id = h.allocation_id
            AND n.id > h.id AND n.ts < ?) OR EXISTS
            (SELECT 1 FROM allocation a WHERE a.allocation_id = h.allocation_id AND a.gone_at < ?))
            ORDER BY h.ts, h.id LIMIT ?\
            """,
            List.of(before, before, before, ROWS_PER_COMMIT),
            row -> Statement.of("DELETE FROM allocation_health WHERE id = ?", row.integer("id")))
        .compose(
            old ->
                old.isEmpty()
                    ? Future.succeededFuture(false)
                    : database.commit(old).map(old.size() == ROWS_PER_COMMIT));
  }
}
