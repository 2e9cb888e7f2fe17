package dev.bourse.store.sqlite;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.RowMapper;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that answers queries, each in a transaction of its own, so that it sees every commit
 * that completed before.
 */
final class SqliteReader implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(SqliteReader.class);

  record Query<T>(
      String sql,
      List<? extends @Nullable Object> parameters,
      RowMapper<T> mapper,
      BatchedPromise<List<T>> reply,
      long askedNanos) {

    private void run(SqliteConnection connection) throws SQLException {
      reply.succeed(connection.query(sql, parameters, mapper));
    }
  }

  private final Path file;
  private final Inbox<Query<?>> inbox;
  private final StoreSignals counted;
  private @Nullable SqliteConnection connection;

  SqliteReader(Path file, Inbox<Query<?>> inbox, StoreSignals counted) {
    this.file = file;
    this.inbox = inbox;
    this.counted = counted;
  }

  @Override
  public void run() {
    List<Query<?>> taken = new ArrayList<>(1);
    while (inbox.take(taken, waiting -> 1, 1)) {
      Query<?> query = taken.remove(0);
      counted.recordReadWait(System.nanoTime() - query.askedNanos);
      query.reply.recordStart();
      try {
        if (connection == null) {
          connection = SqliteConnection.forReading(file);
        }
        query.run(connection);
      } catch (SQLException e) {
        boolean environmental = SqliteConnection.isEnvironmental(e);
        query.reply.fail(
            environmental
                ? new StoreUnavailableException(
                    "cannot read from the store", e, SqliteConnection.isFull(e), false)
                : e);
        if (environmental) {
          close();
        }
      } catch (Throwable t) {
        // The mapper's own failure, including an Error, belongs to its caller and must not end the
        // thread.
        query.reply.fail(t);
      }
      BatchedPromise.deliver(List.of(query.reply));
    }
    close();
  }

  private void close() {
    SqliteConnection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        log.warn("closing a connection to the store failed", e);
      }
    }
  }
}
