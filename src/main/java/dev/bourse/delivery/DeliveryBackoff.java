package dev.bourse.delivery;

import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Exponential backoff of failed deliveries: delays grow threefold from five seconds to six hours,
 * with a random factor between 0.5 and 1.5, so that a recovering receiver is not hit by all retries
 * at once.
 *
 * @param forMillis a delivery is given up if its next attempt would be this long after its first,
 *     and it was tried {@link #LEAST_TRIES} times
 */
public record DeliveryBackoff(long forMillis) implements RetrySchedule {
  private static final long FIRST_MILLIS = 5_000;
  private static final long LONGEST_MILLIS = 6 * 3_600_000L;
  private static final int FACTOR = 3;

  /** The longest delay between two attempts. */
  public static final long MOST_MILLIS = LONGEST_MILLIS + LONGEST_MILLIS / 2;

  /**
   * Attempts before a delivery may be given up for its age, which take half a day at least: its age
   * may be wrong after a clock step, or after days without attempts.
   */
  static final int LEAST_TRIES = 10;

  @Override
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
