package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Organizations that gave back an active node of a pool within the last hour. Their new nodes get
 * no price lock: an organization could otherwise leave and return while nodes are free, and lock
 * the reserve price hour after hour. Used on one context.
 */
final class Leavers {
  /** The default length of a price lock. */
  static final long MILLIS = 3_600_000;

  private final Map<String, Long> leftAtMillis;

  /**
   * @param leftAtMillis when each organization last gave back a node
   */
  Leavers(Map<String, Long> leftAtMillis) {
    this.leftAtMillis = new HashMap<>(leftAtMillis);
  }

  /** Records an allocation that is being reclaimed, if its organization gave it back. */
  void note(Cluster cluster, Allocation allocation) {
    Allocation.Reclaim reclaim = allocation.reclaim();
    if (reclaim != null && reclaim.reason().isOwnChoice() && allocation.activeAtMillis() != null) {
      leftAtMillis.merge(cluster.orgId(), reclaim.atMillis(), Math::max);
    }
  }

  /** Returns the organizations without a price lock at a time. */
  Set<String> at(long nowMillis) {
    // A time further ahead than this was written by a clock that was ahead.
    leftAtMillis.values().removeIf(at -> Math.abs(nowMillis - at) >= MILLIS);
    return Set.copyOf(leftAtMillis.keySet());
  }
}
