package dev.bourse.store.sqlite;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/**
 * Reads a store that is not in service, on behalf of a command: queries run on the caller's thread,
 * one at a time, and no file is written.
 */
public final class SqliteReading implements Database {
  private final Path file;
  private final SqliteConnection connection;

  private SqliteReading(Path file, SqliteConnection connection) {
    this.file = file;
    this.connection = connection;
  }

  /**
   * Opens a store.
   *
   * @throws StoreRefusedException if the file is missing or not a store
   */
  public static SqliteReading open(Path file) {
    try {
      return new SqliteReading(file, SqliteConnection.forReading(file));
    } catch (SQLException e) {
      throw new StoreRefusedException("cannot read the store " + file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public synchronized <T> Future<List<T>> read(
      String sql, List<?> parameters, RowMapper<T> mapper) {
    try {
      return Future.succeededFuture(connection.query(sql, parameters, mapper));
    } catch (SQLException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    return Future.failedFuture(
        new UnsupportedOperationException(file + " is open for reading only"));
  }

  @Override
  public void listen(ChangeListener listener) {}

  @Override
  public Future<Long> settledTrail(long enough) {
    return readOne(
        "SELECT COALESCE(MAX(id), 0) AS newest FROM audit",
        List.of(),
        row -> row.integer("newest"));
  }

  @Override
  public String newTrailIdsSql() {
    return SqliteDatabase.NEW_TRAIL_IDS;
  }

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public String clockSql() {
    return SqliteDatabase.CLOCK;
  }

  @Override
  public synchronized Future<Void> close() {
    try {
      connection.close();
      return Future.succeededFuture();
    } catch (SQLException e) {
      return Future.failedFuture(e);
    }
  }
}
