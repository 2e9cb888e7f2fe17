package dev.bourse.pools;

/**
 * The grid of prices on which other bids are shown: from a pool's reserve price in steps of 5 %, in
 * whole cents per GPU-hour. Bidders learn the step of a rival's ceiling and not the ceiling.
 */
public final class PriceGrid {
  private static final long STEP_PERCENT = 105;

  private PriceGrid() {}

  /** Returns the next grid price: 5 % higher, rounded to cents, at least one cent higher. */
  public static long next(long gridCents) {
    return Math.max(gridCents + 1, (gridCents * STEP_PERCENT + 50) / 100);
  }

  /** Returns the highest price that is shown as this grid price. */
  public static long stepEnd(long gridCents) {
    return next(gridCents) - 1;
  }

  /**
   * Returns the highest grid price at or under a price.
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
