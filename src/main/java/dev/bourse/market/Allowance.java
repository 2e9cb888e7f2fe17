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
 * What organizations may still commit to in one tick. Pure.
 *
 * @param remainingMicros micro-dollars left, by organization; organizations without a limit are
 *     absent
 * @param windowMillis how long a new grant commits its buyer
 * @param budgets what declarations' own budgets leave
 */
public record Allowance(Map<String, Long> remainingMicros, long windowMillis, Budgets budgets) {
  /** Nobody has a limit. */
  public static final Allowance UNLIMITED = new Allowance(Map.of(), 0);

  /** One for declarations without a budget. */
  public Allowance(Map<String, Long> remainingMicros, long windowMillis) {
    this(remainingMicros, windowMillis, Budgets.NONE);
  }

  /** The same beside these budgets. */
  Allowance with(Budgets others) {
    return new Allowance(remainingMicros, windowMillis, others);
  }

  public Allowance {
    remainingMicros = Map.copyOf(remainingMicros);
    if (windowMillis < 0) {
      throw new IllegalArgumentException(
          "a window of %d ms: must not be negative".formatted(windowMillis));
    }
  }

  /**
   * How many slots, beyond those they hold, clusters can afford to bid for; a cluster that has no
   * limit, or could not win a node anyway, is absent. Clusters of one organization share what it
   * has left: the highest ceiling first, for that one can win where the others do not. Less than
   * its minimum none buys.
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
   * Whether a cluster wants more than it holds and nothing but its bid keeps it from winning it.
   */
  static boolean buys(Cluster cluster, int gpusPerNode) {
    return Tick.participation(cluster) == Bidder.Participation.OPEN
        && cluster.pending(gpusPerNode) > 0;
  }
}
