package dev.bourse.core;

import org.jspecify.annotations.Nullable;

/**
 * What is known of the clocks, for operators.
 *
 * @param nowMillis the time that is told to people
 * @param confirmedMillis confirmed time; null while there is none
 * @param newestMillis the newest that was ever confirmed; null before the first
 * @param leftMillis for how long a clock must go on until it is confirmed; 0 when it is
 * @param aheadMillis how far this machine's clock is ahead of the database's; null in the embedded
 *     store and while the database is away
 * @param stepsAhead steps ahead since the start of this process
 * @param stepsBack steps back since then
 * @param lastStep null when there was none
 */
public record ClockView(
    long nowMillis,
    @Nullable Long confirmedMillis,
    @Nullable Long newestMillis,
    long leftMillis,
    @Nullable Long aheadMillis,
    long stepsAhead,
    long stepsBack,
    @Nullable Step lastStep) {

  /** A step: the clock as it was after it, and how far it went. */
  public record Step(long atMillis, long byMillis) {}
}
