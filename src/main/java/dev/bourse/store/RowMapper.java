package dev.bourse.store;

/** Makes a value of one row. Runs on the engine's thread: pure, quick, keeps no row. */
@FunctionalInterface
public interface RowMapper<T> {
  T map(Row row);
}
