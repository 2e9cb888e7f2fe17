package dev.bourse.scrub;

import java.math.BigInteger;

/**
 * When the next blob may be read.
 *
 * @param fromMillis what its time is counted from
 * @param bytes what was read then
 */
record Pace(long fromMillis, long bytes) {
  /** How many parts a share is counted in. */
  static final int WHOLE = 1_000_000;

  private static final long DAY_MILLIS = 86_400_000;

  /**
   * How late a blob may come without slowing the next: longer than the pause between two looks at
   * the mark, and so short that nothing noticeable is made up for.
   */
  static final long CARRY_MILLIS = 10_000;

  /** How far a clock may be behind the one that wrote the mark, of another machine perhaps. */
  private static final long TOLERANCE_MILLIS = 60_000;

  /**
   * How long so many bytes have to last.
   *
   * @param storedBytes all there are
   * @param share how many millionths of them are read a day, at least 1
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

  /** Whether the bytes have had their time, or the clock was set back to before them. */
  boolean isOver(long nowMillis, long storedBytes, int share) {
    return nowMillis >= endMillis(storedBytes, share) || nowMillis < fromMillis - TOLERANCE_MILLIS;
  }

  /** The pace once another blob is taken up now. */
  Pace next(long nowMillis, long nextBytes, long storedBytes, int share) {
    long end = endMillis(storedBytes, share);
    boolean isNearlyInTime = end <= nowMillis && end > nowMillis - CARRY_MILLIS;
    return new Pace(isNearlyInTime ? end : nowMillis, nextBytes);
  }

  private long endMillis(long storedBytes, int share) {
    return fromMillis + millis(bytes, storedBytes, share);
  }
}
