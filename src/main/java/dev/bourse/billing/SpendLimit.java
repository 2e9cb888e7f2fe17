package dev.bourse.billing;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.Price;
import java.util.List;

/**
 * Computes the part of a month's spend limit that can still be committed. Pure. The cost of a
 * protected node is committed when it is granted, because it cannot be reclaimed before its
 * protection ends.
 */
public final class SpendLimit {
  private SpendLimit() {}

  /**
   * A cluster and the size of its nodes.
   *
   * @param cluster its state
   * @param gpusPerNode GPUs of one node of its pool
   */
  public record Holder(Cluster cluster, int gpusPerNode) {}

  /**
   * Returns how long a grant made now commits within this month: the protection window, cut off at
   * the month's end, because later cost counts towards the next month's limit.
   */
  public static long windowMillis(long protectionMillis, long nowMillis) {
    return Math.min(protectionMillis, Month.at(nowMillis).endMillis() - nowMillis);
  }

  /**
   * Returns an organization's commitment: for each node that is protected or being provisioned, the
   * rest of its protection within the month at the cluster's ceiling.
   */
  public static long committedMicros(List<Holder> holders, long protectionMillis, long nowMillis) {
    long window = windowMillis(protectionMillis, nowMillis);
    long committed = 0;
    for (Holder holder : holders) {
      Cluster cluster = holder.cluster();
      long nodeMillis = 0;
      for (Allocation node : cluster.allocations()) {
        // A replacement takes over the cost of the node it replaces, so only nodes that fill a slot
        // count.
        if (node.fillsSlot()) {
          nodeMillis += protectedMillis(node, window, nowMillis);
        }
      }
      committed =
          Math.addExact(
              committed,
              Price.costMicros(nodeMillis, holder.gpusPerNode(), cluster.ceilingCents()));
    }
    return committed;
  }

  private static long protectedMillis(Allocation node, long windowMillis, long nowMillis) {
    if (node.state() == Allocation.State.PROVISIONING) {
      return windowMillis;
    }
    Long until = node.protectedUntilMillis();
    return until == null ? 0 : Math.max(0, Math.min(windowMillis, until - nowMillis));
  }

  /**
   * Returns the part of the limit that can still be committed; 0 once the month's usage reaches the
   * limit.
   *
   * @param monthMicros billed and accrued since the month began
   */
  public static long remainingMicros(long limitMicros, long monthMicros, long committedMicros) {
    return Math.max(0, limitMicros - monthMicros - committedMicros);
  }
}
