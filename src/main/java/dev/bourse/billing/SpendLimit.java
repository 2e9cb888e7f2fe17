package dev.bourse.billing;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.Price;
import java.util.List;

/**
 * How much of a month's spend limit is left to commit to. Pure. What a protected node will cost is
 * committed the moment it is granted, for nobody can take it back before its protection ends.
 */
public final class SpendLimit {
  private SpendLimit() {}

  /**
   * A cluster and the GPUs of one of its nodes.
   *
   * @param cluster its state
   * @param gpusPerNode of its pool
   */
  public record Holder(Cluster cluster, int gpusPerNode) {}

  /**
   * How long a grant made now commits within this month: the protection window, cut off at the
   * month's end, for what comes after counts towards the next month's limit.
   */
  public static long windowMillis(long protectionMillis, long nowMillis) {
    return Math.min(protectionMillis, Month.at(nowMillis).endMillis() - nowMillis);
  }

  /**
   * What an organization is committed to: of each node that is still protected, or on its way, the
   * rest of its protection within the month at the cluster's ceiling.
   */
  public static long committedMicros(List<Holder> holders, long protectionMillis, long nowMillis) {
    long window = windowMillis(protectionMillis, nowMillis);
    long committed = 0;
    for (Holder holder : holders) {
      Cluster cluster = holder.cluster();
      long nodeMillis = 0;
      for (Allocation node : cluster.allocations()) {
        // A replacement costs what the node it replaces no longer does.
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
   * What is left to commit to; nothing once the month's usage reaches the limit.
   *
   * @param monthMicros billed and accrued since the month began
   */
  public static long remainingMicros(long limitMicros, long monthMicros, long committedMicros) {
    return Math.max(0, limitMicros - monthMicros - committedMicros);
  }
}
