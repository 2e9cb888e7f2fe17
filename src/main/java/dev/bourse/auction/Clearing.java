package dev.bourse.auction;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of one run of the auction.
 *
 * @param clearingCents the clearing price per GPU-hour, the highest price that an organization
 *     pays; null if nothing is seated
 * @param orgCents prices per GPU-hour of organizations that have seats and pay less than that
 * @param admissionCents the lowest ceiling that would take a seat at the next tick; null when none
 *     up to the cap would
 * @param grants free nodes to grant now, best seat first
 * @param reclaims allocations to take back
 * @param unseated how many declared slots of a cluster won no seat; clusters without any are absent
 * @param shortfalls the reason why a cluster did not win its minimum of several nodes; other
 *     clusters are absent
 */
public record Clearing(
    @Nullable Long clearingCents,
    Map<String, Long> orgCents,
    @Nullable Long admissionCents,
    List<Grant> grants,
    List<Reclaim> reclaims,
    Map<String, Integer> unseated,
    Map<String, Shortfall> shortfalls) {
  public Clearing {
    if ((clearingCents != null && clearingCents < 0)
        || (admissionCents != null && admissionCents < 0)) {
      throw new IllegalArgumentException(
          "clears at %s cents and admits at %s; neither can be negative"
              .formatted(clearingCents, admissionCents));
    }
  }

  /**
   * Returns an organization's price per GPU-hour, before its ceiling; null if nothing is seated.
   */
  public @Nullable Long centsOf(String org) {
    return clearingCents == null ? null : orgCents.getOrDefault(org, clearingCents);
  }

  /** Why a gang was not seated with its minimum. */
  public enum Shortfall {
    /** A higher ceiling could seat it. */
    PRICE,
    /** No ceiling up to the cap is sure to: too few seats go to lower bids. */
    SIZE
  }

  /**
   * A node for a cluster.
   *
   * @param replaces the allocation whose swap it is for, or null for a declared slot
   */
  public record Grant(String cluster, String nodeId, @Nullable String replaces) {}

  /** An allocation the auction takes back, and why. */
  public record Reclaim(String cluster, String allocationId, Reason reason) {}

  /** Why the auction takes an allocation back. */
  public enum Reason {
    /** A rival's ceiling is higher, or its own is under the reserve price. */
    OUTBID,
    /** A billing hold is enforced. */
    HOLD
  }
}
