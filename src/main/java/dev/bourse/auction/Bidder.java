package dev.bourse.auction;

import java.util.List;

/**
 * A cluster's bid in the auction.
 *
 * @param cluster its name; the last tie-break
 * @param org its owner; its own losing bids never price its nodes
 * @param ceilingCents the most it pays per GPU-hour; 0 when it declares nothing
 * @param pricedAtMillis when the ceiling was declared; the older of two equal bids goes first
 * @param declaredSlots whole nodes it declares; never fewer than its held nodes
 * @param minimumSlots the minimum of a gang, which is seated with at least as many nodes or keeps
 *     only its shielded ones; 1 for other clusters
 * @param participation the auction's rights over the cluster
 * @param ranksLast true if its organization gave up a seat or refused a node within the last ten
 *     minutes while another organization waits for nodes: its bids for new nodes come after all
 *     others at any ceiling and set nobody's price
 * @param held its open (provisioning or active) allocations except the replacements of swaps in
 *     flight, in the order in which they are reclaimed when it loses seats
 * @param swapsAwaiting allocations with a swap in flight and no replacement yet, oldest first
 */
public record Bidder(
    String cluster,
    String org,
    long ceilingCents,
    long pricedAtMillis,
    int declaredSlots,
    int minimumSlots,
    Participation participation,
    boolean ranksLast,
    List<Held> held,
    List<String> swapsAwaiting) {
  public Bidder {
    if (ceilingCents < 0) {
      throw new IllegalArgumentException(
          "ceiling of %d cents for %s: must not be negative".formatted(ceilingCents, cluster));
    }
    if (declaredSlots < held.size()) {
      throw new IllegalArgumentException(
          "%d declared slots for %s: must be at least the %d nodes it holds"
              .formatted(declaredSlots, cluster, held.size()));
    }
    if (minimumSlots < 1) {
      throw new IllegalArgumentException(
          "a minimum of %d slots for %s: must be at least one".formatted(minimumSlots, cluster));
    }
  }

  /** The auction's rights over a cluster. */
  public enum Participation {
    /** Bids for every declared slot. */
    OPEN,
    /** Keeps and defends its nodes but gets no new ones (hold, stage notice). */
    INCUMBENTS_ONLY,
    /** Loses all its nodes (hold, stage enforce). */
    EVICTED,
    /** Operator-managed: its nodes are seated first; it gets no new ones. */
    STATIC
  }

  /**
   * A held node.
   *
   * @param allocationId its id
   * @param shielded true if it is pinned, provisioning or protected, so that it is seated before
   *     all bids
   * @param usable true if its machine could be granted to somebody else; otherwise bids do not
   *     compete for it
   */
  public record Held(String allocationId, boolean shielded, boolean usable) {}
}
