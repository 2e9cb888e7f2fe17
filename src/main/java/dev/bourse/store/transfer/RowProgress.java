package dev.bourse.store.transfer;

/** Is told how far a table is: after each row, so it had better be quick. */
@FunctionalInterface
public interface RowProgress {
  void at(String table, long done, long total);
}
