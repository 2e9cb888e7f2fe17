package dev.bourse.delivery;

import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/** Decides when a failed item is tried again. */
@FunctionalInterface
public interface RetrySchedule {
  /**
   * Returns the time of the next attempt; empty to give up.
   *
   * @param tries attempts so far, at least 1
   */
  OptionalLong next(int tries, long firstTryMillis, long nowMillis, RandomGenerator random);
}
