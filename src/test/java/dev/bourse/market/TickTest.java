package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.declared;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.auction.Supply;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Verdict;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The input that a tick builds from clusters and nodes, and its decisions for clusters. */
@Tag("fast")
class TickTest {
  /** After every protection of {@link Sample}. */
  private static final long NOW = T0 + 2 * Sample.PROTECTION;

  @Test
  void everyUsableNodeIsASeatAndAFreeNode() {
    Tick.Outcome outcome = tick(POOL, NOW, nodes(3), declared(8));

    assertEquals(3, outcome.supply().seats());
    assertEquals(List.of("n0", "n1", "n2"), free(outcome));
    assertEquals(1, decided(outcome).grants().size());
  }

  @Test
  void cordonedQuarantinedAndBackingOffNodesAreNeither() {
    List<Node> some = new ArrayList<>();
    some.add(new Node(machine(0), true, 0, 0, null));
    some.add(new Node(machine(1), false, 0, 0, 5L));
    some.add(new Node(machine(2), false, 1, NOW + 1, null));
    some.add(new Node(machine(3), false, 1, NOW, null));

    Tick.Outcome outcome = tick(POOL, NOW, some, declared(8));

    assertEquals(1, outcome.supply().seats());
    assertEquals(List.of("n3"), free(outcome));
  }

  @Test
  void aHeldNodeThatNobodyCouldBeGivenIsNoSeatAndStays() {
    Tick.Outcome outcome =
        tick(POOL, NOW, List.of(new Node(machine(0), true, 0, 0, 5L)), active(1));

    assertEquals(0, outcome.supply().seats());
    assertEquals(Map.of(), reclaims(outcome));
  }

  /** One node is active, and the machine of the other failed; the kinds differ in nothing. */
  @Test
  void aGangBelowItsMinimumGetsAReplacementOrLosesTheRestOnceTheirProtectionEnds() {
    Cluster vm = Sample.grantedToGang(gang("c1", "2.00", 2), 0, 1, T0);
    vm = MarketTransitions.provisioned(vm, "a0", Sample.PROTECTION, T0 + 60_000).next();
    Node failed = new Node(machine(1), false, 1, NOW + 60_000, null);
    long early = T0 + 120_000;
    Cluster rival = Sample.bidder("c2", "rival", "1.50", 8, 1, T0);
    Cluster larger = Sample.onK8s(Sample.grantedToGang(gang("c1", "2.00", 3), 0, 1, T0));
    for (Cluster gang : List.of(vm, Sample.onK8s(vm))) {
      List<Node> two = List.of(nodes(1).get(0), failed);
      Tick.Outcome replaced =
          tick(POOL, early, List.of(two.get(0), failed, nodes(3).get(2)), gang, rival);
      assertEquals("c1", replaced.clearing().grants().get(0).cluster());
      assertEquals(Map.of(), reclaims(replaced));
      assertEquals(Map.of(), reclaims(tick(POOL, early, two, gang, rival)));
      assertEquals(
          Map.of("a0", Allocation.Reason.OUTBID), reclaims(tick(POOL, NOW, two, gang, rival)));
    }
    Tick.Outcome passedOver = tick(POOL, early, nodes(2), larger, rival);
    assertEquals(
        List.of("c2"),
        passedOver.clearing().grants().stream().map(Clearing.Grant::cluster).toList());
  }

  @Test
  void onlyNodesOfVmClustersAreGrantedToBecomeActiveTogether() {
    Cluster vm = gang("c1", "2.00", 2);
    assertEquals(2, decided(tick(POOL, NOW, nodes(2), vm)).minimumSlots());
    assertEquals(1, decided(tick(POOL, NOW, nodes(2), Sample.onK8s(vm))).minimumSlots());
  }

  @Test
  void aMachineThatIsSilentForAnHourGoesToTheGangThatWouldFitWithIt() {
    Cluster holder = active(2);
    Cluster gang = gang("c2", "4.00", 2);
    long silentSince = NOW;
    List<Node> nodes = List.of(nodes(2).get(0).found(silentSince), nodes(2).get(1));
    long hour = Tick.SILENT_MILLIS;

    assertEquals(Map.of(), reclaims(tick(POOL, NOW + hour - 1, nodes, holder, gang)));
    Tick.Outcome outcome = tick(POOL, NOW + hour, nodes, holder, gang);
    assertEquals(Map.of("a0", Allocation.Reason.OUTBID), reclaims(outcome));
    assertEquals(1, decided(outcome).seats());

    Cluster nominates =
        Capacity.declare(
                holder,
                Sample.order(16, "2", holder.version(), List.of(ip(1))),
                TERMS,
                NOW + 10_000)
            .next();
    assertEquals(Set.of("a0"), reclaims(tick(POOL, NOW + hour, nodes, nominates, gang)).keySet());
  }

