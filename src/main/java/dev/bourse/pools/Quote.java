package dev.bourse.pools;

import org.jspecify.annotations.Nullable;

/**
 * What a pool's market last published. Prices in cents per GPU-hour.
 *
 * @param clearingCents what holders pay, their ceiling permitting; null when nothing is seated
 * @param admissionCents the lowest ceiling that would take a seat at the next tick; null when none
 *     up to the cap would
 * @param usableNodes nodes that bids compete for
 * @param freeNodes nodes that could be granted at once
 * @param tickAtMillis when it was computed; 0 before the first tick
 * @param nextTickAtMillis when the next is due
 * @param demand what was bid for, in steps
 * @param rivalry the highest ceilings that were bid, in steps
 */
public record Quote(
    @Nullable Long clearingCents,
    @Nullable Long admissionCents,
    int usableNodes,
    int freeNodes,
    long tickAtMillis,
    long nextTickAtMillis,
    Demand demand,
    Rivalry rivalry) {

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
        admissionCents,
        usableNodes,
        freeNodes,
        tickAtMillis,
        nextTickAtMillis,
        Demand.NONE,
        Rivalry.NONE);
  }
}
