package dev.bourse.market;

import dev.bourse.capacity.Conditions;
import java.util.OptionalLong;

/**
 * What a declaration has cost of its budget.
 *
 * @param budget the budget that was looked at
 * @param micros micro-dollars since it was set, rounded up
 * @param reachedAtMillis when that was as much as the budget; empty while it is less
 */
public record Spent(Conditions.Budget budget, long micros, OptionalLong reachedAtMillis) {
  private static final long MICROS_PER_CENT = 10_000;

  public Spent {
    if (micros < 0) {
      throw new IllegalArgumentException(
          "%d micro-dollars spent: must not be negative".formatted(micros));
    }
  }

  /** What is left, in micro-dollars; negative when more was spent. */
  long leftMicros() {
    return budget.maxSpendCents() * MICROS_PER_CENT - micros;
  }
}
