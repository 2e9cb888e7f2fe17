package dev.bourse.pools;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a pool's market last published. Prices in cents per GPU-hour.
 *
 * @param clearingCents the clearing price, the highest price that an organization pays; null if
 *     nothing is seated
 * @param orgCents prices of organizations that hold nodes and pay less, before their ceilings
 * @param admissionCents the lowest ceiling that would take a seat at the next tick; null when none
 *     up to the cap would
 * @param usableNodes nodes that bids compete for
 * @param freeNodes nodes that could be granted at once
 * @param tickAtMillis when it was computed; 0 before the first tick
 * @param nextTickAtMillis when the next is due
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

  /** Returns an organization's price before its ceiling; null if nothing is seated. */
  public @Nullable Long centsOf(String orgId) {
    return clearingCents == null ? null : orgCents.getOrDefault(orgId, clearingCents);
  }

  /** Of a pool in which nobody bids. */
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
