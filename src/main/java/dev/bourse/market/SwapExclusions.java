package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.market.NodeStore.SwappedAway;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The organizations that swapped nodes away within the last hour. They are not granted the same
 * node again during that time. Used on one context.
 */
final class SwapExclusions {
  /** A swapped-away node is not granted to the same organization again for this long. */
  static final long MILLIS = 3_600_000;

  private final Map<String, SwappedAway> byNode = new HashMap<>();

  SwapExclusions(List<SwappedAway> swapped) {
    swapped.forEach(one -> byNode.put(one.nodeId(), one));
  }

  /** Records an allocation that is being reclaimed because of a swap. */
  void note(Cluster cluster, Allocation allocation) {
    Allocation.Reclaim reclaim = allocation.reclaim();
    if (reclaim != null && reclaim.reason() == Allocation.Reason.SWAP) {
      byNode.put(
          allocation.nodeId(),
          new SwappedAway(allocation.nodeId(), cluster.orgId(), reclaim.atMillis()));
    }
  }

  /** Returns the excluded organization, by node. */
  Map<String, String> at(long nowMillis) {
    // A time further ahead than this was written by a clock that was ahead.
    byNode.values().removeIf(one -> Math.abs(nowMillis - one.atMillis()) >= MILLIS);
    Map<String, String> excluded = new HashMap<>();
    byNode.values().forEach(one -> excluded.put(one.nodeId(), one.orgId()));
    return excluded;
  }
}
