package dev.bourse.capacity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the market and the machines do to a cluster: grants, reclaims, provisioning's end. Pure
 * functions.
 */
public final class Allotment {
  private Allotment() {}

  /**
   * What a tick decided for one cluster.
   *
   * @param seenRevision the revision the tick saw; when the cluster has moved on since, the orders
   *     are void and the next tick decides anew
   * @param grants nodes to grant
   * @param reclaims allocations to take back
   * @param notices allocations to give notice, and those whose notice is withdrawn
   * @param verdict why declared slots stay open
   * @param swapFreshnessMillis swaps waiting longer than this lapse
   * @param alerted what the tick has for the cluster to be told; null for nothing
   */
  public record Orders(
      long seenRevision,
      List<Grant> grants,
      List<Taken> reclaims,
      NoticeOrders notices,
      Verdict verdict,
      long swapFreshnessMillis,
      @Nullable Alerted alerted) {

    /**
     * A cluster's alerts after a tick.
     *
     * @param next what is raised from now on
     * @param told what was not before, and what is said of it
     */
    public record Alerted(Alerts next, Map<Alerts.Kind, String> told) {}

    /** Orders by which nobody is given notice or told anything. */
    public Orders(
        long seenRevision,
        List<Grant> grants,
        List<Taken> reclaims,
        Verdict verdict,
        long swapFreshnessMillis) {
      this(seenRevision, grants, reclaims, NoticeOrders.NONE, verdict, swapFreshnessMillis, null);
    }

    /** One node to grant. */
    public record Grant(
        String allocationId,
        String nodeId,
        @Nullable String publicIp,
        @Nullable String replaces,
        List<String> keyIds) {}

    /** One allocation to take back. */
    public record Taken(String allocationId, Allocation.Reason reason) {}
  }

  /** Carries out a tick's decisions. */
  public static Transition settle(Cluster cluster, Orders orders, long nowMillis) {
    if (cluster.revision() != orders.seenRevision()) {
      return Transition.none(cluster);
    }
    Cluster.Draft draft = cluster.draft();
    List<Activity> activity = new ArrayList<>();
    for (Orders.Taken taken : orders.reclaims()) {
      draft
          .find(taken.allocationId())
          .filter(Allocation::isOpen)
          .ifPresent(
              a -> {
                if (taken.reason() == Allocation.Reason.UNWOUND) {
                  giveUp(draft, a, nowMillis, activity);
                } else {
                  take(draft, a, taken.reason(), Activity.MARKET, nowMillis, activity);
                }
              });
    }
    orders.notices().carryOut(draft, activity);
    for (Orders.Grant grant : orders.grants()) {
      Allocation granted =
          Allocation.granted(
              grant.allocationId(),
              grant.nodeId(),
              grant.publicIp(),
              slot(cluster, draft, grant.replaces()),
              nowMillis,
              cluster.ceilingCents(),
              grant.replaces(),
              grant.keyIds());
      draft.add(granted);
      activity.add(Activity.granted(granted));
    }
    // Last, for a node that was just taken or whose replacement was just granted waits no longer.
    for (Allocation waiting : lapsedSwaps(draft.build(), orders.swapFreshnessMillis(), nowMillis)) {
      draft.put(waiting.swapping(null, 0));
      activity.add(new Activity(Activity.MARKET, new ClusterEvent.SwapLapsed(waiting.publicIp())));
    }
    boolean isAlerted = alert(draft, orders.alerted(), activity);
    draft.verdict = orders.verdict();
    if (!isAlerted && activity.isEmpty() && draft.verdict.equals(cluster.verdict())) {
      return Transition.none(cluster);
    }
    return new Transition(cluster, draft.build(), activity, null);
  }

  /** Whether alerts are others now. */
  private static boolean alert(
      Cluster.Draft draft, Orders.@Nullable Alerted alerted, List<Activity> activity) {
    if (alerted == null) {
      return false;
    }
    draft.alerts = alerted.next();
    alerted
        .told()
        .forEach(
            (kind, seen) ->
                activity.add(
                    new Activity(Activity.MARKET, new ClusterEvent.AlertRaised(kind, seen))));
    return true;
  }

  /** Unwinds a grant of a minimum that was not completed in time. */
  private static void giveUp(
      Cluster.Draft draft, Allocation grant, long nowMillis, List<Activity> activity) {
    draft.put(grant.reclaiming(Allocation.Reason.UNWOUND, nowMillis));
    draft.gangUnwoundAtMillis = nowMillis;
    activity.add(Activity.unwound(grant, "min_gpus could not be completed in time"));
    takeReplacement(draft, grant, Allocation.Reason.UNWOUND, Activity.MARKET, nowMillis, activity);
  }

  /** A replacement takes the slot of the node it replaces, any other grant the lowest free one. */
  private static int slot(Cluster cluster, Cluster.Draft draft, @Nullable String replaces) {
    return Optional.ofNullable(replaces)
        .flatMap(cluster::find)
        .map(Allocation::slot)
        .orElseGet(draft::takeLowestFreeSlot);
  }

  /** Swaps that waited too long; one whose replacement is on its way no longer waits. */
  public static List<Allocation> lapsedSwaps(
      Cluster cluster, long swapFreshnessMillis, long nowMillis) {
    return cluster.allocations().stream()
        .filter(
            a ->
                a.swapRequestedAtMillis() != null
                    && nowMillis >= a.swapRequestedAtMillis() + swapFreshnessMillis
                    && cluster.findReplacement(a.allocationId()).isEmpty())
        .toList();
  }