  @Test
  void aSilentMachineStaysWithAHolderWhomNoGangOutbidsForIt() {
    List<Node> nodes = List.of(nodes(2).get(0).found(NOW), nodes(2).get(1));
    long later = NOW + 2 * Tick.SILENT_MILLIS;

    assertEquals(Map.of(), reclaims(tick(POOL, later, nodes, active(2), gang("c2", "1.50", 2))));
    List<Node> cordoned = List.of(new Node(machine(0), true, 0, 0, null).found(NOW), nodes.get(1));
    assertEquals(Map.of(), reclaims(tick(POOL, later, cordoned, active(2), gang("c2", "4.00", 2))));
    assertEquals(Map.of(), reclaims(tick(POOL, later, nodes, active(2))));
  }

  /** The holder loses a node to a single bid, and so no second one to the gang. */
  @Test
  void aHolderLosesNoMoreNodesThanIfItsSilentMachineAnswered() {
    Cluster other = Sample.bidder("c4", "org-4", "2", 24, 1, T0);
    for (int i = 2; i < 5; i++) {
      other = granted(other, i, null, T0);
      other = MarketTransitions.provisioned(other, "a" + i, Sample.PROTECTION, T0 + 60_000).next();
    }
    List<Node> nodes = new ArrayList<>(nodes(6));
    for (int silent : List.of(0, 2, 3, 4)) {
      nodes.set(silent, nodes.get(silent).found(NOW));
    }
    Tick.Outcome outcome =
        tick(
            POOL,
            NOW + Tick.SILENT_MILLIS,
            nodes,
            active(2),
            Sample.bidder("c2", "org-2", "3", 16, 1, NOW),
            gang("c3", "4.00", 3),
            other);

    assertEquals(Set.of("a1", "a2", "a3", "a4"), reclaims(outcome).keySet());
  }

  /** Returns a cluster of another organization that wants all of this many nodes or none. */
  private static Cluster gang(String name, String price, int nodes) {
    return Sample.bidder(name, "other", price, 8 * nodes, nodes, NOW);
  }

  @Test
  void aNodeBeingReclaimedIsASeatButNotFree() {
    Cluster shrunk =
        Capacity.declare(active(2), order(8, "2", 1, List.of(ip(0))), TERMS, NOW).next();

    Tick.Outcome outcome = tick(POOL, NOW, nodes(2), shrunk);

    assertEquals(2, outcome.supply().seats());
    assertEquals(List.of(), free(outcome));
  }

  @Test
  void aNodeBeingCleanedForNobodyIsASeatButNotFree() {
    Tick.Outcome outcome =
        tick(POOL, NOW, new Tick.Nodes(nodes(2), Set.of("n0"), Map.of()), declared(8));

    assertEquals(2, outcome.supply().seats());
    assertEquals(List.of("n1"), free(outcome));
  }

  @Test
  void aMinimumIsNotGivenUpByAClockInDoubt() {
    Capacity.Declare two = Sample.order(16, "2.00", 0L, Sample.least(16));
    Cluster gang = Capacity.declare(Sample.empty(), two, TERMS, T0).next();
    gang = Sample.grantedToGang(Sample.grantedToGang(gang, 0, 2, T0), 1, 2, T0);
    long ahead = T0 + Duration.ofDays(1).toMillis();
    for (boolean isDoubted : List.of(true, false)) {
      Tick tick =
          new Tick(
              POOL,
              Sample.views(gang),
              FRESHNESS,
              new Patience(Duration.ofMinutes(10).toMillis(), isDoubted),
              SpendingAllowance.UNLIMITED,
              Notices.at(0, ahead),
              ahead);
      Tick.Outcome outcome = tick.decide(new Tick.Nodes(nodes(2), Set.of(), Map.of()));
      assertEquals(isDoubted ? 0 : 2, tick.preview(gang, outcome).lost().size());
    }
  }

  @Test
  void aReplacementOnItsWayTakesItsNodeOutOfTheAuction() {
    Cluster inTransit = granted(swapping(), 1, "a0", NOW);

    Tick.Outcome outcome = tick(POOL, NOW, nodes(3), inTransit);

    assertEquals(2, outcome.supply().seats());
    assertEquals(List.of("n2"), free(outcome));
    assertEquals(List.of(), outcome.clearing().grants());
  }

