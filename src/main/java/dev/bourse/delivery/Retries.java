package dev.bourse.delivery;

import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * When a delivery that failed is tried again: after pauses that grow threefold from five seconds to
 * six hours, each of them between a half and one and a half of that, so that receivers that come
 * back are not met by all at once.
 *
 * @param forMillis a delivery is given up when its next attempt would be so long after its first,
 *     and it was tried {@link #LEAST_TRIES} times
 */
public record Retries(long forMillis) {
  private static final long FIRST_MILLIS = 5_000;
  private static final long LONGEST_MILLIS = 6 * 3_600_000L;
  private static final int FACTOR = 3;

  /** The longest delay between two attempts. */
  public static final long MOST_MILLIS = LONGEST_MILLIS + LONGEST_MILLIS / 2;

  /**
   * Nothing is given up for its age before so many tries, which take half a day at least: the first
   * may look older than it is after a jump of the clock, or when nothing was tried for days.
   */
  static final int LEAST_TRIES = 10;

  /** When to try again; empty to give up. */
  public OptionalLong next(int tries, long firstTryMillis, long nowMillis, RandomGenerator random) {
    long pause = FIRST_MILLIS;
    for (int i = 1; i < tries && pause < LONGEST_MILLIS; i++) {
      pause *= FACTOR;
    }
    pause = Math.min(pause, LONGEST_MILLIS);
    long next = nowMillis + pause / 2 + (long) (random.nextDouble() * pause);
    return tries >= LEAST_TRIES && next - firstTryMillis >= forMillis
        ? OptionalLong.empty()
        : OptionalLong.of(next);
  }
}
