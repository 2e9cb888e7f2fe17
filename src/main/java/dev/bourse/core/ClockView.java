package dev.bourse.core;

import org.jspecify.annotations.Nullable;

/**
 * The state of the clocks, for operators.
 *
 * @param nowMillis the current time as the service shows it
 * @param confirmedMillis confirmed time; null while there is none
 * @param newestMillis the newest time ever confirmed; null before the first
 * @param leftMillis milliseconds a clock must still run steadily until it is confirmed; 0 when it
 *     is
 * @param aheadMillis milliseconds by which this machine's clock is ahead of the database's; null in
 *     the embedded store and while the database is unreachable
 * @param stepsAhead steps ahead since the start of this process
 * @param stepsBack steps back since then
 * @param lastStep the latest step; null if there was none
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

  /**
   * A step of a clock: the clock's reading after the step, and the size of the step, both in
   * milliseconds.
   */
  public record Step(long atMillis, long byMillis) {}
}
