package dev.bourse.capacity;

import dev.bourse.core.ApiError;
import dev.bourse.pools.Pool;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cluster to which fewer nodes than its minimum are worth nothing: its first nodes become active
 * together, and what cannot be completed in time is given up. Pure functions.
 */
public final class Gang {
  private Gang() {}

  /** Fewer nodes than this are worth nothing to a cluster; 1 where the market does not decide. */
  public static int minimumSlots(Cluster cluster, int gpusPerNode) {
    return cluster.posture() == Cluster.Posture.STATIC ? 1 : cluster.minimumSlots(gpusPerNode);
  }

  /**
   * How many nodes must be ready before those become active that are prepared: by the tick that
   * granted them, or fewer when the cluster asks for fewer by now. To ask for more later keeps no
   * node from being billed.
   */
  static int governing(Cluster cluster, int gpusPerNode) {
    int declared = minimumSlots(cluster, gpusPerNode);
    int granted = 1;
    boolean isAnyPrepared = false;
    for (Allocation a : cluster.allocations()) {
      if (a.fillsSlot() && a.state() == Allocation.State.PROVISIONING) {
        isAnyPrepared = true;
        granted = Math.max(granted, a.minimumSlots() == null ? declared : a.minimumSlots());
      }
    }
    return isAnyPrepared ? Math.min(declared, granted) : declared;
  }

  /** Whether as many nodes as its minimum are active or ready to be. */
  public static boolean isComplete(Cluster cluster, int gpusPerNode) {
    return prepared(cluster, true) >= governing(cluster, gpusPerNode);
  }

  /**
   * Whether as many nodes as its minimum have their keys, so that those which wait become active.
   */
  static boolean isKeyed(Cluster cluster, int gpusPerNode) {
    return prepared(cluster, false) >= governing(cluster, gpusPerNode);
  }

  /**
   * Whether the market has something to do for a node that is ready: its keys are written once the
   * minimum is ready, and it becomes active once the minimum has its keys.
   */
  public static boolean isNext(Cluster cluster, Allocation ready, int gpusPerNode) {
    return ready.keysDue() ? isComplete(cluster, gpusPerNode) : isKeyed(cluster, gpusPerNode);
  }

  /** Nodes that fill a slot and are active or ready to be, with keys that are due or without. */
  private static int prepared(Cluster cluster, boolean withKeysDue) {
    int prepared = 0;
    for (Allocation a : cluster.allocations()) {
      boolean isReady = a.isReady() && (withKeysDue || !a.keysDue());
      prepared += a.fillsSlot() && (a.state() == Allocation.State.ACTIVE || isReady) ? 1 : 0;
    }
    return prepared;
  }

  /**
   * The grants to unwind: those of a minimum that is not active, once the oldest of them is older
   * than the patience with it.
   */
  public static List<Allocation> overdue(
      Cluster cluster, int gpusPerNode, long patienceMillis, long nowMillis) {
    if (governing(cluster, gpusPerNode) == 1 || isComplete(cluster, gpusPerNode)) {
      return List.of();
    }
    List<Allocation> open =
        cluster.allocations().stream()
            .filter(a -> a.fillsSlot() && a.state() == Allocation.State.PROVISIONING)
            .toList();
    return open.stream().anyMatch(a -> nowMillis >= a.grantedAtMillis() + patienceMillis)
        ? open
        : List.of();
  }

  /** The cluster as it is once these of its grants are unwound; its revision stays. */
  public static Cluster unwound(Cluster cluster, List<Allocation> overdue, long nowMillis) {
    return cluster.holding(
        cluster.allocations().stream()
            .map(
                a ->
                    overdue.contains(a) || isReplacementOfAny(a, overdue)
                        ? a.reclaiming(Allocation.Reason.UNWOUND, nowMillis)
                        : a)
            .toList(),
        nowMillis);
  }

  private static boolean isReplacementOfAny(Allocation a, List<Allocation> replaced) {
    return a.isOpen()
        && replaced.stream().anyMatch(other -> other.allocationId().equals(a.replaces()));
  }

  /**
   * Whether it bids for nothing new, so that others have the seats which it held in vain: for as
   * long as the patience is, from when its grants were unwound, unless it is declared anew. A clock
   * that was ahead then makes it wait no longer.
   */
  public static boolean standsBack(
      Cluster cluster, int gpusPerNode, long patienceMillis, long nowMillis) {
    Long since = cluster.gangUnwoundAtMillis();
    return since != null
        && since <= nowMillis
        && nowMillis < since + patienceMillis
        && !isComplete(cluster, gpusPerNode);
  }

  /**
   * The minimum in force after a write.
   *
   * @throws ApiError when it is no whole number of nodes or more than is declared
   */
  static @Nullable Integer minGpus(
      Capacity.Declare order, @Nullable Declaration standing, Pool pool) {
    boolean isSet = order.conditions().minGpus() instanceof Setting.To<Integer>;
    Integer minGpus = order.conditions().minGpusOver(standing);
    if (minGpus == null || (!isSet && order.maxGpus() == 0)) {
      return null;
    }
    if (isSet && minGpus % pool.gpusPerNode() != 0) {
      throw ApiError.badField(
          "min_gpus", minGpus, "a multiple of gpus_per_node, which is " + pool.gpusPerNode());
    }
    if (minGpus > order.maxGpus()) {
      throw ApiError.badField(
          "min_gpus",
          minGpus,
          "at most max_gpus, which is %s, or null for no minimum%s"
              .formatted(order.maxGpus(), isSet ? "" : "; it stands from an earlier declaration"));
    }
    return minGpus;
  }
}
