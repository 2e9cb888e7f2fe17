package dev.bourse.store.postgres;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Deletes rows of the change feed that every reader had time to see, a few at a time.
 *
 * <p>What is deleted was visible in a snapshot as old as rows are kept, so a row is there for as
 * long after its transaction ended, however long that was open. The snapshot is stored with the
 * deletion: a reader that was away for longer sees that it has missed some. Several processes may
 * do this at once; each deletes what the others have left.
 */
final class FeedPruning {
  /** Ten times as long as a process that still runs is away from a database that is there. */
  static final long KEPT_MILLIS = 600_000;

  /** Deleted in one commit: a client's write behind it waits some milliseconds. */
  private static final int ROWS = 1_000;

  /**
   * The age by the server's clock is asked for too: after a crash of the server ids may be used
   * again that a snapshot from before counts as old. Rows of ids that are not handed out yet came
   * with a dump of another server, and would be met at each reading.
   */
  private static final String OLD =
      """
      at_ms <= (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT - ?
      AND (pg_visible_in_snapshot(txid, CAST(CAST(? AS text) AS pg_snapshot))
      OR txid >= pg_snapshot_xmax(pg_current_snapshot()))\
      """;

  private record Found(long rows, @Nullable Long lastPosition, boolean isOfLostFuture) {}

  private final Database database;
  private final long keptMillis;
  private final LongSupplier nanoTime;
  private @Nullable String snapshot;
  private long takenNanos;

  FeedPruning(Database database, long keptMillis, LongSupplier nanoTime) {
    this.database = database;
    this.keptMillis = keptMillis;
    this.nanoTime = nanoTime;
  }

  /** One small deletion; tells whether there is more to do now. */
  Future<Boolean> step() {
    String old = snapshot;
    if (old == null) {
      return take();
    }
    if (nanoTime.getAsLong() - takenNanos < keptMillis * 1_000_000) {
      return Future.succeededFuture(false);
    }
    return database
        .read(
            """
            SELECT COUNT(*) AS found, MAX(position) AS last,
            CAST(pg_snapshot_xmax(CAST(CAST(? AS text) AS pg_snapshot))
            > pg_snapshot_xmax(pg_current_snapshot()) AS INT) AS lost FROM
            (SELECT position FROM change_feed WHERE %s ORDER BY position LIMIT %s) found\
            """
                .formatted(OLD, ROWS),
            List.of(old, keptMillis, old),
            row -> new Found(row.integer("found"), row.integerOrNull("last"), row.truth("lost")))
        .compose(
            found -> {
              Long through = found.get(0).lastPosition();
              // Of a database that was set back the snapshot tells what never happened.
              return through == null || found.get(0).isOfLostFuture()
                  ? take()
                  : delete(old, through).map(true);
            });
  }

  private Future<Boolean> take() {
    long now = nanoTime.getAsLong();
    return database
        .read(
            "SELECT CAST(pg_current_snapshot() AS text) AS snapshot",
            List.of(),
            row -> row.text("snapshot"))
        .map(
            found -> {
              snapshot = found.get(0);
              takenNanos = now;
              return false;
            });
  }

  private Future<Void> delete(String old, long through) {
    return database.commit(
        List.of(
            Statement.of(
                """
                INSERT INTO change_feed_horizon (id, pruned)
                VALUES (1, CAST(CAST(? AS text) AS pg_snapshot))
                ON CONFLICT (id) DO UPDATE SET pruned = excluded.pruned
                WHERE pg_snapshot_xmax(excluded.pruned)
                >= pg_snapshot_xmax(change_feed_horizon.pruned)
                OR pg_snapshot_xmax(change_feed_horizon.pruned)
                > pg_snapshot_xmax(pg_current_snapshot())\
                """,
                old),
            Statement.of(
                "DELETE FROM change_feed WHERE position <= ? AND " + OLD,
                through,
                keptMillis,
                old)));
  }
}
