package dev.bourse.store;

import io.vertx.core.Future;
import java.util.List;

/** What {@link Migrations} need of an engine. No statement of it may be cut short by a time-out. */
public interface SchemaSession {
  /** How the engine words definitions. */
  Dialect dialect();

  /** Whether the store has the table that records migrations; a new one has not. */
  Future<Boolean> hasMigrationTable();

  /** As {@link Database#read}. */
  <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper);

  /** Carries out all statements in one transaction, or none. */
  Future<Void> commit(List<Statement> statements);
}
