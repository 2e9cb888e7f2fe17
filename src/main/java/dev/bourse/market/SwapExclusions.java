package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.market.NodeStore.SwappedAway;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which organization swapped a node away lately: it is not granted that node again for an hour.
 * Used on one context.
 */
final class SwapExclusions {
  /** A swapped-away node is not granted to the same organization again for this long. */
  static final long MILLIS = 3_600_000;

  private final Map<String, SwappedAway> byNode = new HashMap<>();

  SwapExclusions(List<SwappedAway> swapped) {
    swapped.forEach(one -> byNode.put(one.nodeId(), one));
  }

  /** Notes an allocation that is being taken back, if a swap is why. */
  void note(Cluster cluster, Allocation allocation) {
    Allocation.Reclaim reclaim = allocation.reclaim();
    if (reclaim != null && reclaim.reason() == Allocation.Reason.SWAP) {
      byNode.put(
          allocation.nodeId(),
          new SwappedAway(allocation.nodeId(), cluster.orgId(), reclaim.atMillis()));
    }
  }

  /** The excluded organization, by node. */
  Map<String, String> at(long nowMillis) {
    // One that lies further ahead than it lasts was written by a clock that was ahead.
    byNode.values().removeIf(one -> Math.abs(nowMillis - one.atMillis()) >= MILLIS);
    Map<String, String> excluded = new HashMap<>();
    byNode.values().forEach(one -> excluded.put(one.nodeId(), one.orgId()));
    return excluded;
  }
}
