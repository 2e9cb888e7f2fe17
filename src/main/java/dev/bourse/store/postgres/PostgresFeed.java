package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what table {@code change_feed} has that this process has not seen.
 *
 * <p>A position in the feed is a snapshot of the server's: new is what the snapshot before did not
 * show and the one of now does. So a transaction that stays open holds nobody else's changes back,
 * and its own are found once it ends, whatever ids it drew before. The order of ids was rejected
 * for that: ids are drawn before commits are ordered. One statement takes the new snapshot and
 * reads by it, for each statement at READ COMMITTED sees exactly one.
 *
 * <p>A difference too large for one answer is read in slices, all of them against the same two
 * snapshots; the older is let go only when the last slice has been told.
 */
final class PostgresFeed {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresFeed.class);

  /** Rows of one answer: some ten kilobytes. */
  private static final int SLICE_ROWS = 1_000;

  /** Past so many, comparing everything costs less than hearing of each. */
  private static final int MOST_ROWS = 10_000;

  /** More commits of unknown outcome than this are not asked for one by one. */
  private static final int MOST_DOUBTS = 100;

  private static final String BEGIN = "SELECT CAST(pg_current_snapshot() AS text)";

  /**
   * What is new, in the order it was stored, and whether some of it may be gone from the feed. Ids
   * that are not handed out yet are of another server, whose dump the database was made of: they
   * say nothing here.
   */
  private static final String NEWS =
      """
      WITH asked AS MATERIALIZED (
        SELECT CAST(CAST($1 AS text) AS pg_snapshot) AS last, pg_current_snapshot() AS latest)
      SELECT CAST(a.latest AS text),
        EXISTS (
          SELECT 1 FROM change_feed_horizon h
          WHERE pg_snapshot_xmax(h.pruned) <= pg_snapshot_xmax(a.latest)
            AND (pg_snapshot_xmax(h.pruned) > pg_snapshot_xmax(a.last)
              OR EXISTS (
                SELECT 1 FROM pg_snapshot_xip(a.last) AS open(txid)
                WHERE pg_visible_in_snapshot(open.txid, h.pruned)))),
        n.position, n.topic, n.key, n.version
      FROM asked a LEFT JOIN LATERAL (
        SELECT f.position, f.topic, f.key, f.version FROM change_feed f
        WHERE f.txid >= pg_snapshot_xmin(a.last) AND f.txid < pg_snapshot_xmax(a.latest)
          AND NOT pg_visible_in_snapshot(f.txid, a.last)
          AND f.sender <> CAST($2 AS text)
        ORDER BY f.position LIMIT 1001) n ON true
      ORDER BY n.position
      """;

  private static final String MORE_NEWS =
      """
      SELECT f.position, f.topic, f.key, f.version FROM change_feed f
      WHERE f.txid >= pg_snapshot_xmin(CAST(CAST($1 AS text) AS pg_snapshot))
        AND NOT pg_visible_in_snapshot(f.txid, CAST(CAST($1 AS text) AS pg_snapshot))
        AND pg_visible_in_snapshot(f.txid, CAST(CAST($3 AS text) AS pg_snapshot))
        AND f.sender <> CAST($2 AS text) AND f.position > $4
      ORDER BY f.position LIMIT 1001
      """;

  /** Whether a transaction has ended, and what it left in the feed. */
  private static final String OF_TRANSACTION =
      """
      SELECT pg_visible_in_snapshot(a.txid, pg_current_snapshot()), f.topic, f.key, f.version
      FROM (SELECT CAST(CAST($1 AS text) AS xid8) AS txid) a
      LEFT JOIN change_feed f ON f.txid = a.txid ORDER BY f.position
      """;

  /** Who is told. */
  interface Audience {
    void changed(List<Change> changes);

    void missed();

    /** The server has answered; there may be more to ask. */
    void answered();
  }

  private final String sender;
  private final Audience audience;

  /** What the last reading saw; null before the first. */
  private @Nullable String last;

  /** Transactions of this process that nobody knows the outcome of. */
  private final Set<String> doubts = new LinkedHashSet<>();

  /**
   * @param sender how this process signs its own rows, which are not told
   */
  PostgresFeed(String sender, Audience audience) {
    this.sender = sender;
    this.audience = audience;
  }

  /** This process does not know whether a commit of its own is stored: it is told of it, then. */
  void doubt(String transactionId) {
    if (doubts.size() < MOST_DOUBTS) {
      doubts.add(transactionId);
    } else {
      doubts.clear();
      audience.missed();
    }
  }

  /** Tells all that became visible since the last reading that succeeded. */
  Future<Void> read(PgConnection connection) {
    String from = last;
    if (from == null) {
      return connection
          .preparedQuery(BEGIN)
          .execute()
          .map(
              rows -> {
                last = rows.iterator().next().getString(0);
                return null;
              });
    }
    return connection
        .preparedQuery(NEWS)
        .execute(Tuple.of(from, sender))
        .compose(rows -> told(connection, from, rows))
        .compose(read -> resolveDoubts(connection));
  }

  private Future<Void> told(PgConnection connection, String from, RowSet<Row> rows) {
    Row first = rows.iterator().next();
    String latest = first.getString(0);
    if (first.getBoolean(1)) {
      audience.missed();
    }
    List<Row> news = new ArrayList<>(rows.size());
    if (first.getLong(2) != null) {
      rows.forEach(news::add);
    }
    return tell(connection, from, latest, news, 2, 0);
  }

  private Future<Void> tell(
      PgConnection connection, String from, String latest, List<Row> news, int column, int before) {
    boolean isMore = news.size() > SLICE_ROWS;
    List<Row> slice = isMore ? news.subList(0, SLICE_ROWS) : news;
    if (!slice.isEmpty()) {
      audience.changed(changes(slice, column + 1));
    }
    if (!isMore) {
      last = latest;
      return Future.succeededFuture();
    }
    int told = before + slice.size();
    if (told >= MOST_ROWS) {
      last = latest;
      audience.missed();
      return Future.succeededFuture();
    }
    return connection
        .preparedQuery(MORE_NEWS)
        .execute(Tuple.of(from, sender, latest, slice.get(slice.size() - 1).getLong(column)))
        .compose(
            rows -> {
              audience.answered();
              List<Row> more = new ArrayList<>(rows.size());
              rows.forEach(more::add);
              return tell(connection, from, latest, more, 0, told);
            });
  }

  /** A row that no process of ours wrote must not keep the others from being read. */
  private List<Change> changes(List<Row> rows, int column) {
    List<Change> changes = new ArrayList<>(rows.size());
    for (Row row : rows) {
      try {
        Long version = row.getLong(column + 2);
        changes.add(
            new Change(
                row.getString(column),
                row.getString(column + 1),
                version == null ? Change.NO_VERSION : version,
                ""));
      } catch (IllegalArgumentException senseless) {
        LOG.warn("a row of the change feed cannot be read: {}", senseless.getMessage());
        audience.missed();
      }
    }
    return changes;
  }

  private Future<Void> resolveDoubts(PgConnection connection) {
    Future<Void> resolved = Future.succeededFuture();
    for (String doubt : List.copyOf(doubts)) {
      resolved =
          resolved.compose(
              v ->
                  connection
                      .preparedQuery(OF_TRANSACTION)
                      .execute(Tuple.of(doubt))
                      .map(
                          rows -> {
                            resolve(doubt, rows);
                            return null;
                          }));
    }
    return resolved;
  }

  private void resolve(String doubt, RowSet<Row> rows) {
    Row first = rows.iterator().next();
    if (!first.getBoolean(0)) {
      return;
    }
    doubts.remove(doubt);
    if (first.getString(1) != null) {
      List<Row> all = new ArrayList<>();
      rows.forEach(all::add);
      audience.changed(changes(all, 1));
    }
  }
}
