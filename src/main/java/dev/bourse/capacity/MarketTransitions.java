package dev.bourse.capacity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The changes that the market and the machines make to a cluster: grants, reclaims, and the end of
 * provisioning. Pure functions.
 */
public final class MarketTransitions {
  private MarketTransitions() {}

  /**
   * A tick's decision for one cluster. It names allocations and carries the ceiling that the tick
   * read, so a later write of the cluster does not void it.
   *
   * @param gate the ceiling that the tick read, and when
   * @param seenVersion the cluster's version that the tick read; the verdict is about that
   *     declaration
   * @param gpusPerNode GPUs of a node
   * @param lockCents the most that granted nodes cost per GPU-hour while protected; null for no
   *     lock
   * @param seats the number of its seats; nodes are reclaimed only while it holds more
   * @param grants nodes to grant; those of a gang all or none
   * @param losing ids of allocations without a seat, including those under notice
   * @param reclaims allocations to take back
   * @param notices allocations to give notice, and those whose notice is withdrawn
   * @param verdict why declared slots stay open
   * @param swapFreshnessMillis swaps waiting longer than this lapse
   * @param alerted the cluster's alerts after the tick; null if they did not change
   * @param hasGivenUp true if the cluster gave up a seat or a node granted within the last ten
   *     minutes, by a lower ceiling, a larger minimum or a used-up budget
   */
  public record Orders(
      Standing.Gate gate,
      long seenVersion,
      int gpusPerNode,
      @Nullable Long lockCents,
      int seats,
      List<Grant> grants,
      Set<String> losing,
      List<Taken> reclaims,
      NoticeOrders notices,
      Verdict verdict,
      long swapFreshnessMillis,
      @Nullable Alerted alerted,
      boolean hasGivenUp) {

    /**
     * A cluster's alerts after a tick.
     *
     * @param seen the alerts that the tick read; alerts set since then stay unchanged
     * @param next the alerts after the tick
     * @param told the kinds that the tick raised, with their texts
     */
    public record Alerted(Alerts seen, Alerts next, Map<Alerts.Kind, String> told) {}

    /**
     * A node to grant.
     *
     * @param minimumSlots the number of the cluster's nodes that must be ready before it becomes
     *     active
     */
    public record Grant(
        String allocationId,
        String nodeId,
        @Nullable String publicIp,
        @Nullable String replaces,
        List<String> keyIds,
        int minimumSlots) {
      /** True if it becomes active together with other nodes. */
      boolean isOfGang() {
        return minimumSlots > 1;
      }
    }

    /**
     * One allocation to take back.
     *
     * @param evictor the organization whose bid waits for the node; null without one
     */
    public record Taken(String allocationId, Allocation.Reason reason, @Nullable String evictor) {
      public Taken(String allocationId, Allocation.Reason reason) {
        this(allocationId, reason, null);
      }
    }
  }

  /** Applies a tick's decision; skips the parts that later changes of the cluster rule out. */
  public static Transition settle(Cluster cluster, Orders orders, long nowMillis) {
    Cluster.Draft draft = cluster.draft();
    List<Activity> activity = new ArrayList<>();
    List<Orders.Taken> reclaimed = reclaim(cluster, draft, orders, nowMillis, activity);
    orders.notices().carryOut(draft, activity);
    boolean isAllWanted = grant(cluster, draft, orders, nowMillis, activity);
    boolean isLeft = orders.hasGivenUp() || !isAllWanted;
    long ceilingCents = orders.gate().ceilingCents();
    for (Allocation held : List.copyOf(draft.allocations)) {
      if (held.isOpen()) {
        boolean isSeated = !orders.losing().contains(held.allocationId());
        draft.put(held.afterTick(ceilingCents, isSeated, orders.gate().atMillis()));
      }
    }
    // Last, because a swap ends when its node is reclaimed or its replacement is granted.
    for (Allocation waiting : lapsedSwaps(draft.build(), orders.swapFreshnessMillis(), nowMillis)) {
      draft.put(waiting.withSwap(null, 0));
      activity.add(Activity.of(waiting, new ClusterEvent.SwapLapsed(waiting.publicIp())));
    }
    alert(draft, orders.alerted(), activity);
    if (cluster.version() == orders.seenVersion()) {
      draft.verdict = orders.verdict();
    }
    draft.standing = standing(cluster, draft, orders, isLeft, nowMillis);
    return activity.isEmpty() && isSame(cluster, draft)
        ? Transition.none(cluster)
        : transition(cluster, draft.build(), activity, reclaimed, isLeft, nowMillis);
  }

