package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.capacity.HeldHealth.Finding;
import dev.bourse.nodes.Health;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The changes that health checks of held machines make. Pure; the version stays as it is. */
public final class HealthCommands {
  /** The actor of a swap that nobody requested. */
  static final String AUTO_SWAP = "system:auto-swap";

  /** Limits the swaps of one slot to six in an hour if each replacement fails as well. */
  static final long SWAP_AFTER_MILLIS = 600_000;

  private HealthCommands() {}

  /**
   * Records findings about the cluster's active nodes, by allocation. If the declaration says so,
   * starts the swap of one node that this and an earlier finding call failed: one at a time, so
   * that a cluster whose machines fail together does not ask for a second set of nodes at once.
   * Such a swap ends when a finding is not failed, unless its replacement was granted: it would
   * otherwise take a healthy node as soon as another is free.
   *
   * @param maySwap true if swaps are on in the pool and writes are armed on the platform
   */
  public static Command found(Map<String, Finding> findings, boolean maySwap) {
    return (cluster, now) -> {
      Cluster.Draft draft = cluster.draft();
      boolean isChanged = false;
      List<Activity> activity = new ArrayList<>();
      Allocation failed = null;
      for (Allocation node : cluster.allocations()) {
        Finding found = findings.get(node.allocationId());
        if (found == null || node.state() != Allocation.State.ACTIVE) {
          continue;
        }
        HeldHealth before = node.health();
        HeldHealth after = HeldHealth.after(before, found, now);
        if (after != null && !after.equals(before)) {
          Allocation examined = node.withHealth(after);
          if (found.state() != Health.State.FAILED && isSwappedForFault(cluster, node)) {
            examined = examined.withSwap(null, 0);
            activity.add(Activity.of(node, new ClusterEvent.SwapLapsed(node.publicIp())));
          }
          draft.put(examined);
          isChanged = true;
        }
        boolean isConfirmed =
            before != null
                && before.state() == Health.State.FAILED
                && found.state() == Health.State.FAILED;
        if (failed == null && isConfirmed && isSwappable(node, now)) {
          failed = node;
        }
      }
      if (failed == null || !maySwap || !swapsByItself(cluster)) {
        return isChanged
            ? new Transition(cluster, draft.build(), activity, null)
            : Transition.none(cluster);
      }
      String failedId = failed.allocationId();
      draft.find(failedId).ifPresent(node -> draft.put(Capacity.swapped(cluster, node, now)));
      return new Transition(
          cluster,
          draft.build(),
          activity,
          new AuditRow(
              now,
              cluster.orgId(),
              AUTO_SWAP,
              Capacity.action(cluster, "swap"),
              cluster.name(),
              "node=" + cluster.nameOf(failed) + " health=failed"));
    };
  }

  /** True if a command of this class changes the cluster. */
  public static boolean changes(Command command, Cluster cluster, long nowMillis) {
    return !command.apply(cluster, nowMillis).changesNothing();
  }

  private static boolean isSwappable(Allocation node, long now) {
    Long activeAt = node.activeAtMillis();
    return node.fillsSlot()
        && !node.pinned()
        && activeAt != null
        && now >= activeAt + SWAP_AFTER_MILLIS;
  }

  /**
   * True if the swap of a failed node began during its fault and no replacement is on its way. A
   * member's request counts as well if the declaration has failed nodes swapped, because it came
   * before the same swap without a request.
   */
  private static boolean isSwappedForFault(Cluster cluster, Allocation node) {
    Declaration declared = cluster.declared();
    HeldHealth health = node.health();
    Long requestedAt = node.swapRequestedAtMillis();
    return declared != null
        && declared.conditions().autoSwap()
        && health != null
        && health.state() == Health.State.FAILED
        && requestedAt != null
        && requestedAt >= health.sinceMillis()
        && cluster.findReplacement(node.allocationId()).isEmpty();
  }

  /** True if a swap could be requested and no other one is in flight. */
  private static boolean swapsByItself(Cluster cluster) {
    Declaration declared = cluster.declared();
    return declared != null
        && declared.conditions().autoSwap()
        && cluster.posture() == Cluster.Posture.MARKET
        && cluster.writesArmed()
        && !cluster.isRetired()
        && !cluster.isPaused()
        && !cluster.maintenance()
        && cluster.allocations().stream().noneMatch(a -> a.isOpen() && a.isSwapping());
  }
}
