package dev.bourse.market;

import dev.bourse.capacity.Conditions;
import java.util.OptionalLong;

/**
 * The amount that a declaration has spent of its budget.
 *
 * @param budget the budget
 * @param micros micro-dollars spent since it was set, rounded up, at least 0
 * @param reachedAtMillis when the amount reached the budget; empty while it is less
 */
public record Spent(Conditions.Budget budget, long micros, OptionalLong reachedAtMillis) {
  private static final long MICROS_PER_CENT = 10_000;

  public Spent {
    if (micros < 0) {
      throw new IllegalArgumentException(
          "%d micro-dollars spent: must not be negative".formatted(micros));
    }
  }

  /** Returns the rest of the budget, in micro-dollars; negative if more was spent. */
  long leftMicros() {
    return budget.maxSpendCents() * MICROS_PER_CENT - micros;
  }
}
