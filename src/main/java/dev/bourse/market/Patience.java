package dev.bourse.market;

/**
 * How long a minimum of several nodes may take to become active.
 *
 * @param millis from the oldest of its grants until they are unwound, and as long again until its
 *     cluster bids anew
 * @param isClockDoubted whether nothing is unwound now, since the clock may be ahead: nodes that
 *     are nearly prepared would be given up for it
 */
record Patience(long millis, boolean isClockDoubted) {
  /** By a clock that is right. */
  static Patience of(long millis) {
    return new Patience(millis, false);
  }
}
