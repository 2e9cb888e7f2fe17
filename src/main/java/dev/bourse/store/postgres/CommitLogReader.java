package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the rows of table {@code commit_log} that this process has not applied yet.
 *
 * <p>The position of a reader is one {@code seq} for each sender. A sender's groups are numbered
 * without gaps and stored in that order, so all rows after its {@code seq} are new. Each read
 * includes the row at the position. If that row is missing, groups were deleted before this process
 * read them. If the sender's newest row is older than the position, the database was set back to an
 * earlier state. In both cases, and after a promotion, all data held in memory is compared with the
 * store.
 *
 * <p>Runs on one context.
 */
final class CommitLogReader {
  private static final Logger LOG = LoggerFactory.getLogger(CommitLogReader.class);

  /** Groups of one sender in one query; each has a text of some ten kilobytes at most. */
  private static final int SLICE_GROUPS = 100;

  /** If a sender is more groups ahead than this, a full comparison costs less than its changes. */
  private static final int MOST_BEHIND = 2_000;

  /**
   * Selects the newest row of each sender. It scans from the newest end because the oldest rows are
   * deleted continuously, and while a snapshot is open a scan would pass over all rows deleted
   * since.
   */
  static final String NEWEST =
      """
      newest AS (
        (SELECT sender, seq, at_ms FROM commit_log ORDER BY sender DESC, seq DESC LIMIT 1)
        UNION ALL
        SELECT g.sender, g.seq, g.at_ms FROM newest n CROSS JOIN LATERAL (
          SELECT l.sender, l.seq, l.at_ms FROM commit_log l WHERE l.sender < n.sender
          ORDER BY l.sender DESC, l.seq DESC LIMIT 1) g)\
      """;

  /** A sender without a position is new here, so its groups are read from the first. */
  private static final String NEWS =
      """
      WITH RECURSIVE %1$s,
      known AS (
        SELECT k.sender, k.seq
        FROM unnest(CAST($1 AS text[]), CAST($2 AS bigint[])) AS k(sender, seq))
      SELECT pg_is_in_recovery() AS is_standby, %2$s AS now_ms,
        n.sender, n.seq AS newest, n.at_ms, g.seq, g.changes
      FROM (SELECT 1) AS one LEFT JOIN newest n ON true LEFT JOIN known k ON k.sender = n.sender
      LEFT JOIN LATERAL (
        SELECT l.seq, CASE WHEN l.seq > k.seq OR k.seq IS NULL THEN l.changes END AS changes
        FROM commit_log l WHERE l.sender = n.sender AND l.seq >= COALESCE(k.seq, 1)
        ORDER BY l.seq LIMIT %3$d) g ON true
      ORDER BY n.sender, g.seq
      """
          .formatted(NEWEST, CommitLogPruning.NOW, SLICE_GROUPS + 1);

  interface Receiver {
    void changed(List<Change> changes);

    /**
     * Reports that groups may have been missed, so everything held is to be compared with the
     * store.
     */
    void missed();

    /**
     * Reports the same because the database lost groups that it had stored.
     *
     * @param afterSilence true if the only evidence is that this process's rows are missing after a
     *     time in which it stored nothing; other processes may have deleted them
     */
    void setBack(boolean afterSilence);
  }

