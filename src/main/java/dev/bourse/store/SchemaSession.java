package dev.bourse.store;

import io.vertx.core.Future;
import java.util.List;

/** The engine operations that {@link Migrations} need. No time-out may interrupt its statements. */
public interface SchemaSession {
  /** Returns the engine's dialect of schema definitions. */
  Dialect dialect();

  /** Returns whether the store has the table of migrations, which a new store lacks. */
  Future<Boolean> hasMigrationTable();

  /** Reads rows as {@link Database#read} does. */
  <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper);

  /** Executes all statements in one transaction, or none. */
  Future<Void> commit(List<Statement> statements);
}
