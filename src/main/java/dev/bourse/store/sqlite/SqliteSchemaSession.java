package dev.bourse.store.sqlite;

import dev.bourse.store.Dialect;
import dev.bourse.store.RowMapper;
import dev.bourse.store.SchemaSession;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.sql.SQLException;
import java.util.List;

/** Runs migrations over a connection on the caller's thread; its futures are already complete. */
record SqliteSchemaSession(SqliteConnection connection) implements SchemaSession {

  @Override
  public Dialect dialect() {
    return Dialect.SQLITE;
  }

  @Override
  public Future<Boolean> hasMigrationTable() {
    return read(
            """
            SELECT COUNT(*) AS found FROM sqlite_schema
            WHERE type = 'table' AND name = 'migration'\
            """,
            List.of(),
            row -> row.truth("found"))
        .map(found -> found.get(0));
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    try {
      return Future.succeededFuture(connection.query(sql, parameters, mapper));
    } catch (SQLException | RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Future<Void> commit(List<Statement> statements) {
    try {
      connection.execute("BEGIN IMMEDIATE");
      for (Statement statement : statements) {
        connection.execute(statement);
      }
      connection.execute("COMMIT");
      return Future.succeededFuture();
    } catch (SQLException | RuntimeException e) {
      return undone(e);
    }
  }

  private Future<Void> undone(Exception cause) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
    return Future.failedFuture(cause);
  }

  /**
   * Returns the value of a completed future.
   *
   * @throws Exception the failure of the future
   */
  static <T> T settled(Future<T> future) throws Exception {
    if (future.succeeded()) {
      return future.result();
    }
    throw future.cause() instanceof Exception e ? e : new IllegalStateException(future.cause());
  }
}
