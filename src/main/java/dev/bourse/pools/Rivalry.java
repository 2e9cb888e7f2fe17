package dev.bourse.pools;

import org.jspecify.annotations.Nullable;

/**
 * The two highest ceilings that different organizations bid in a pool, which suffice to show each
 * organization the best bid of the others. They are shown on the {@link PriceGrid}.
 *
 * @param bestCents the highest ceiling per GPU-hour; 0 without bids
 * @param bestOrg the organization that bids it; null without bids
 * @param nextCents the highest ceiling of all other organizations; 0 without any
 */
public record Rivalry(long bestCents, @Nullable String bestOrg, long nextCents) {
  /** The rivalry without bids. */
  public static final Rivalry NONE = new Rivalry(0, null, 0);

  /** Returns these bids with a further one. */
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
   * Returns these bids with each ceiling rounded down to the grid. Only rounded values leave a
   * tick.
   *
   * @param reserveCents the first price of the grid; no ceiling is under it
   */
  public Rivalry inSteps(long reserveCents) {
    return new Rivalry(
        bestCents == 0 ? 0 : PriceGrid.floor(reserveCents, bestCents),
        bestOrg,
        nextCents == 0 ? 0 : PriceGrid.floor(reserveCents, nextCents));
  }

  /** Returns the highest ceiling of all other organizations; 0 if no other one bids. */
  public long rivalCents(String org) {
    return org.equals(bestOrg) ? nextCents : bestCents;
  }
}
