package dev.bourse.store;

import io.vertx.core.Future;
import java.util.List;

/**
 * A correction in one statement.
 *
 * @param isAhead an SQL condition on the table's columns and {@code clock}, which has the times
 *     {@code now} and {@code latest}; a time after {@code latest} is ahead
 * @param assignments SQL assignments for rows that are ahead
 */
public record TableCorrection(Database database, String table, String isAhead, String assignments)
    implements Correction {
  private static final String CLOCK =
      "WITH clock (now, latest) AS (SELECT CAST(? AS BIGINT), CAST(? AS BIGINT)) ";

  private static final String NOW = "(SELECT now FROM clock)";
  private static final String LATEST = "(SELECT latest FROM clock)";

  /**
   * Moves a time that lies ahead to the present, and times computed from it by the same amount, so
   * that durations stay the same.
   *
   * @param column the column of the time
   * @param following columns computed from it; they may be null
   */
  public static TableCorrection moved(
      Database database, String table, String column, String... following) {
    StringBuilder assignments = new StringBuilder("%s = %s".formatted(column, NOW));
    for (String time : following) {
      assignments.append(", %1$s = %1$s - (%2$s - %3$s)".formatted(time, column, NOW));
    }
    return new TableCorrection(
        database, table, "%s > %s".formatted(column, LATEST), assignments.toString());
  }

  /**
   * Limits a time to the latest that a correct clock could have written.
   *
   * @param longestMillis the most that it may lie ahead of the present
   */
  public static TableCorrection capped(
      Database database, String table, String column, long longestMillis) {
    return new TableCorrection(
        database,
        table,
        "%s > %s + %d".formatted(column, LATEST, longestMillis),
        "%s = %s + %d".formatted(column, NOW, longestMillis));
  }

  @Override
  public boolean readsWholeTable() {
    return true;
  }

  @Override
  public Future<Boolean> correct(long nowMillis) {
    long latest = nowMillis + APART_MILLIS;
    return database
        .readOne(
            "%sSELECT COUNT(*) AS ahead FROM (SELECT 1 FROM %s WHERE %s LIMIT 1) AS found"
                .formatted(CLOCK, table, isAhead),
            List.of(nowMillis, latest),
            row -> row.integer("ahead") > 0)
        .compose(
            found ->
                found
                    ? database
                        .commit(
                            List.of(
                                Statement.of(
                                    "%sUPDATE %s SET %s WHERE %s"
                                        .formatted(CLOCK, table, assignments, isAhead),
                                    nowMillis,
                                    latest)))
                        .map(true)
                    : Future.succeededFuture(false));
  }
}