  /** The server is a standby, whose data may be outdated. */
  static final class StandbyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StandbyException() {
      super("the server is a standby", null, false, false);
    }
  }

  /** The last applied group of a sender, and when it was stored by the server's clock. */
  private record Position(long seq, long atMillis) {}

  private final OwnGroups own;
  private final Receiver receiver;

  /** Positions of the other senders; null before the first read. */
  private @Nullable Map<String, Position> positions;

  /** When this process's newest group was stored, as of the last read, by the server's clock. */
  private long ownAtMillis = Long.MAX_VALUE / 2;

  /** When the log was last read, by the server's clock. */
  private long readAtMillis;

  private boolean isPromoted;

  CommitLogReader(OwnGroups own, Receiver receiver) {
    this.own = own;
    this.receiver = receiver;
  }

  /**
   * Makes the next read report missed groups, because another server was promoted. It may have lost
   * a group that was read here, and its sender may have stored others under the same numbers since.
   */
  void promoted() {
    isPromoted = true;
  }

  /**
   * Reports all groups that were stored since the last successful read; the first read only takes
   * the position. Fails with {@link StandbyException} if the server is a standby.
   */
  Future<Void> read(PgConnection connection) {
    Map<String, Position> known = positions == null ? Map.of() : positions;
    GroupId recorded = own.newestRecorded();
    List<String> senders = new ArrayList<>(known.keySet());
    List<Long> seqs = new ArrayList<>(known.values().stream().map(Position::seq).toList());
    if (recorded.seq() > 0) {
      senders.add(recorded.sender());
      seqs.add(recorded.seq());
    }
    return connection
        .preparedQuery(NEWS)
        .execute(
            Tuple.tuple()
                .addArrayOfString(senders.toArray(String[]::new))
                .addArrayOfLong(seqs.toArray(Long[]::new)))
        .compose(rows -> apply(recorded, rows) ? read(connection) : Future.<Void>succeededFuture());
  }

  /** Returns true if there is more to read now. */
  private boolean apply(GroupId recorded, RowSet<Row> rows) {
    Row first = rows.iterator().next();
    if (first.getBoolean("is_standby")) {
      throw new StandbyException();
    }
    Map<String, List<Row>> bySender = new HashMap<>();
    for (Row row : rows) {
      if (row.getString("sender") != null) {
        bySender.computeIfAbsent(row.getString("sender"), s -> new ArrayList<>()).add(row);
      }
    }
    Map<String, Position> known = positions;
    boolean isFirst = known == null;
    Map<String, Position> before = known == null ? Map.of() : known;
    Map<String, Position> after = new HashMap<>();
    Findings found = new Findings();
    long now = first.getLong("now_ms");
    // A sender that appeared and ended since the last read leaves no position to compare.
    found.isMissed =
        !isFirst && (isPromoted || now - readAtMillis > CommitLogPruning.SILENT_MILLIS);
    isPromoted = false;
    readAtMillis = now;
    List<Row> ownGroups = bySender.get(recorded.sender());
    boolean isOwnGone = recorded.seq() > 0 && newest(ownGroups) < recorded.seq();
    boolean wasSilent = ownGroups == null && now - ownAtMillis > CommitLogPruning.SILENT_MILLIS;
    found.isSetBack = isOwnGone && !wasSilent;
    ownAtMillis = ownGroups == null ? now : ownGroups.get(0).getLong("at_ms");
    bySender.forEach(
        (sender, groups) -> {
          if (!own.isOwn(sender)) {
            Position from = before.get(sender);
            after.put(sender, isFirst ? atNewest(groups) : found.judge(from, groups));
          }
        });
    before.forEach(
        (sender, position) -> {
          long age = now - position.atMillis();
          found.isSetBack |= !after.containsKey(sender) && age < CommitLogPruning.SILENT_MILLIS;
        });
    if (!found.changes.isEmpty()) {
      receiver.changed(found.changes);
    }
    boolean isSetBack = found.isSetBack || isOwnGone;
    if (isSetBack) {
      // Every position is invalid because each sender has other groups in another history.
      bySender.forEach((sender, groups) -> after.put(sender, atNewest(groups)));
      receiver.setBack(!found.isSetBack);
    } else if (found.isMissed) {
      receiver.missed();
    }
    after.keySet().removeIf(own::isOwn);
    positions = after;
    return found.isMore && !isSetBack;
  }

  private static long newest(@Nullable List<Row> groups) {
    return groups == null ? 0 : groups.get(0).getLong("newest");
  }

  private static Position atNewest(List<Row> groups) {
    Row row = groups.get(0);
    return new Position(row.getLong("newest"), row.getLong("at_ms"));
  }

  /** The result of one query. */
  private static final class Findings {
    final List<Change> changes = new ArrayList<>();
    boolean isSetBack;
    boolean isMissed;
    boolean isMore;

    /** Returns the new position of a sender. */
    Position judge(@Nullable Position from, List<Row> groups) {
      Position newest = atNewest(groups);
      long last = from == null ? 0 : from.seq();
      if (newest.seq() < last) {
        isSetBack = true;
        return newest;
      }
      if (newest.seq() - last > MOST_BEHIND) {
        isMissed = true;
        return newest;
      }
      boolean isAtPosition = from != null;
      for (Row group : groups) {
        long seq = group.getLong("seq");
        if (seq != (isAtPosition ? last : last + 1)) {
          isMissed = true;
          return newest;
        }
        if (!isAtPosition) {
          add(group);
        }
        isAtPosition = false;
        last = seq;
      }
      isMore |= last < newest.seq();
      return new Position(last, newest.atMillis());
    }

    /** Skips a malformed row, so that it cannot stop the others from being read. */
    private void add(Row group) {
      String text = group.getString("changes");
      if (text == null) {
        // This row is a tombstone.
        return;
      }
      try {
        changes.addAll(ChangeText.read(text));
      } catch (IllegalArgumentException malformed) {
        LOG.warn("skipped a malformed row of the commit log: {}", malformed.getMessage());
        isMissed = true;
      }
    }
  }
}
