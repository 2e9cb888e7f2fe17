package dev.bourse.store;

import io.vertx.core.Future;

/**
 * Puts right what a clock that was ahead has left in one table, run by {@link ClockCorrection}.
 * Running it again, or in two processes at once, changes nothing more.
 */
public interface Correction {
  /**
   * As much may two clocks differ that are both right: what lies no further ahead is left alone.
   */
  long APART_MILLIS = 60_000;

  /** The table, for the log. */
  String table();

  /**
   * Whether it reads the whole table. Such a correction runs after the start and after a step back
   * of the clock, which alone leave times ahead; the others run in every round.
   */
  boolean readsWholeTable();

  /**
   * Brings times that lie ahead back to the present.
   *
   * @param nowMillis confirmed time
   * @return whether there were any
   */
  Future<Boolean> correct(long nowMillis);
}
