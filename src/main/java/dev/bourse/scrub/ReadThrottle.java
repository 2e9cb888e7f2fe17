package dev.bourse.scrub;

import java.math.BigInteger;

/**
 * Limits the rate of reading by the time at which the next blob may be read.
 *
 * @param fromMillis start of the current period
 * @param bytes bytes read in it
 */
record ReadThrottle(long fromMillis, long bytes) {
  /** The denominator of shares. */
  static final int WHOLE = 1_000_000;

  private static final long DAY_MILLIS = 86_400_000;

  /**
   * How late a blob may be without delaying the next one: longer than the interval of steps, and so
   * short that no noticeable backlog is caught up.
   */
  static final long CARRY_MILLIS = 10_000;

  /** Tolerated skew to the clock that wrote the mark, which may be another machine's. */
  private static final long TOLERANCE_MILLIS = 60_000;

  /**
   * Returns how long a number of bytes must last.
   *
   * @param storedBytes all stored bytes
   * @param share millionths of them that are read a day, at least 1
   */
  static long millis(long bytes, long storedBytes, int share) {
    if (bytes == 0) {
      return 0;
    }
    BigInteger perDay = BigInteger.valueOf(Math.max(bytes, storedBytes)).multiply(of(share));
    BigInteger[] whole =
        of(bytes).multiply(of(DAY_MILLIS)).multiply(of(WHOLE)).divideAndRemainder(perDay);
    return whole[0].add(of(whole[1].signum())).longValueExact();
  }

  private static BigInteger of(long number) {
    return BigInteger.valueOf(number);
  }

  /** Returns true if the period is over, or the clock was set back to before it. */
  boolean isOver(long nowMillis, long storedBytes, int share) {
    return nowMillis >= endMillis(storedBytes, share) || nowMillis < fromMillis - TOLERANCE_MILLIS;
  }

  /** Returns the period of the next blob, started now. */
  ReadThrottle next(long nowMillis, long nextBytes, long storedBytes, int share) {
    long end = endMillis(storedBytes, share);
    boolean isNearlyInTime = end <= nowMillis && end > nowMillis - CARRY_MILLIS;
    return new ReadThrottle(isNearlyInTime ? end : nowMillis, nextBytes);
  }

  private long endMillis(long storedBytes, int share) {
    return fromMillis + millis(bytes, storedBytes, share);
  }
}