  /**
   * The machine is ready. A swap lands: the old node goes, the new one keeps its protection, or
   * starts one when the old never became active. A pinned one does not go for it: the version
   * before let a pin and a swap stand beside each other.
   */
  public static Transition provisioned(
      Cluster cluster, String allocationId, long protectionMillis, long nowMillis) {
    return provisioned(cluster, allocationId, Integer.MAX_VALUE, protectionMillis, nowMillis);
  }

  /**
   * The machine is ready, as above. While fewer than the cluster's minimum are, it waits, and is
   * not billed; the one that completes the minimum has all of them become active with it. Once more
   * told of one that waits, it changes nothing unless the minimum is complete by now.
   */
  public static Transition provisioned(
      Cluster cluster,
      String allocationId,
      int gpusPerNode,
      long protectionMillis,
      long nowMillis) {
    Optional<Allocation> found =
        cluster.find(allocationId).filter(a -> a.state() == Allocation.State.PROVISIONING);
    if (found.isEmpty()) {
      return Transition.none(cluster);
    }
    Allocation ready = found.get();
    Cluster.Draft draft = cluster.draft();
    draft.provisionFailures = 0;
    Optional<Allocation> saved =
        Optional.ofNullable(ready.replaces()).flatMap(cluster::find).filter(Allocation::pinned);
    if (saved.isPresent()) {
      List<Activity> ended = new ArrayList<>();
      endSwap(draft, saved.get(), nowMillis, ended);
      return new Transition(cluster, draft.build(), ended, null);
    }
    List<Activity> activity = new ArrayList<>();
    Optional<Allocation> replaced =
        Optional.ofNullable(ready.replaces()).flatMap(cluster::find).filter(Allocation::isOpen);
    Optional<Allocation> landed =
        replaced
            .filter(old -> old.activeAtMillis() != null)
            .map(old -> ready.activeFor(old, nowMillis));
    draft.put(landed.orElseGet(() -> ready.isReady() ? ready : ready.ready(nowMillis)));
    replaced.ifPresent(
        old -> {
          take(draft, old, Allocation.Reason.SWAP, Activity.MARKET, nowMillis, activity);
          Optional.ofNullable(old.notice())
              .ifPresent(notice -> activity.add(Activity.noticed(ready, notice)));
        });
    boolean activates =
        landed.isEmpty()
            && Gang.prepared(draft.allocations) >= Gang.minimumSlots(cluster, gpusPerNode);
    if (activates) {
      activate(draft, cluster.ceilingCents(), protectionMillis, nowMillis);
    }
    return ready.isReady() && !activates
        ? Transition.none(cluster)
        : new Transition(cluster, draft.build(), activity, null);
  }

  /** All that are ready become active at one moment. */
  private static void activate(
      Cluster.Draft draft, long ceilingCents, long protectionMillis, long nowMillis) {
    for (Allocation ready : List.copyOf(draft.allocations)) {
      if (ready.isReady()) {
        // A ceiling lowered while the machine was made ready has given the protection up.
        boolean isLowered = ceilingCents < ready.grantCeilingCents();
        draft.put(ready.active(nowMillis, isLowered ? null : nowMillis + protectionMillis));
      }
    }
  }

  /**
   * The machine could not be prepared: the grant is unwound and the machine cleaned. A replacement
   * on its way for it fills its slot from now on.
   */
  public static Transition unwound(
      Cluster cluster, String allocationId, String cause, long nowMillis) {
    Optional<Allocation> found =
        cluster.find(allocationId).filter(a -> a.state() == Allocation.State.PROVISIONING);
    if (found.isEmpty()) {
      return Transition.none(cluster);
    }
    Cluster.Draft draft = cluster.draft();
    draft.provisionFailures = cluster.provisionFailures() + 1;
    draft.put(found.get().reclaiming(Allocation.Reason.UNWOUND, nowMillis));
    cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.standingAlone()));
    return new Transition(
        cluster, draft.build(), List.of(Activity.unwound(found.get(), cause)), null);
  }

  /** The machine is clean: the allocation is over. */
  public static Transition reclaimed(Cluster cluster, String allocationId) {
    Cluster.Draft draft = cluster.draft();
    boolean removed =
        draft.find(allocationId).filter(a -> !a.isOpen()).map(draft::remove).orElse(false);
    return removed
        ? new Transition(cluster, draft.build(), List.of(), null)
        : Transition.none(cluster);
  }

  /**
   * Ends the swap of a node that an operator pinned: it stays, without the nomination, and its
   * replacement is taken back, ready or not.
   */
  static void endSwap(
      Cluster.Draft draft, Allocation pinned, long nowMillis, List<Activity> activity) {
    draft.put(pinned.swapping(null, 0));
    activity.add(new Activity(Activity.MARKET, new ClusterEvent.SwapEnded(pinned.publicIp())));
    takeReplacement(
        draft, pinned, Allocation.Reason.OPERATOR, Activity.MARKET, nowMillis, activity);
  }

  /** Starts a reclaim. The replacement of a swap goes with the node it was to replace. */
  static void take(
      Cluster.Draft draft,
      Allocation victim,
      Allocation.Reason reason,
      String actor,
      long nowMillis,
      List<Activity> activity) {
    draft.put(victim.reclaiming(reason, nowMillis));
    activity.add(Activity.released(actor, victim, reason));
    if (victim.isSwapping()) {
      takeReplacement(draft, victim, reason, actor, nowMillis, activity);
    }
  }

  private static void takeReplacement(
      Cluster.Draft draft,
      Allocation replaced,
      Allocation.Reason reason,
      String actor,
      long nowMillis,
      List<Activity> activity) {
    for (Allocation other : List.copyOf(draft.allocations)) {
      if (other.isOpen() && replaced.allocationId().equals(other.replaces())) {
        draft.put(other.reclaiming(reason, nowMillis));
        activity.add(Activity.released(actor, other, reason));
      }
    }
  }
}