  private static Transition transition(
      Cluster cluster,
      Cluster next,
      List<Activity> activity,
      List<Orders.Taken> reclaimed,
      boolean isLeft,
      long nowMillis) {
    Map<String, Integer> evicted = new TreeMap<>();
    for (Orders.Taken taken : reclaimed) {
      if (taken.evictor() != null) {
        evicted.merge(taken.evictor(), 1, Integer::sum);
      }
    }
    List<BidderEvents.Count> counts = new ArrayList<>();
    evicted.forEach((org, nodes) -> counts.add(new BidderEvents.Count(org, nodes, 0)));
    if (isLeft) {
      int givenUp = countGivenUp(cluster, next, reclaimed, nowMillis);
      counts.addAll(BidderEvents.Count.listGivenUp(cluster, givenUp));
    }
    return new Transition(cluster, next, activity, null, List.of(), null, counts);
  }

  /**
   * Counts the seats that a tick took from a cluster by the cluster's own change, and the new
   * nodes. A seat whose node was granted does not count as lost; nor does a node that was reclaimed
   * because its minimum was not ready in time.
   */
  private static int countGivenUp(
      Cluster before, Cluster after, List<Orders.Taken> reclaimed, long nowMillis) {
    int granted = 0;
    for (Allocation a : after.allocations()) {
      granted += a.fillsSlot() && before.find(a.allocationId()).isEmpty() ? 1 : 0;
    }
    int seats = before.standing().awaitedSlots() - after.standing().awaitedSlots() - granted;
    long nodes =
        reclaimed.stream()
            .filter(taken -> taken.reason() == Allocation.Reason.OUTBID)
            .flatMap(taken -> before.find(taken.allocationId()).stream())
            .filter(a -> a.isFresh(nowMillis))
            .count();
    return Math.max(0, seats) + (int) nodes;
  }

  private static boolean isSame(Cluster cluster, Cluster.Draft draft) {
    return draft.verdict.equals(cluster.verdict())
        && draft.standing.equals(cluster.standing())
        && draft.alerts.equals(cluster.alerts())
        && draft.allocations.equals(cluster.allocations());
  }

  /**
   * Reclaims nodes that lost their seats while the cluster holds more nodes than seats, so a
   * cluster that released nodes since the tick loses no others. Nodes pinned since then stay, and
   * so do nodes whose hold was lifted.
   *
   * @return the reclaims that it carried out
   */
  private static List<Orders.Taken> reclaim(
      Cluster cluster,
      Cluster.Draft draft,
      Orders orders,
      long nowMillis,
      List<Activity> activity) {
    List<Orders.Taken> reclaimed = new ArrayList<>();
    int held = cluster.filledSlots();
    for (Orders.Taken taken : orders.reclaims()) {
      Allocation loser = draft.find(taken.allocationId()).orElse(null);
      if (loser == null || !loser.isOpen() || !stands(cluster, loser, taken.reason())) {
        continue;
      }
      if (taken.reason() == Allocation.Reason.UNWOUND) {
        giveUp(draft, loser, nowMillis, activity);
      } else if (held > orders.seats()) {
        take(draft, loser, taken.reason(), Activity.MARKET, nowMillis, activity);
      } else {
        continue;
      }
      held -= loser.fillsSlot() ? 1 : 0;
      reclaimed.add(taken);
    }
    return reclaimed;
  }

  /** True if the reason for a reclaim still applies. */
  private static boolean stands(Cluster cluster, Allocation loser, Allocation.Reason reason) {
    Hold hold = cluster.hold();
    return switch (reason) {
      case OUTBID -> !loser.pinned() && cluster.posture() == Cluster.Posture.MARKET;
      case HOLD -> hold != null && hold.stage() == Hold.Stage.ENFORCE;
      case UNWOUND -> loser.state() == Allocation.State.PROVISIONING;
      default -> true;
    };
  }

