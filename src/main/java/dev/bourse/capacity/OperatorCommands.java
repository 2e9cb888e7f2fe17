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

/** What operators and billing do to a cluster. Pure; clients' versions stay as they are. */
public final class OperatorCommands {
  /** The actor of what an organization's retirement brings about. */
  private static final String OFFBOARD = "system:offboard";

  /** The actor of what operators do to machines, as tenants read it. */
  private static final String OPERATOR = "system:operator";

  private OperatorCommands() {}

  /**
   * Puts the cluster under what its organization is held for, which its activity tells; changes
   * nothing when it is so already.
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

  /** Sets several things as one change. */
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
   * An operator's command, whose audit row goes into the same commit; none when it changes nothing.
   * The row is the platform's by its owner and not by its subject, which may read like an
   * organization.
   *
   * @param actor the operator
   * @param detail the arguments to record
   */
  static Command recorded(Command command, String actor, String action, String detail) {
    return (cluster, now) -> {
      Transition transition = command.apply(cluster, now);
      return transition.changesNothing()
          ? transition
          : transition.recorded(
              new AuditRow(now, Trails.PLATFORM, actor, action, cluster.name(), detail));
    };
  }

  /**
   * Pins or unpins the node at this address; changes nothing when it is so already. A pin ends a
   * swap of the node that is in flight: whoever pins a machine wants it kept, whatever was asked
   * before. Refused with {@code unknown-node}.
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
      Allocation changed = held.pinned(pinned);
      draft.put(changed);
      List<Activity> activity = new ArrayList<>();
      if (endsSwap) {
        Allotment.endSwap(draft, changed, now, activity);
      }
      return new Transition(cluster, draft.build(), activity, null);
    };
  }

  /**
   * Retires the cluster of a retired organization: its writes are disarmed, it declares nothing
   * more and gives back all it holds, pinned nodes too. Doing so again changes nothing.
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
   * Disarms the cluster's writes, declares nothing more for it and takes all it holds, pinned nodes
   * too.
   *
   * @return what its activity tells of that
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
      // A replacement goes with the node it was to replace, so each is looked at anew.
      draft
          .find(allocation.allocationId())
          .filter(Allocation::isOpen)
          .ifPresent(open -> Allotment.take(draft, open, reason, actor, now, activity));
    }
    return activity;
  }

  /**
   * Takes a node from the cluster at once, a pinned one too; it is cleaned like any other. A
   * replacement on its way fills the slot by itself from now on. Refused with {@code not-found}
   * when the cluster has no such allocation or gives it back already.
   */
  public static Command evict(String allocationId) {
    return (cluster, now) -> {
      Allocation evicted =
          cluster
              .find(allocationId)
              .filter(Allocation::isOpen)
              .orElseThrow(() -> ApiException.notFound("allocation", allocationId));
      Cluster.Draft draft = cluster.draft();
      cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.standingAlone()));
      draft.put(evicted.reclaiming(Allocation.Reason.OPERATOR, now));
      return new Transition(
          cluster,
          draft.build(),
          List.of(Activity.released(OPERATOR, evicted, Allocation.Reason.OPERATOR)),
          null);
    };
  }

  /**
   * Ends an allocation at once, in whatever state, without its machine being cleaned: an active one
   * is billed until now, one being prepared never was. A replacement on its way fills the slot by
   * itself from now on. Refused with {@code not-found} when the cluster has no such allocation.
   *
   * @param why what the machine could not be prepared for, as activity tells it
   */
  public static Command end(String allocationId, String why) {
    return (cluster, now) -> {
      Allocation ending =
          cluster
              .find(allocationId)
              .orElseThrow(() -> ApiException.notFound("allocation", allocationId));
      Cluster.Draft draft = cluster.draft();
      cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.standingAlone()));
      draft.remove(ending);
      return switch (ending.state()) {
        case RECLAIMING -> new Transition(cluster, draft.build(), List.of(), null);
        case PROVISIONING ->
            new Transition(
                cluster,
                draft.build(),
                List.of(Activity.unwound(ending, why)),
                null,
                List.of(ending.reclaiming(Allocation.Reason.UNWOUND, now)));
        case ACTIVE ->
            new Transition(
                cluster,
                draft.build(),
                List.of(Activity.released(OPERATOR, ending, Allocation.Reason.OPERATOR)),
                null,
                List.of(ending.reclaiming(Allocation.Reason.OPERATOR, now)));
      };
    };
  }
}
