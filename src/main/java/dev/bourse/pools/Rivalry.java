package dev.bourse.pools;

import org.jspecify.annotations.Nullable;

/**
 * The two highest ceilings that different organizations bid in a pool: all that is needed to tell
 * each organization the best bid of the others. They are shown on the {@link PriceGrid}.
 *
 * @param bestCents the highest ceiling per GPU-hour; 0 when nobody bids
 * @param bestOrg who bids it, null when nobody does
 * @param nextCents the highest of all other organizations; 0 when there is none
 */
public record Rivalry(long bestCents, @Nullable String bestOrg, long nextCents) {
  /** Nobody bids. */
  public static final Rivalry NONE = new Rivalry(0, null, 0);

  /** The same with one more bid in it. */
  public Rivalry with(String org, long cents) {
    if (org.equals(bestOrg)) {
      return cents > bestCents ? new Rivalry(cents, org, nextCents) : this;
    }
    if (cents > bestCents) {
      return new Rivalry(cents, org, bestCents);
    }
    return cents > nextCents ? new Rivalry(bestCents, bestOrg, cents) : this;
  }

  /**
   * Returns it with each ceiling rounded down to the grid. Only rounded values leave a tick.
   *
   * @param reserveCents the first price of the grid; no ceiling is under it
   */
  public Rivalry inSteps(long reserveCents) {
    return new Rivalry(
        bestCents == 0 ? 0 : PriceGrid.floor(reserveCents, bestCents),
        bestOrg,
        nextCents == 0 ? 0 : PriceGrid.floor(reserveCents, nextCents));
  }

  /** The highest ceiling of all but this organization; 0 when nobody else bids. */
  public long rivalCents(String org) {
    return org.equals(bestOrg) ? nextCents : bestCents;
  }
}
