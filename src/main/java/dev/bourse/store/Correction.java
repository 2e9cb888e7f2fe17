package dev.bourse.store;

import io.vertx.core.Future;

/**
 * A correction of one table after a clock was ahead, run by {@link ClockCorrection}. It is
 * idempotent, even if two processes run it at the same time.
 */
public interface Correction {
  /** How far two correct clocks may differ. Times that lie no further ahead stay unchanged. */
  long APART_MILLIS = 60_000;

  /** Returns the table's name for the log. */
  String table();

  /**
   * True if it reads the whole table. Then it runs only after the start and after a step back of
   * the clock, because times lie ahead only then; other corrections run in every round.
   */
  boolean readsWholeTable();

  /**
   * Moves times that lie ahead to the present.
   *
   * @param nowMillis confirmed time
   * @return true if there were any
   */
  Future<Boolean> correct(long nowMillis);
}
