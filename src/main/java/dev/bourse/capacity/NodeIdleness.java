package dev.bourse.capacity;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The records of idle nodes, which any process writes and the market of the pool reads. Only nodes
 * of clusters whose declaration lapses for idleness have one.
 *
 * <p>A record states what a node's agent measured: since when all GPUs have been idle without a
 * gap. So it covers the whole time although each process receives a part of the reports, and a
 * process that starts has lost nothing. A record counts for two minutes, so a silent agent is never
 * taken for idleness. A process that hears of a shorter idle time than a record of another process
 * may claim, records that as well.
 */
public final class NodeIdleness {
  /** A record that is older proves nothing: the node missed four reports. */
  public static final long FRESH_MILLIS = 120_000;

  /**
   * Two reports of one idle time may give beginnings that differ by the time that the reports took
   * and by the difference of two processes' clocks.
   */
  private static final long APART_MILLIS = 60_000;

  /** A record has no effect for longer than this. */
  private static final long KEPT_MILLIS = 3_600_000;

  /** Rows of one commit. */
  private static final int ROWS_PER_COMMIT = 500;

  private final Database database;

  public NodeIdleness(Database database) {
    this.database = database;
  }

  /**
   * The record of one node.
   *
   * @param sinceMillis since when it has been idle
   * @param heardAtMillis the time of the report that said so
   * @param brokenAtMillis the latest beginning of an idle time that a report gave; null if none was
   *     recorded
   */
  public record Idle(long sinceMillis, long heardAtMillis, @Nullable Long brokenAtMillis) {
    /**
     * True if the node was idle for a time that has not ended.
     *
     * @param fromMillis idleness before does not count
     */
    boolean isIdle(long fromMillis, long forMillis, long nowMillis) {
      return Math.abs(nowMillis - heardAtMillis) <= FRESH_MILLIS
          && heardAtMillis - Math.max(sinceMillis, fromMillis) >= forMillis
          && (brokenAtMillis == null || brokenAtMillis <= sinceMillis + APART_MILLIS);
    }
  }

  /**
   * Records that a report said that a node is idle. An earlier report changes nothing, unless the
   * record has a time that is too far ahead, from a clock that was wrong.
   */
  public Future<Void> recordIdle(String allocationId, long sinceMillis, long heardAtMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                INSERT INTO node_idleness (allocation_id, since_at, heard_at) VALUES (?, ?, ?)
                ON CONFLICT (allocation_id) DO UPDATE
                SET since_at = excluded.since_at, heard_at = excluded.heard_at
                WHERE excluded.heard_at > node_idleness.heard_at
                OR excluded.heard_at < node_idleness.heard_at - ?\
                """,
                allocationId,
                sinceMillis,
                heardAtMillis,
                FRESH_MILLIS)));
  }

  /** Records that a report said that a node was not idle before this time. */
  public Future<Void> recordBroken(String allocationId, long atMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                INSERT INTO node_idleness (allocation_id, since_at, heard_at, broken_at)
                VALUES (?, 0, 0, ?)
                ON CONFLICT (allocation_id) DO UPDATE SET broken_at = excluded.broken_at
                WHERE node_idleness.broken_at IS NULL
                OR excluded.broken_at > node_idleness.broken_at\
                """,
                allocationId,
                atMillis)));
  }

  /**
   * Deletes some records of nodes that have ended or are busy; returns true if there may be more.
   */
  public Future<Boolean> deleteSome(long nowMillis) {
    long before = nowMillis - KEPT_MILLIS;
    return database
        .read(
            """
            SELECT allocation_id FROM node_idleness
            WHERE heard_at < ? AND (broken_at IS NULL OR broken_at < ?) LIMIT ?\
            """,
            List.of(before, before, ROWS_PER_COMMIT),
            row ->
                Statement.of(
                    """
                    DELETE FROM node_idleness
                    WHERE allocation_id = ? AND heard_at < ?
                    AND (broken_at IS NULL OR broken_at < ?)\
                    """,
                    row.text("allocation_id"),
                    before,
                    before))
        .compose(
            old ->
                old.isEmpty()
                    ? Future.succeededFuture(false)
                    : database.commit(old).map(old.size() == ROWS_PER_COMMIT));
  }

  /** Returns the fresh records, by allocation. */
  public Future<Map<String, Idle>> listFresh(long nowMillis) {
    return database
        .read(
            """
            SELECT allocation_id, since_at, heard_at, broken_at FROM node_idleness
            WHERE heard_at >= ?\
            """,
            List.of(nowMillis - FRESH_MILLIS),
            row ->
                Map.entry(
                    row.text("allocation_id"),
                    new Idle(
                        row.integer("since_at"),
                        row.integer("heard_at"),
                        row.integerOrNull("broken_at"))))
        .map(
            rows -> {
              Map<String, Idle> records = new HashMap<>();
              rows.forEach(row -> records.put(row.getKey(), row.getValue()));
              return records;
            });
  }
}