  @Test
  void aSwapWithoutReplacementIsGrantedOneAndALapsedOneIsNot() {
    Cluster swapping = swapping();

    assertEquals(
        List.of(new Clearing.Grant("c1", "n1", "a0")),
        tick(POOL, NOW, nodes(2), swapping).clearing().grants());
    Tick.Outcome late = tick(POOL, NOW + FRESHNESS, nodes(2), swapping);
    assertEquals(List.of(), late.clearing().grants());
    assertTrue(late.decided().containsKey("c1"), "the lapse is carried out");
  }

  @Test
  void aNodeIsGrantedToTheOrganizationThatSwappedItAwayOnlyWhenThereIsNoOther() {
    Map<String, String> swappedAway = Map.of("n0", "acme");
    Tick.Nodes two = new Tick.Nodes(nodes(2), Set.of(), swappedAway);
    Tick.Nodes one = new Tick.Nodes(nodes(1), Set.of(), swappedAway);

    assertEquals("n1", tick(POOL, NOW, two, declared(8)).clearing().grants().get(0).nodeId());
    assertEquals("n0", tick(POOL, NOW, one, declared(8)).clearing().grants().get(0).nodeId());
    assertEquals(
        1,
        tick(POOL, NOW, new Tick.Nodes(nodes(1), Set.of(), Map.of("n0", "other")), declared(8))
            .clearing()
            .grants()
            .size());
  }

  @Test
  void aNodeGrantedWithinAnHourOfOneGivenBackHasNoPriceLock() {
    Cluster gone =
        Capacity.declare(active(1), order(0, "2.00", active(1).version()), TERMS, NOW).next();
    Leavers leavers = new Leavers(Map.of());
    leavers.note(gone, Sample.at(gone, 0));
    for (boolean isBack : List.of(false, true)) {
      long now = isBack ? NOW + Leavers.MILLIS : NOW + 1;
      Tick.Nodes seen = new Tick.Nodes(nodes(1), Set.of(), Map.of(), leavers.at(now));
      assertEquals(
          isBack ? Long.valueOf(POOL.reserveCents()) : null,
          decided(tick(POOL, now, seen, declared(8))).lockCents());
    }
  }

  @Test
  void anEnforcedHoldTakesEverythingANoticeKeepsWhatIsHeldAndGraceIsNothing() {
    Cluster more = Capacity.declare(active(1), order(16, "2", 1), TERMS, NOW).next();

    Tick.Outcome enforced = tick(POOL, NOW, nodes(2), held(more, Hold.Stage.ENFORCE));
    Tick.Outcome notice = tick(POOL, NOW, nodes(2), held(more, Hold.Stage.NOTICE));
    Tick.Outcome grace = tick(POOL, NOW, nodes(2), held(more, Hold.Stage.GRACE));

    assertEquals(Map.of("a0", Allocation.Reason.HOLD), reclaims(enforced));
    assertEquals(Map.of(), reclaims(notice));
    assertEquals(List.of(), notice.clearing().grants());
    assertEquals(1, grace.clearing().grants().size());
  }

  @Test
  void anOperatorManagedClusterKeepsWhatItHoldsAndIsGrantedNothing() {
    Cluster more = Capacity.declare(active(1), order(16, "2", 1), TERMS, NOW).next();
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(more, NOW).next();

    Tick.Outcome outcome = tick(POOL, NOW, nodes(2), fixed);

    assertEquals(List.of(), outcome.clearing().grants());
    assertEquals(Map.of(), reclaims(outcome));
    assertFalse(decided(outcome).verdict().bidTooLow());
  }

  @Test
  void aClusterWithNothingToChangeIsNotTold() {
    Cluster settled = judged(active(1), new Verdict(false, false));

    assertEquals(Map.of(), tick(POOL, NOW, nodes(2), settled).decided());
  }

