package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The changes that operators and billing make to clusters. Pure; the version stays as it is. */
public final class OperatorCommands {
  /** The actor of changes by an organization's retirement. */
  private static final String OFFBOARD = "system:offboard";

  /** The actor of operators' changes of machines, as tenants see it. */
  private static final String OPERATOR = "system:operator";

  private OperatorCommands() {}

  /**
   * Places or lifts the cluster's billing hold and records this in its activity; changes nothing if
   * the hold is in force already.
   */
  public static Command billingHold(@Nullable Hold hold) {
    return (cluster, now) -> {
      if (Objects.equals(cluster.hold(), hold)) {
        return Transition.none(cluster);
      }
      Cluster.Draft draft = cluster.draft();
      draft.hold = hold;
      return new Transition(cluster, draft.build(), List.of(Activity.held(hold)), null);
    };
  }

  /** Sets several settings as one change. */
  static Command set(ClusterAdminService.Settings settings) {
    return (cluster, now) -> {
      Capacity.requireLive(cluster);
      Cluster.Draft draft = cluster.draft();
      draft.posture = settings.posture().orElse(draft.posture);
      draft.writesArmed = settings.writesArmed().orElse(draft.writesArmed);
      draft.maintenance = settings.maintenance().orElse(draft.maintenance);
      draft.overrides = settings.over(draft.overrides);
      return new Transition(cluster, draft.build(), List.of(), null);
    };
  }

  /**
   * Returns an operator's command whose audit row is stored in the same commit, unless the command
   * changes nothing. The platform owns the row, because its subject may equal an organization's id.
   *
   * @param actor the operator
   * @param detail the arguments to record
   */
  static Command recorded(Command command, String actor, String action, String detail) {
    return (cluster, now) -> {
      Transition transition = command.apply(cluster, now);
      return transition.changesNothing()
          ? transition
          : transition.withAudit(
              new AuditRow(now, Trails.PLATFORM, actor, action, cluster.name(), detail));
    };
  }

  /**
   * Pins or unpins the node at this address; changes nothing if it is pinned or unpinned already. A
   * pin ends a swap of the node that is in flight, because it means that the machine must stay.
   * Fails with {@code unknown-node}.
   */
  public static Command pin(String publicIp, boolean pinned) {
    return (cluster, now) -> {
      Allocation held =
          cluster
              .findHeld(publicIp)
              .orElseThrow(
                  () ->
                      ApiException.of(
                          ErrorCode.UNKNOWN_NODE,
                          "cluster " + cluster.name() + " holds no " + Text.shown(publicIp)));
      boolean endsSwap = pinned && held.isSwapping();
      if (held.pinned() == pinned && !endsSwap) {
        return Transition.none(cluster);
      }
      Cluster.Draft draft = cluster.draft();
      Allocation changed = held.withPin(pinned);
      draft.put(changed);
      List<Activity> activity = new ArrayList<>();
      if (endsSwap) {
        MarketTransitions.endSwap(draft, changed, now, activity);
      }
      return new Transition(cluster, draft.build(), activity, null);
    };
  }

  /**
   * Retires the cluster of a retired organization: disarms its writes, declares 0 GPUs and reclaims
   * all nodes, pinned ones included. Repeating it changes nothing.
   */
  public static Command retire() {
    return (cluster, now) -> {
      Declaration declared = cluster.declared();
      if (!cluster.writesArmed()
          && (declared == null || declared.maxGpus() == 0)
          && cluster.allocations().stream().noneMatch(Allocation::isOpen)) {
        return Transition.none(cluster);
      }
      Cluster.Draft draft = cluster.draft();
      List<Activity> activity = giveBack(draft, cluster, OFFBOARD, Allocation.Reason.OPERATOR, now);
      return new Transition(cluster, draft.build(), activity, null);
    };
  }

  /**
   * Disarms the cluster's writes, declares 0 GPUs and reclaims all nodes, pinned ones included.
   *
   * @return the entries for its activity
   */
  static List<Activity> giveBack(
      Cluster.Draft draft, Cluster cluster, String actor, Allocation.Reason reason, long now) {
    draft.writesArmed = false;
    draft.verdict = Verdict.NONE;
    List<Activity> activity = new ArrayList<>();
    Declaration declared = cluster.declared();
    if (declared != null && declared.maxGpus() > 0) {
      draft.declared =
          new Declaration(
              0,
              new Declaration.Ceiling(declared.ceilingCents(), declared.pricedAtMillis(), null),
              new Declaration.LastWrite(Declaration.notBefore(declared, now), actor, null),
              Conditions.NONE);
      activity.add(Activity.declared(actor, draft.declared));
    }
    for (Allocation allocation : cluster.allocations()) {
      // A replacement is reclaimed with its node, so the draft may have changed this allocation.
      draft
          .find(allocation.allocationId())
          .filter(Allocation::isOpen)
          .ifPresent(open -> MarketTransitions.take(draft, open, reason, actor, now, activity));
    }
    return activity;
  }

  /**
   * Reclaims a node at once, even a pinned one; its machine is cleaned. An open replacement fills
   * the slot from now on. Fails with {@code not-found} if the cluster has no such allocation or it
   * is being reclaimed already.
   */
  public static Command evict(String allocationId) {
    return (cluster, now) -> {
      Allocation evicted =
          cluster
              .find(allocationId)
              .filter(Allocation::isOpen)
              .orElseThrow(() -> ApiException.notFound("allocation", allocationId));
      Cluster.Draft draft = cluster.draft();
      cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.withoutReplaces()));
      draft.put(evicted.startReclaim(Allocation.Reason.OPERATOR, now));
      return new Transition(
          cluster,
          draft.build(),
          List.of(Activity.released(OPERATOR, evicted, Allocation.Reason.OPERATOR)),
          null);
    };
  }

  /**
   * Ends an allocation at once, in any state; its machine is not cleaned. An active one is billed
   * until now, a provisioning one is not billed. An open replacement fills the slot from now on.
   * Fails with {@code not-found} if the cluster has no such allocation.
   *
   * @param why the cause of an unwound grant for the activity
   */
  public static Command end(String allocationId, String why) {
    return (cluster, now) -> {
      Allocation ending =
          cluster
              .find(allocationId)
              .orElseThrow(() -> ApiException.notFound("allocation", allocationId));
      Cluster.Draft draft = cluster.draft();
      cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.withoutReplaces()));
      draft.remove(ending);
      return switch (ending.state()) {
        case RECLAIMING -> new Transition(cluster, draft.build(), List.of(), null);
        case PROVISIONING ->
            new Transition(
                cluster,
                draft.build(),
                List.of(Activity.unwound(ending, why)),
                null,
                List.of(ending.startReclaim(Allocation.Reason.UNWOUND, now)));
        case ACTIVE ->
            new Transition(
                cluster,
                draft.build(),
                List.of(Activity.released(OPERATOR, ending, Allocation.Reason.OPERATOR)),
                null,
                List.of(ending.startReclaim(Allocation.Reason.OPERATOR, now)));
      };
    };
  }
}
