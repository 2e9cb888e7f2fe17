package dev.bourse.auction;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a pool at a tick.
 *
 * @param seats the number of nodes that bids compete for: usable nodes, free, held or being
 *     reclaimed, without replacements of swaps in flight
 * @param free the nodes that can be granted now, the first to be granted first
 */
public record Supply(int seats, List<FreeNode> free) {
  public Supply {
    if (seats < 0) {
      throw new IllegalArgumentException("%d seats; there can be none or more".formatted(seats));
    }
  }

  /**
   * A node that can be granted now.
   *
   * @param nodeId the node
   * @param excludedOrg an organization that swapped it away within the last hour; it gets this node
   *     for a declared slot only if no other is free, and never for a swap; null for none
   */
  public record FreeNode(String nodeId, @Nullable String excludedOrg) {}
}
