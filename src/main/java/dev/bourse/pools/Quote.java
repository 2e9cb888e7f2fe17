package dev.bourse.pools;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last quote of a pool's market. Prices are in cents per GPU-hour.
 *
 * @param clearingCents the clearing price, the highest price that an organization pays; null if no
 *     bid has a seat
 * @param orgCents prices of organizations that hold nodes and pay less, before their ceilings
 * @param admissionCents the lowest ceiling that would win a seat at the next tick; null if none up
 *     to the cap would
 * @param usableNodes nodes that bids compete for
 * @param freeNodes nodes that could be granted at once
 * @param tickAtMillis the time of its tick; 0 before the first tick
 * @param nextTickAtMillis when the next tick is due
 * @param demand the demand on the price grid
 * @param rivalry the highest ceilings on the price grid
 */
public record Quote(
    @Nullable Long clearingCents,
    Map<String, Long> orgCents,
    @Nullable Long admissionCents,
    int usableNodes,
    int freeNodes,
    long tickAtMillis,
    long nextTickAtMillis,
    Demand demand,
    Rivalry rivalry) {
  public Quote {
    orgCents = Map.copyOf(orgCents);
  }

  /** Returns an organization's price before its ceiling; null if no bid has a seat. */
  public @Nullable Long centsOf(String orgId) {
    return clearingCents == null ? null : orgCents.getOrDefault(orgId, clearingCents);
  }

  /** The quote of a pool without bids. */
  public Quote(
      @Nullable Long clearingCents,
      @Nullable Long admissionCents,
      int usableNodes,
      int freeNodes,
      long tickAtMillis,
      long nextTickAtMillis) {
    this(
        clearingCents,
        Map.of(),
        admissionCents,
        usableNodes,
        freeNodes,
        tickAtMillis,
        nextTickAtMillis,
        Demand.NONE,
        Rivalry.NONE);
  }
}
