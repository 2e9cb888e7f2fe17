package dev.bourse.store;

/** The clock of the machine that keeps the rows, as an expression of SQL. */
public final class ServerClock {
  /** Not {@code now()}: that is when the transaction began, and several commits share one. */
  private static final String POSTGRES =
      "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

  /** The process's own: no other keeps the rows. */
  private static final String SQLITE = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000)";

  private ServerClock() {}

  /** The present moment in epoch milliseconds. */
  public static String sql(Database database) {
    return database.isShared() ? POSTGRES : SQLITE;
  }
}
