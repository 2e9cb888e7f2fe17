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
 * The budgets of declarations until the next tick. A declaration that cannot pay until then has
 * reached its end, and a cluster bids for no more nodes than its budget can pay until then. Pure.
 *
 * @param spent the amounts spent, by cluster; clusters without a budget are absent
 * @param tickMillis the time from one tick to the next, in milliseconds, at least 0
 */
record Budgets(Map<String, Spent> spent, long tickMillis) {
  /** No budgets. */
  static final Budgets NONE = new Budgets(Map.of(), 0);

  Budgets {
    spent = Map.copyOf(spent);
    if (tickMillis < 0) {
      throw new IllegalArgumentException(
          "%d ms from tick to tick: must not be negative".formatted(tickMillis));
    }
  }

  /**
   * Returns true if a declaration cannot pay the cost of its nodes until the next tick. A cluster
   * without nodes must be able to pay its minimum at its ceiling, because it never wins less.
   *
   * @param clearingCents the pool's last clearing price; null if it is not known
   */
  boolean isUsedUp(Cluster cluster, int gpusPerNode, @Nullable Long clearingCents) {
    Spent used = spentOfCurrentBudget(cluster);
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

  /**
   * Returns the number of slots, beyond those they hold, that clusters with a budget can pay for.
   */
  Map<String, Integer> affordable(Collection<Cluster> clusters, int gpusPerNode) {
    Map<String, Integer> slots = new HashMap<>();
    for (Cluster cluster : clusters) {
      if (Lapse.budget(cluster).isPresent()) {
        slots.put(cluster.name(), affordable(cluster, gpusPerNode));
      }
    }
    return slots;
  }

  /**
   * Returns the number of slots for one cluster; 0 if the spending of a new budget has not been
   * read yet.
   */
  private int affordable(Cluster cluster, int gpusPerNode) {
    Spent used = spentOfCurrentBudget(cluster);
    if (used == null) {
      return 0;
    }
    long each = costMicros(1, gpusPerNode, cluster.ceilingCents());
    long held = costMicros(cluster.filledSlots(), gpusPerNode, cluster.ceilingCents());
    long more = used.leftMicros() - held;
    int pending = cluster.pending(gpusPerNode);
    return more < 0 ? 0 : each == 0 ? pending : (int) Math.min(pending, more / each);
  }

  /**
   * Returns the spending of the current budget; null without a budget, or if the reading is of an
   * earlier budget.
   */
  private @Nullable Spent spentOfCurrentBudget(Cluster cluster) {
    Spent used = spent.get(cluster.name());
    return used == null || !Lapse.budget(cluster).equals(Optional.of(used.budget())) ? null : used;
  }

  private long costMicros(int nodes, int gpusPerNode, long cents) {
    return Price.costMicros(Math.multiplyExact(nodes, tickMillis), gpusPerNode, cents);
  }
}
