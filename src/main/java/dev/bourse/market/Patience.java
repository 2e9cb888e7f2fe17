package dev.bourse.market;

/**
 * The time in which a minimum of several nodes must become active.
 *
 * @param millis milliseconds from the oldest of its grants until the grants are unwound, and as
 *     long again until its cluster bids again
 * @param isClockDoubted true if no grant is unwound now because the clock may be ahead: the market
 *     would give up nodes that are nearly prepared
 */
record Patience(long millis, boolean isClockDoubted) {
  /** Creates the time limit for a clock that is right. */
  static Patience of(long millis) {
    return new Patience(millis, false);
  }
}
