package dev.bourse.edge;

import java.security.SecureRandom;
import java.time.Clock;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Sources of time and randomness.
 *
 * @param clock the time of day, used for the Date header
 * @param nanos a monotonic clock, used for budgets and deadlines
 * @param random unguessable numbers, used for request ids
 */
public record Sources(Clock clock, LongSupplier nanos, RandomGenerator random) {
  /** Returns the sources of the machine. */
  public static Sources system() {
    return new Sources(Clock.systemUTC(), System::nanoTime, new SecureRandom());
  }
}