  /**
   * Grants the nodes that the cluster still asks for; grants a gang's nodes all together or not at
   * all.
   *
   * @return false if the cluster no longer asks for all of them; true if only an operator prevents
   *     the grant
   */
  private static boolean grant(
      Cluster cluster,
      Cluster.Draft draft,
      Orders orders,
      long nowMillis,
      List<Activity> activity) {
    if (orders.grants().isEmpty()) {
      return true;
    }
    if (cluster.isRetired()) {
      return false;
    }
    if (cluster.isPaused() || cluster.posture() == Cluster.Posture.STATIC) {
      return true;
    }
    int room = cluster.declaredSlots(orders.gpusPerNode()) - draft.build().filledSlots();
    long wanted = orders.grants().stream().filter(grant -> grant.replaces() == null).count();
    boolean isAllWanted = wanted <= room;
    boolean isGang = orders.grants().stream().anyMatch(Orders.Grant::isOfGang);
    for (Orders.Grant grant : orders.grants()) {
      boolean isWanted =
          grant.replaces() == null
              ? isAllWanted || (room > 0 && !isGang)
              : draft
                  .find(grant.replaces())
                  .filter(a -> a.isOpen() && a.isSwapping() && !a.pinned())
                  .isPresent();
      if (!isWanted) {
        continue;
      }
      room -= grant.replaces() == null ? 1 : 0;
      Allocation granted =
          Allocation.granted(
              grant,
              slot(cluster, draft, grant.replaces()),
              nowMillis,
              orders.gate().ceilingCents(),
              orders.lockCents());
      draft.add(granted);
      if (!grant.isOfGang()) {
        activity.add(Activity.granted(granted));
      }
    }
    return isAllWanted;
  }

  /**
   * Returns the cluster's standing after the tick. The ceiling that the tick read is stored while
   * the cluster has nodes or seats, or had nodes until now, because bills use it.
   */
  private static Standing standing(
      Cluster cluster, Cluster.Draft draft, Orders orders, boolean isLeft, long nowMillis) {
    int seats = Math.min(orders.seats(), cluster.declaredSlots(orders.gpusPerNode()));
    boolean holds = cluster.allocations().stream().anyMatch(Allocation::isOpen);
    Standing next = next(draft.build(), orders.gate(), seats, holds, nowMillis);
    return isLeft ? new Standing(next.gate(), next.awaitedSlots(), nowMillis) : next;
  }

  private static Standing next(
      Cluster cluster, Standing.Gate gate, int seats, boolean hasHeld, long nowMillis) {
    Standing before = cluster.standing();
    int awaited = Math.max(0, seats - cluster.filledSlots());
    Standing.Gate known = before.gate();
    boolean isKnown =
        known != null
            && known.pricedAtMillis() == gate.pricedAtMillis()
            && known.ceilingCents() == gate.ceilingCents();
    boolean isNoted =
        !isKnown
            && (awaited > 0
                || hasHeld
                || cluster.allocations().stream().anyMatch(Allocation::isOpen));
    Long gaveUpAt = before.gaveUpAtMillis();
    boolean isOver = gaveUpAt != null && nowMillis >= gaveUpAt + Standing.LAST_MILLIS;
    return isNoted || isOver || awaited != before.awaitedSlots()
        ? new Standing(isNoted ? gate : known, awaited, isOver ? null : gaveUpAt)
        : before;
  }

  /**
   * True if a tick changes a cluster although it neither grants nor reclaims a node.
   *
   * @param seats the number of its seats
   * @param losing ids of allocations without a seat
   */
  public static boolean isJudgedAnew(
      Cluster cluster, Standing.Gate gate, int seats, Set<String> losing, int gpusPerNode) {
    int asked = Math.min(seats, cluster.declaredSlots(gpusPerNode));
    if (!next(cluster, gate, asked, false, gate.atMillis()).equals(cluster.standing())) {
      return true;
    }
    for (Allocation a : cluster.allocations()) {
      boolean isSeated = !losing.contains(a.allocationId());
      if (a.isOpen() && !a.afterTick(gate.ceilingCents(), isSeated, gate.atMillis()).equals(a)) {
        return true;
      }
    }
    return false;
  }

