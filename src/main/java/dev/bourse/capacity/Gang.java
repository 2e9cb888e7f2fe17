package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.json.Setting;
import dev.bourse.pools.Pool;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a gang: a cluster with a minimum of several nodes. The nodes of a VM cluster's
 * minimum become active together; if they are not ready in time, their grants are unwound. Each
 * node of a Kubernetes cluster becomes active by itself, so a minimum governs only the auction
 * there. Pure functions.
 */
public final class Gang {
  private Gang() {}

  /** Returns a cluster's minimum in nodes; 1 for operator-managed clusters. */
  public static int minimumSlots(Cluster cluster, int gpusPerNode) {
    return cluster.posture() == Cluster.Posture.STATIC ? 1 : cluster.minimumSlots(gpusPerNode);
  }

  /**
   * Returns how many of a cluster's nodes become active together: the minimum of a VM cluster. It
   * is 1 for a Kubernetes cluster, whose nodes are usable as soon as they have joined. Its control
   * plane is the tenant's and can refuse some nodes, so nodes that waited for the others would be
   * used without being billed.
   */
  public static int slotsActiveTogether(Cluster cluster, int gpusPerNode) {
    return switch (cluster.kind()) {
      case VM -> minimumSlots(cluster, gpusPerNode);
      case K8S -> 1;
    };
  }

  /**
   * Returns how many nodes must be ready before a cluster's new nodes become active: as many as
   * became active together when the tick granted them, or a lower number declared since. A higher
   * one declared since does not count, because it would delay billing.
   */
  static int governing(Cluster cluster, int gpusPerNode) {
    int declared = slotsActiveTogether(cluster, gpusPerNode);
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

  /** True if as many nodes as the minimum are active or ready. */
  public static boolean isComplete(Cluster cluster, int gpusPerNode) {
    return prepared(cluster, true) >= governing(cluster, gpusPerNode);
  }

  /**
   * True if as many nodes as the minimum are active or ready with their keys, so that they become
   * active.
   */
  static boolean isKeyed(Cluster cluster, int gpusPerNode) {
    return prepared(cluster, false) >= governing(cluster, gpusPerNode);
  }

  /**
   * True if the market has to act for a ready node: write its keys because the minimum is ready, or
   * make it active because the minimum has its keys.
   */
  public static boolean isNext(Cluster cluster, Allocation ready, int gpusPerNode) {
    return ready.keysDue() ? isComplete(cluster, gpusPerNode) : isKeyed(cluster, gpusPerNode);
  }

  /** Counts active and ready nodes that fill a slot, optionally those whose keys are due. */
  private static int prepared(Cluster cluster, boolean withKeysDue) {
    int prepared = 0;
    for (Allocation a : cluster.allocations()) {
      boolean isReady = a.isReady() && (withKeysDue || !a.keysDue());
      prepared += a.fillsSlot() && (a.state() == Allocation.State.ACTIVE || isReady) ? 1 : 0;
    }
    return prepared;
  }

  /**
   * Returns the grants to unwind: all grants of an incomplete minimum, if the oldest of them is
   * older than the patience, or if the cluster gave up others of them. Then the minimum cannot be
   * completed, and its nodes would be kept from other bidders at no cost. Seats and nodes given up
   * before the grants do not count, because they are not part of this minimum.
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
    Long gaveUpAt = cluster.standing().gaveUpAtMillis();
    boolean isGivenUp =
        gaveUpAt != null
            && cluster.standing().ranksLast(nowMillis)
            && open.stream().anyMatch(a -> gaveUpAt >= a.grantedAtMillis())
            && cluster.filledSlots() < governing(cluster, gpusPerNode);
    return isGivenUp
            || open.stream().anyMatch(a -> nowMillis >= a.grantedAtMillis() + patienceMillis)
        ? open
        : List.of();
  }

  /** Returns the cluster after these grants are unwound; its revision stays. */
  public static Cluster unwound(Cluster cluster, List<Allocation> overdue, long nowMillis) {
    return cluster.withAllocations(
        cluster.allocations().stream()
            .map(
                a ->
                    overdue.contains(a) || isReplacementOfAny(a, overdue)
                        ? a.startReclaim(Allocation.Reason.UNWOUND, nowMillis)
                        : a)
            .toList(),
        nowMillis);
  }

  private static boolean isReplacementOfAny(Allocation a, List<Allocation> replaced) {
    return a.isOpen()
        && replaced.stream().anyMatch(other -> other.allocationId().equals(a.replaces()));
  }

  /**
   * True if the cluster does not bid for new nodes, so that other bidders get the seats that it
   * could not use. This lasts for the patience after its grants were unwound, or until it is
   * declared again. An unwinding by a clock that was ahead does not count.
   */
  public static boolean standsBack(
      Cluster cluster, int gpusPerNode, long patienceMillis, long nowMillis) {
    Long since = cluster.setbacks().gangUnwoundAtMillis();
    return since != null
        && since <= nowMillis
        && nowMillis < since + patienceMillis
        && !isComplete(cluster, gpusPerNode);
  }

  /**
   * Returns the minimum in force after a write.
   *
   * @throws ApiException if it is not a whole number of nodes, or more than is declared
   */
  static @Nullable Integer minGpus(
      Capacity.Declare order, @Nullable Declaration standing, Pool pool) {
    boolean isSet = order.conditions().minGpus() instanceof Setting.To<Integer>;
    Integer minGpus =
        order.conditions().minGpus().over(Declaration.conditionsOf(standing).minGpus());
    int maxGpus = order.gpus(standing);
    if (minGpus == null || (!isSet && maxGpus == 0)) {
      return null;
    }
    if (isSet && minGpus % pool.gpusPerNode() != 0) {
      throw ApiException.badField(
          "min_gpus", minGpus, "a multiple of gpus_per_node, which is " + pool.gpusPerNode());
    }
    if (minGpus > maxGpus) {
      throw ApiException.badField(
          "min_gpus",
          minGpus,
          "at most max_gpus, which is %s, or null for no minimum%s"
              .formatted(maxGpus, isSet ? "" : "; it stands from an earlier declaration"));
    }
    return minGpus;
  }
}
