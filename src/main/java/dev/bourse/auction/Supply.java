package dev.bourse.auction;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a pool at a tick.
 *
 * @param seats how many nodes bids compete for: the usable ones, whether free, held or coming back
 *     from a reclaim, without those that replacements of swaps in flight occupy
 * @param free the nodes that can be granted now, in the order in which they are
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
   * @param excludedOrg an organization that swapped it away within the last hour: it is given this
   *     node for a declared slot when no other is free, and for a swap never; null for none
   */
  public record FreeNode(String nodeId, @Nullable String excludedOrg) {}
}