  private static void alert(
      Cluster.Draft draft, Orders.@Nullable Alerted alerted, List<Activity> activity) {
    if (alerted == null || !draft.alerts.equals(alerted.seen())) {
      return;
    }
    draft.alerts = alerted.next();
    alerted
        .told()
        .forEach(
            (kind, seen) ->
                activity.add(
                    new Activity(Activity.MARKET, new ClusterEvent.AlertRaised(kind, seen))));
  }

  /** Unwinds a grant of a minimum that was not completed in time. */
  private static void giveUp(
      Cluster.Draft draft, Allocation grant, long nowMillis, List<Activity> activity) {
    draft.put(grant.startReclaim(Allocation.Reason.UNWOUND, nowMillis));
    draft.gangUnwoundAtMillis = nowMillis;
    activity.add(Activity.unwound(grant, "min_gpus could not be completed in time"));
    takeReplacement(draft, grant, Allocation.Reason.UNWOUND, Activity.MARKET, nowMillis, activity);
  }

  /** Returns the slot of the node that a grant replaces, or else the lowest free slot. */
  private static int slot(Cluster cluster, Cluster.Draft draft, @Nullable String replaces) {
    return Optional.ofNullable(replaces)
        .flatMap(cluster::find)
        .map(Allocation::slot)
        .orElseGet(draft::takeLowestFreeSlot);
  }

  /** Returns the nodes whose swap waited too long for a replacement to be granted. */
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
   * Records that the machine is ready. If it is a replacement, its swap completes: the old node is
   * reclaimed, and the new one continues its protection, or starts one if the old node never became
   * active. If the old node is pinned, the swap ends and the old node stays; the previous release
   * allowed a pin during a swap.
   */
  public static Transition provisioned(
      Cluster cluster, String allocationId, long protectionMillis, long nowMillis) {
    return provisioned(
        cluster, allocationId, Integer.MAX_VALUE, protectionMillis, node -> null, nowMillis);
  }

  /**
   * Records that the machine is ready, as above. A gang's node waits, and is not billed, until as
   * many nodes as its minimum are ready and have their keys; then they become active together.
   * Repeating it changes nothing unless the minimum is complete by now.
   *
   * @param addresses addresses by node, read for nodes of a gang
   */
  public static Transition provisioned(
      Cluster cluster,
      String allocationId,
      int gpusPerNode,
      long protectionMillis,
      Function<String, @Nullable String> addresses,
      long nowMillis) {
    Optional<Allocation> found =
        cluster.find(allocationId).filter(a -> a.state() == Allocation.State.PROVISIONING);
    if (found.isEmpty()) {
      return Transition.none(cluster);
    }
    Allocation ready = found.get();
    Cluster.Draft draft = cluster.draft();
    draft.provisionFailures = 0;
    draft.joinRefusedAtMillis = null;
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
            .map(old -> ready.activateInPlaceOf(old, nowMillis));
    draft.put(landed.orElseGet(() -> ready.isReady() ? ready : ready.markReady(nowMillis)));
    replaced.ifPresent(
        old -> {
          take(draft, old, Allocation.Reason.SWAP, Activity.MARKET, nowMillis, activity);
          Optional.ofNullable(old.notice())
              .ifPresent(notice -> activity.add(Activity.noticed(ready, notice)));
        });
    boolean activates = landed.isEmpty() && Gang.isKeyed(draft.build(), gpusPerNode);
    if (activates) {
      activate(draft, protectionMillis, addresses, nowMillis, activity);
    }
    return ready.isReady() && !activates
        ? Transition.none(cluster)
        : new Transition(cluster, draft.build(), activity, null);
  }

  /**
   * Makes all nodes that are ready and have their keys active at the same moment, with the
   * addresses of a gang's nodes.
   */
  private static void activate(
      Cluster.Draft draft,
      long protectionMillis,
      Function<String, @Nullable String> addresses,
      long nowMillis,
      List<Activity> activity) {
    for (Allocation ready : List.copyOf(draft.allocations)) {
      if (ready.isReady() && !ready.keysDue()) {
        Long givenUp = ready.protectedUntilMillis();
        Allocation active =
            ready.activate(nowMillis, givenUp == null ? nowMillis + protectionMillis : givenUp);
        if (ready.isOfGang()) {
          active = active.withAddress(addresses.apply(ready.nodeId()));
          activity.add(Activity.granted(active));
        }
        draft.put(active);
      }
    }
  }

