package dev.bourse.store.transfer;

/** Receives the progress of a table. Called after each row, so it must be fast. */
@FunctionalInterface
public interface RowProgress {
  void at(String table, long done, long total);
}
