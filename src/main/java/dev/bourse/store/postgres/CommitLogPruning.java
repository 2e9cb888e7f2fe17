package dev.bourse.store.postgres;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deletes rows of the commit log that every reader had time to read, a few at a time. The newest
 * row of a sender stays, because it proves to readers and to its process that the database was not
 * set back. A process that stored nothing for a whole round stores an empty group. So a sender with
 * an old newest row has ended or was suspended, and all its rows are deleted; if it resumes, it
 * draws a new sender name. Several processes may do this at once; each deletes the rows that are
 * left.
 */
final class CommitLogPruning {
  /** The server's clock in epoch milliseconds. */
  static final String NOW = "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

  /** Ten times as long as a live process needs to reconnect to a database that is up. */
  private static final long KEPT_MILLIS = 600_000;

  /**
   * A process stores a row every minute. If the newest row of a process is older than this, readers
   * do not miss its rows when they are deleted a little later.
   */
  static final long SILENT_MILLIS = KEPT_MILLIS - 60_000;

  /** Rows deleted in one commit: a client's write queued behind it waits some milliseconds. */
  private static final int ROWS = 1_000;

  private record Key(String sender, long seq) {}

  private final Database database;
  private final OwnGroups own;
  private final long keptMillis;

  /** This process's newest group at the end of the last round; null before the first. */
  private @Nullable GroupId newestBefore;

  CommitLogPruning(Database database, OwnGroups own) {
    this(database, own, KEPT_MILLIS);
  }

  /**
   * @param keptMillis how long rows are kept, by the server's clock
   */
  CommitLogPruning(Database database, OwnGroups own, long keptMillis) {
    this.database = database;
    this.own = own;
    this.keptMillis = keptMillis;
  }

  /** Runs one small deletion. Returns true if there is more to delete now. */
  Future<Boolean> step() {
    return database
        .read(
            """
            WITH RECURSIVE %1$s
            SELECT o.sender, o.seq FROM newest n CROSS JOIN LATERAL (
              SELECT l.sender, l.seq, l.at_ms FROM commit_log l WHERE l.sender = n.sender
              ORDER BY l.seq LIMIT %2$d) o
            WHERE o.at_ms <= %3$s - ?
            AND (o.seq < n.seq OR (n.at_ms <= %3$s - ? AND n.sender <> ?))
            ORDER BY o.sender, o.seq LIMIT %2$d\
            """
                .formatted(CommitLogReader.NEWEST, ROWS, NOW),
            List.of(keptMillis, keptMillis, own.newestRecorded().sender()),
            row -> new Key(row.text("sender"), row.integer("seq")))
        .compose(
            found ->
                found.isEmpty()
                    ? storeEmptyGroup().map(false)
                    : database.commit(deletions(found)).map(found.size() == ROWS));
  }

  private Future<Void> storeEmptyGroup() {
    GroupId newest = own.newestRecorded();
    boolean isIdle = newest.equals(newestBefore);
    newestBefore = newest;
    return isIdle ? database.commit(List.of()) : Future.succeededFuture();
  }

  /** Returns one range deletion per sender. */
  private static List<Statement> deletions(List<Key> found) {
    List<Statement> deletions = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      Key key = found.get(i);
      if (i + 1 == found.size() || !found.get(i + 1).sender().equals(key.sender())) {
        deletions.add(
            Statement.of(
                "DELETE FROM commit_log WHERE sender = ? AND seq <= ?", key.sender(), key.seq()));
      }
    }
    return deletions;
  }
}