  /**
   * Records that the keys of a gang's node are written. If the gang's minimum has its keys now,
   * these nodes become active together.
   *
   * @param addresses addresses by node
   */
  public static Transition keyed(
      Cluster cluster,
      String allocationId,
      int gpusPerNode,
      long protectionMillis,
      Function<String, @Nullable String> addresses,
      long nowMillis) {
    Optional<Allocation> found = cluster.find(allocationId).filter(a -> a.isReady() && a.keysDue());
    if (found.isEmpty()) {
      return Transition.none(cluster);
    }
    Cluster.Draft draft = cluster.draft();
    draft.put(found.get().withKeysWritten());
    List<Activity> activity = new ArrayList<>();
    if (Gang.isKeyed(draft.build(), gpusPerNode)) {
      activate(draft, protectionMillis, addresses, nowMillis, activity);
    }
    return new Transition(cluster, draft.build(), activity, null);
  }

  /**
   * Unwinds a grant whose machine could not be prepared; the machine is cleaned. If the allocation
   * was being swapped, the replacement fills its slot from now on.
   */
  public static Transition unwound(
      Cluster cluster, String allocationId, String cause, long nowMillis) {
    return unwound(cluster, allocationId, cause, nowMillis, draft -> draft.provisionFailures++);
  }

  /**
   * Unwinds a grant, as above, whose node the tenant's Kubernetes cluster did not admit. It counts
   * as a new node that was given up, and the organization gets no other node of the pool for {@link
   * Standing#LAST_MILLIS}, and after that one at a time until one joins: a refusal costs nothing,
   * so it must not keep machines from others.
   */
  public static Transition joinRefused(Cluster cluster, String allocationId, long nowMillis) {
    Transition refused =
        unwound(
            cluster,
            allocationId,
            "the Kubernetes cluster refused the node",
            nowMillis,
            draft -> {
              draft.joinRefusedAtMillis = nowMillis;
              draft.standing = draft.standing.withGiveUp(nowMillis);
            });
    return refused.changesNothing()
        ? refused
        : refused.withBidderCounts(BidderEvents.Count.listGivenUp(cluster, 1));
  }

  private static Transition unwound(
      Cluster cluster,
      String allocationId,
      String cause,
      long nowMillis,
      Consumer<Cluster.Draft> setback) {
    Optional<Allocation> found =
        cluster.find(allocationId).filter(a -> a.state() == Allocation.State.PROVISIONING);
    if (found.isEmpty()) {
      return Transition.none(cluster);
    }
    Cluster.Draft draft = cluster.draft();
    setback.accept(draft);
    draft.put(found.get().startReclaim(Allocation.Reason.UNWOUND, nowMillis));
    cluster.findReplacement(allocationId).ifPresent(other -> draft.put(other.withoutReplaces()));
    return new Transition(
        cluster, draft.build(), List.of(Activity.unwound(found.get(), cause)), null);
  }

  /** Ends an allocation whose machine is clean. */
  public static Transition reclaimed(Cluster cluster, String allocationId) {
    Cluster.Draft draft = cluster.draft();
    boolean removed =
        draft.find(allocationId).filter(a -> !a.isOpen()).map(draft::remove).orElse(false);
    return removed
        ? new Transition(cluster, draft.build(), List.of(), null)
        : Transition.none(cluster);
  }

  /**
   * Ends the swap of a node that an operator pinned. The node stays and loses its nomination; its
   * replacement is reclaimed, ready or not.
   */
  static void endSwap(
      Cluster.Draft draft, Allocation pinned, long nowMillis, List<Activity> activity) {
    draft.put(pinned.withSwap(null, 0));
    activity.add(Activity.of(pinned, new ClusterEvent.SwapEnded(pinned.publicIp())));
    takeReplacement(
        draft, pinned, Allocation.Reason.OPERATOR, Activity.MARKET, nowMillis, activity);
  }

  /** Starts a reclaim. If a swap of the node is in flight, its replacement is reclaimed too. */
  static void take(
      Cluster.Draft draft,
      Allocation victim,
      Allocation.Reason reason,
      String actor,
      long nowMillis,
      List<Activity> activity) {
    draft.put(victim.startReclaim(reason, nowMillis));
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
        draft.put(other.startReclaim(reason, nowMillis));
        activity.add(Activity.released(actor, other, reason));
      }
    }
  }
}