  @Test
  void anUnprotectedNodeGoesToAHigherBidAndItsClusterIsToldThatItBidsTooLow() {
    Cluster poor = judged(active(1), new Verdict(false, false));
    Cluster rich =
        Capacity.declare(
                Cluster.created("c2", "other", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
                order(8, "3", 0),
                TERMS,
                NOW)
            .next();

    Tick.Outcome outcome = tick(POOL, NOW, nodes(1), poor, rich);

    assertEquals(Map.of("a0", Allocation.Reason.OUTBID), reclaims(outcome));
    assertEquals(new Verdict(true, false), decided(outcome).verdict());
    Tick.Outcome early = tick(POOL, T0 + 90_000, nodes(1), poor, rich);
    assertEquals(Map.of(), reclaims(early));
  }

  /**
   * The market takes two nodes for a bid that waits for three, because one node is being cleaned.
   */
  @Test
  void evictionsAreCountedForTheBidThatWaitsForThem() {
    Cluster shrunk =
        Capacity.declare(active(3), order(16, "2", 1, List.of(ip(2))), TERMS, NOW).next();
    Cluster high = Sample.bidder("c2", "org-2", "4", 24, 1, NOW);
    Cluster low = Sample.bidder("c3", "org-3", "1.50", 8, 1, NOW);

    assertEquals(List.of("org-2", "org-2"), evictors(shrunk, high, low));
    Cluster own = Sample.bidder("c2", "acme", "4", 24, 1, NOW);
    assertEquals(List.of(), evictors(shrunk, own));
  }

  private static List<String> evictors(Cluster... clusters) {
    Tick tick = new Tick(POOL, Sample.views(clusters), FRESHNESS, NOW);
    Tick.Outcome outcome =
        tick.withEvictors(tick.decide(new Tick.Nodes(nodes(3), Set.of(), Map.of())));
    return outcome.decided().values().stream()
        .flatMap(part -> part.reclaims().stream())
        .flatMap(taken -> Stream.ofNullable(taken.evictor()))
        .toList();
  }

  @Test
  void aSlotThatNoPriceWouldFillIsToldThatCapacityIsUnavailable() {
    Tick.Outcome outcome = tick(POOL, NOW, nodes(0), declared(8));

    assertEquals(new Verdict(false, true), decided(outcome).verdict());
    assertNull(outcome.clearing().admissionCents());
  }

  @Test
  void threeUnwoundGrantsInARowMeanUnavailableWhileSlotsAreOpen() {
    Cluster failing = declared(8);
    for (int i = 0; i < 3; i++) {
      failing = granted(failing, i, null, NOW);
      failing = MarketTransitions.unwound(failing, "a" + i, "broken", NOW).next();
    }

    assertEquals(new Verdict(false, true), decided(tick(POOL, NOW, nodes(9), failing)).verdict());
  }

  /** Neither another cluster of the organization, nor a new declaration, evades the wait. */
  @Test
  void anOrganizationWhoseKubernetesClusterRefusedANodeGetsNoneForTenMinutes() {
    Cluster refusing = Sample.onK8s(granted(declared(16), 0, null, NOW));
    refusing = MarketTransitions.joinRefused(refusing, "a0", NOW).next();
    refusing = Capacity.declare(refusing, order(16, "3.00", 1), TERMS, NOW).next();
    Cluster sister = Sample.bidder("c2", "acme", "3.00", 8, 1, NOW);
    Cluster rival = Sample.bidder("c3", "globex", "2.00", 8, 1, NOW);

    Tick.Outcome soon = tick(POOL, NOW + 599_999, nodes(9), refusing, sister, rival);
    assertEquals(List.of("c3"), winners(soon));
    assertEquals(new Verdict(false, true), decided(soon).verdict());

    long later = NOW + 600_000;
    Tick.Outcome next = tick(POOL, later, nodes(9), refusing, sister, rival);
    assertEquals(List.of("c1", "c2", "c3"), winners(next));
    assertEquals(1, decided(next).grants().size(), "one node shows whether it joins");
  }

  @Test
  void aNodeThatJoinsEndsTheWaitAfterARefusedOne() {
    Cluster both = Sample.onK8s(granted(granted(declared(24), 0, null, NOW), 1, null, NOW));
    Cluster refused = MarketTransitions.joinRefused(both, "a0", NOW).next();
    assertEquals(List.of(), winners(tick(POOL, NOW + 1, nodes(9), refused)));

    Cluster joined = MarketTransitions.provisioned(refused, "a1", 0, NOW).next();
    assertEquals(List.of("c1"), winners(tick(POOL, NOW + 1, nodes(9), joined)));
  }

  @Test
  void afterTheWaitAKubernetesClusterTriesOneNodeOrItsMinimumAndAVmClusterIsFree() {
    Cluster refused = Sample.onK8s(granted(declared(24), 0, null, NOW));
    refused = MarketTransitions.joinRefused(refused, "a0", NOW).next();
    long later = NOW + 600_000;
    Cluster trying = granted(refused, 1, null, later);
    Cluster vm = Sample.bidder("c2", "acme", "2.00", 16, 1, NOW);
    Tick.Outcome outcome = tick(POOL, later, nodes(9), trying, vm);
    assertEquals(List.of("c2"), winners(outcome), "a1 has not joined yet");
    assertEquals(2, outcome.decided().values().stream().mapToInt(one -> one.grants().size()).sum());

    Cluster gang =
        Sample.onK8s(granted(Sample.bidder("c1", "acme", "2.00", 24, 2, NOW), 0, null, NOW));
    gang = MarketTransitions.joinRefused(gang, "a0", NOW).next();
    assertEquals(2, decided(tick(POOL, later, nodes(9), gang)).grants().size());
  }

  /** Another cluster's seats are not given up by its own change. */
  @Test
  void aWaitAfterARefusedNodeIsNoFaultOfAnotherCluster() {
    Cluster refusing = Sample.onK8s(granted(declared(16), 0, null, NOW));
    refusing = MarketTransitions.joinRefused(refusing, "a0", NOW).next();
    Cluster sister = Sample.bidder("c2", "acme", "3.00", 16, 1, NOW);
    sister = DirectChange.awaiting(sister, 2, NOW);
    Tick.Outcome outcome = tick(POOL, NOW + 1, nodes(9), refusing, sister);
    assertTrue(outcome.decided().values().stream().noneMatch(Tick.ClusterDecision::hasGivenUp));
  }

  /** A replacement does not need a seat, so the wait for seats alone would not stop it. */
  @Test
  void aRefusedReplacementIsNotGrantedAgainAtOnce() {
    Cluster replacing = Sample.onK8s(granted(swapping(), 1, "a0", NOW));
    Cluster refused = MarketTransitions.joinRefused(replacing, "a1", NOW).next();
    assertEquals(List.of(), winners(tick(POOL, NOW + 1, nodes(9), refused)));
  }

  private static List<String> winners(Tick.Outcome outcome) {
    return outcome.decided().entrySet().stream()
        .filter(cluster -> !cluster.getValue().grants().isEmpty())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  @Test
  void whereNoDetectorIsArmedThereIsNoVerdict() {
    Pool blind =
        POOL.with(
            p ->
                p.hardware(new Pool.Hardware("NVIDIA", null, 8))
                    .rules(new Pool.Rules(false, true, false, Pool.Tenants.LOGIN, null)));

    Tick.Outcome outcome = tick(blind, NOW, nodes(0), declared(8));

    assertEquals(Map.of(), outcome.decided());
  }

  private static Cluster swapping() {
    return Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, NOW).next();
  }

  private static Cluster held(Cluster cluster, Hold.Stage stage) {
    return DirectChange.hold(new Hold(stage, "unpaid", null)).apply(cluster, NOW).next();
  }

  private static Cluster judged(Cluster cluster, Verdict verdict) {
    return MarketTransitions.settle(
            cluster,
            Sample.orders(cluster, List.of(), List.of(), NoticeOrders.NONE, verdict, NOW),
            NOW)
        .next();
  }

  private static Tick.Outcome tick(Pool pool, long now, List<Node> nodes, Cluster... clusters) {
    return tick(pool, now, new Tick.Nodes(nodes, Set.of(), Map.of()), clusters);
  }

  private static Tick.Outcome tick(Pool pool, long now, Tick.Nodes nodes, Cluster... clusters) {
    return new Tick(pool, Sample.views(clusters), FRESHNESS, now).decide(nodes);
  }

  private static Tick.ClusterDecision decided(Tick.Outcome outcome) {
    Tick.ClusterDecision decided = outcome.decided().get("c1");
    if (decided == null) {
      throw new AssertionError("c1 is not told anything");
    }
    return decided;
  }

  private static List<String> free(Tick.Outcome outcome) {
    return outcome.supply().free().stream().map(Supply.FreeNode::nodeId).toList();
  }

  private static Map<String, Allocation.Reason> reclaims(Tick.Outcome outcome) {
    Map<String, Allocation.Reason> reclaims = new HashMap<>();
    outcome
        .decided()
        .values()
        .forEach(d -> d.reclaims().forEach(t -> reclaims.put(t.allocationId(), t.reason())));
    return reclaims;
  }

  private static List<Node> nodes(int count) {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(new Node(machine(i), false, 0, 0, null));
    }
    return nodes;
  }

  private static Machine machine(int i) {
    return new Machine("n" + i, ip(i), 22, null);
  }
}
