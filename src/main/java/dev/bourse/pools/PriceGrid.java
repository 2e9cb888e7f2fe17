package dev.bourse.pools;

/**
 * The fixed prices at which bids are told: from a pool's reserve price on in steps of 5 %, in whole
 * cents per GPU-hour. They tell bidders the step in which a rival's ceiling lies and not the
 * ceiling.
 */
public final class PriceGrid {
  private static final long STEP_PERCENT = 105;

  private PriceGrid() {}

  /** The grid price after this one: 5 % higher, rounded to cents, and at least a cent higher. */
  public static long next(long gridCents) {
    return Math.max(gridCents + 1, (gridCents * STEP_PERCENT + 50) / 100);
  }

  /** The highest price that is told as this grid price. */
  public static long stepEnd(long gridCents) {
    return next(gridCents) - 1;
  }

  /**
   * The highest grid price at or under a price.
   *
   * @param fromCents the reserve price, or any higher grid price
   * @param cents at least {@code fromCents}
   */
  static long floor(long fromCents, long cents) {
    if (cents < fromCents) {
      throw new IllegalArgumentException(
          "price %d is under the grid, which begins at %d".formatted(cents, fromCents));
    }
    long step = fromCents;
    for (long next = next(step); next <= cents; next = next(next)) {
      step = next;
    }
    return step;
  }
}
