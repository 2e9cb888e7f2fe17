package dev.bourse.market;

import dev.bourse.auction.Bidder;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Gang;
import dev.bourse.core.Price;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The amounts that organizations may still commit to in one tick. Pure.
 *
 * @param remainingMicros micro-dollars left, by organization; organizations without a limit are
 *     absent
 * @param windowMillis the time that a new grant commits its buyer to, in milliseconds, at least 0
 * @param budgets the amounts left of declarations' own budgets
 */
public record SpendingAllowance(
    Map<String, Long> remainingMicros, long windowMillis, Budgets budgets) {
  /** An allowance without any limit. */
  public static final SpendingAllowance UNLIMITED = new SpendingAllowance(Map.of(), 0);

  /** Creates an allowance for declarations without budgets. */
  public SpendingAllowance(Map<String, Long> remainingMicros, long windowMillis) {
    this(remainingMicros, windowMillis, Budgets.NONE);
  }

  /** Returns this allowance with other budgets. */
  SpendingAllowance with(Budgets others) {
    return new SpendingAllowance(remainingMicros, windowMillis, others);
  }

  public SpendingAllowance {
    remainingMicros = Map.copyOf(remainingMicros);
    if (windowMillis < 0) {
      throw new IllegalArgumentException(
          "a window of %d ms: must not be negative".formatted(windowMillis));
    }
  }

  /**
   * Returns the number of slots, beyond those they hold, that clusters can afford to bid for. A
   * cluster without a limit, or one that could not win a node anyway, is absent. Clusters of one
   * organization share its allowance in the order of their ceilings, the highest first, because a
   * higher ceiling can win where the others do not. A cluster that cannot afford its minimum gets
   * 0.
   */
  Map<String, Integer> affordable(Collection<Cluster> clusters, int gpusPerNode) {
    Map<String, Integer> budgeted = budgets.affordable(clusters, gpusPerNode);
    if (remainingMicros.isEmpty()) {
      return budgeted;
    }
    List<Cluster> limited = new ArrayList<>(clusters);
    limited.removeIf(
        cluster -> !remainingMicros.containsKey(cluster.orgId()) || !buys(cluster, gpusPerNode));
    limited.sort(
        Comparator.comparingLong(Cluster::ceilingCents).reversed().thenComparing(Cluster::name));
    Map<String, Long> left = new HashMap<>(remainingMicros);
    Map<String, Integer> slots = new HashMap<>(budgeted);
    for (Cluster cluster : limited) {
      long micros = left.getOrDefault(cluster.orgId(), 0L);
      long cost = Price.costMicros(windowMillis, gpusPerNode, cluster.ceilingCents());
      int pending =
          Math.min(
              cluster.pending(gpusPerNode),
              budgeted.getOrDefault(cluster.name(), Integer.MAX_VALUE));
      int bought = micros <= 0 ? 0 : cost == 0 ? pending : (int) Math.min(pending, micros / cost);
      if (cluster.declaredSlots(gpusPerNode) - pending + bought
          < Gang.minimumSlots(cluster, gpusPerNode)) {
        bought = 0;
      }
      slots.put(cluster.name(), bought);
      left.put(cluster.orgId(), micros - bought * cost);
    }
    return slots;
  }

  /**
   * Returns true if a cluster wants more nodes than it holds and only its bid decides whether it
   * wins them.
   */
  static boolean buys(Cluster cluster, int gpusPerNode) {
    return Tick.participation(cluster) == Bidder.Participation.OPEN
        && cluster.pending(gpusPerNode) > 0;
  }
}
