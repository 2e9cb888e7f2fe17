package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.Lapse;
import dev.bourse.core.Price;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the budgets of declarations leave for the time until the next tick: a declaration that could
 * not pay for it has come to its end, and none bids for more nodes than it can pay until then.
 * Pure.
 *
 * @param spent what was spent, by cluster; clusters without a budget are absent
 * @param tickMillis from one tick to the next
 */
record Budgets(Map<String, Spent> spent, long tickMillis) {
  /** Nobody has one. */
  static final Budgets NONE = new Budgets(Map.of(), 0);

  Budgets {
    spent = Map.copyOf(spent);
    if (tickMillis < 0) {
      throw new IllegalArgumentException(
          "%d ms from tick to tick: must not be negative".formatted(tickMillis));
    }
  }

  /**
   * Whether a declaration cannot pay what its nodes cost until the next tick; one that holds none,
   * as few at its ceiling as are worth anything to it, for less is never won.
   *
   * @param clearingCents what the pool cleared at last; null when that is not known
   */
  boolean isUsedUp(Cluster cluster, int gpusPerNode, @Nullable Long clearingCents) {
    Spent used = judged(cluster);
    int held = cluster.filledSlots();
    if (used == null || held + cluster.declaredSlots(gpusPerNode) == 0) {
      return false;
    }
    long ceiling = cluster.ceilingCents();
    return used.leftMicros()
        < (held == 0
            ? costMicros(Gang.minimumSlots(cluster, gpusPerNode), gpusPerNode, ceiling)
            : costMicros(
                held,
                gpusPerNode,
                clearingCents == null ? ceiling : Math.min(clearingCents, ceiling)));
  }

  /** How many slots, beyond those they hold, clusters that have a budget can pay for. */
  Map<String, Integer> affordable(Collection<Cluster> clusters, int gpusPerNode) {
    Map<String, Integer> slots = new HashMap<>();
    for (Cluster cluster : clusters) {
      if (Lapse.budget(cluster).isPresent()) {
        slots.put(cluster.name(), affordable(cluster, gpusPerNode));
      }
    }
    return slots;
  }

  /** None with a budget that nobody has looked at yet: it was set a moment ago. */
  private int affordable(Cluster cluster, int gpusPerNode) {
    Spent used = judged(cluster);
    if (used == null) {
      return 0;
    }
    long each = costMicros(1, gpusPerNode, cluster.ceilingCents());
    long held = costMicros(cluster.filledSlots(), gpusPerNode, cluster.ceilingCents());
    long more = used.leftMicros() - held;
    int pending = cluster.pending(gpusPerNode);
    return more < 0 ? 0 : each == 0 ? pending : (int) Math.min(pending, more / each);
  }

  /** What was spent of the budget that stands; null without one, or when that is another by now. */
  private @Nullable Spent judged(Cluster cluster) {
    Spent used = spent.get(cluster.name());
    return used == null || !Lapse.budget(cluster).equals(Optional.of(used.budget())) ? null : used;
  }

  private long costMicros(int nodes, int gpusPerNode, long cents) {
    return Price.costMicros(Math.multiplyExact(nodes, tickMillis), gpusPerNode, cents);
  }
}
