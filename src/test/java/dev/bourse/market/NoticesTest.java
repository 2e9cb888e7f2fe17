package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static dev.bourse.capacity.Sample.provisioning;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.TickPreview;
import dev.bourse.capacity.Transition;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The decisions about nodes that lose their seats, tick by tick. */
@Tag("fast")
class NoticesTest {
  /** After every protection of {@link Sample}. */
  private static final long NOW = T0 + 2 * Sample.PROTECTION;

  private static final long NOTICE = 120_000;
  private static final long TICK = 10_000;

  private final List<Activity> activity = new ArrayList<>();

  @Test
  void whoLosesASeatIsGivenNoticeAndKeepsTheNodeUntilItIsOver() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    assertEquals(new Allocation.Notice(Allocation.Reason.OUTBID, NOW + NOTICE), notice(told, 0));
    assertEquals(Allocation.State.ACTIVE, at(told, 0).state());
    assertEquals(
        new ClusterEvent.NoticeGiven(ip(0), Allocation.Reason.OUTBID, NOW + NOTICE),
        activity.get(0).event());
    Cluster waiting = tick(NOW + NOTICE - 1, told, rival(1, "3"));
    assertEquals(told, waiting, "nothing changes meanwhile");
    Cluster gone = tick(NOW + NOTICE, waiting, rival(1, "3"));
    assertEquals(
        new Allocation.Reclaim(Allocation.Reason.OUTBID, NOW + NOTICE), at(gone, 0).reclaim());
    assertNull(at(gone, 0).notice());
  }

  @Test
  void itsSlotIsNotOpenUntilTheNodeIsGone() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    assertFalse(told.verdict().bidTooLow());
    assertTrue(tick(NOW + NOTICE, told, rival(1, "3")).verdict().bidTooLow());
  }

  @Test
  void aCeilingRaisedInTimeKeepsTheNode() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));
    Cluster raised =
        Capacity.declare(told, order(8, "4.00", told.version()), TERMS, NOW + TICK).next();
    activity.clear();

    Cluster kept = tick(NOW + NOTICE, raised, rival(1, "3"));

    assertNull(at(kept, 0).notice());
    assertEquals(Allocation.State.ACTIVE, at(kept, 0).state());
    assertEquals(List.of(new ClusterEvent.NoticeWithdrawn(ip(0))), events());
  }

  @Test
  void aRivalThatGivesUpOrAnotherNodeLeavesItTheSeat() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    assertNull(at(tick(NOW + TICK, told), 0).notice());
    assertNull(at(tick(NOW + TICK, told, 2, rival(1, "3")), 0).notice());
  }

  @Test
  void theRivalWaitsForTheNodeAsForASlowWipe() {
    Tick.Outcome first = outcome(NOW, NOTICE, active(1), 1, rival(1, "3"));

    assertEquals(List.of(), first.clearing().grants());
    Tick.ClusterDecision waiting = first.decided().get("r");
    assertTrue(waiting == null || !waiting.verdict().bidTooLow());
    Cluster gone = tick(NOW + NOTICE, tick(NOW, active(1), rival(1, "3")), rival(1, "3"));
    Cluster clean = MarketTransitions.reclaimed(gone, "a0").next();
    assertEquals(
        "r",
        outcome(NOW + NOTICE + TICK, NOTICE, clean, 1, rival(1, "3"))
            .clearing()
            .grants()
            .get(0)
            .cluster());
  }

  @Test
  void aReserveAboveTheCeilingIsGivenNoticeOfAndPaidForMeanwhile() {
    Pool dear = reserve(300);
    Cluster cheap = active(1);

    Tick.Outcome outcome = outcome(dear, NOW, NOTICE, cheap, 1);
    Tick.Outcome over = outcome(dear, NOW + NOTICE, NOTICE, settled(cheap, outcome, NOW), 1);

    assertEquals(300, outcome.clearing().clearingCents());
    assertEquals(300, over.clearing().clearingCents());
    assertEquals(300, outcome(dear, NOW, 0, cheap, 1).clearing().clearingCents());
  }

  @Test
  void aNoticeOfNoneTakesTheNodeAtOnceButNotOneThatWasPromisedMore() {
    Cluster lost = settled(active(1), outcome(NOW, 0, active(1), 1, rival(1, "3")), NOW);
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));

    Cluster told = tick(NOW, active(1), rival(1, "3"));
    long before = NOW + NOTICE - 1;
    assertEquals(told, settled(told, outcome(before, 0, told, 1, rival(1, "3")), before));
    long after = NOW + NOTICE;
    assertEquals(
        Allocation.Reason.OUTBID,
        reason(settled(told, outcome(after, 0, told, 1, rival(1, "3")), after), 0));
  }

  @Test
  void aNodeThatIsPreparedUnderALoweredCeilingIsGivenItsNoticeOnceItIsActive() {
    Cluster declared = Capacity.declare(provisioning(1), order(8, "1.50", 1), TERMS, NOW).next();
    Cluster lowered = tick(NOW - TICK, declared);

    Cluster waiting = tick(NOW, lowered, rival(1, "3"));
    assertEquals(Allocation.State.PROVISIONING, at(waiting, 0).state());
    assertNull(at(waiting, 0).notice());
    Cluster ready =
        MarketTransitions.provisioned(waiting, "a0", Sample.PROTECTION, NOW + TICK).next();
    Cluster told = tick(NOW + TICK, ready, rival(1, "3"));
    assertEquals(NOW + TICK + NOTICE, endsAt(told, 0));
  }

  @Test
  void aNoticeStaysWithItsNodeWhoeverIsNominatedMeanwhile() {
    Cluster told = tick(NOW, active(2), 2, rival(1, "3"));
    assertNotNull(at(told, 1).notice(), "the newest grant goes first");
    Cluster nominated =
        Capacity.declare(told, order(16, "2.00", told.version(), List.of(ip(0))), TERMS, NOW + TICK)
            .next();

    Cluster later = tick(NOW + 2 * TICK, nominated, 2, rival(1, "3"));

    assertEquals(NOW + NOTICE, endsAt(later, 1));
    assertNull(at(later, 0).notice());
  }

  @Test
  void whenFewerHaveToGoTheOldestNoticeStands() {
    Cluster one = tick(NOW, active(2), 2, rival(1, "3"));
    Cluster both = tick(NOW + TICK, one, 2, rival(2, "3"));
    assertEquals(NOW + TICK + NOTICE, endsAt(both, 0));

    Cluster again = tick(NOW + 2 * TICK, both, 2, rival(1, "3"));

    assertEquals(NOW + NOTICE, endsAt(again, 1));
    assertNull(at(again, 0).notice());
  }

  @Test
  void noOtherReclaimWaitsForANotice() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    Cluster shrunk =
        Capacity.declare(told, order(0, "2.00", told.version()), TERMS, NOW + TICK).next();
    assertEquals(Allocation.Reason.SCALE_DOWN, reason(shrunk, 0));
    assertNull(at(shrunk, 0).notice());
    Cluster held =
        DirectChange.hold(new Hold(Hold.Stage.ENFORCE, "unpaid", null))
            .apply(told, NOW + TICK)
            .next();
    assertEquals(Allocation.Reason.HOLD, reason(tick(NOW + TICK, held, rival(1, "3")), 0));
    Cluster retired = OperatorCommands.retire().apply(told, NOW + TICK).next();
    assertEquals(Allocation.Reason.OPERATOR, reason(retired, 0));
  }

  @Test
  void aPinOrAnOperatorsPostureWithdrawsIt() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    Cluster pinned = OperatorCommands.pin(ip(0), true).apply(told, NOW + TICK).next();
    assertNull(at(tick(NOW + TICK, pinned, rival(1, "3")), 0).notice());
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(told, NOW + TICK).next();
    assertNull(at(tick(NOW + TICK, fixed, rival(1, "3")), 0).notice());
  }

  @Test
  void whatReplacesANodeUnderNoticeIsUnderTheSameNotice() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, NOW).next();
    Cluster inTransit = granted(swapping, 1, "a0", NOW);
    Cluster told = tick(NOW + TICK, inTransit, 2, rival(1, "3"));
    assertNotNull(at(told, 0).notice());

    Transition landed =
        MarketTransitions.provisioned(told, "a1", Sample.PROTECTION, NOW + 2 * TICK);

    assertEquals(at(told, 0).notice(), at(landed.next(), 1).notice());
    assertEquals(Allocation.Reason.SWAP, reason(landed.next(), 0));
    assertEquals(
        List.of("released", "notice"),
        landed.activity().stream().map(a -> String.valueOf(a.event().kind())).toList());
  }

  @Test
  void aPreviewTellsWhoWouldBeGivenNoticeApartFromWhoWouldBeLost() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));

    TickPreview first = preview(NOW, active(1));
    TickPreview meanwhile = preview(NOW + TICK, told);
    TickPreview last = preview(NOW + NOTICE, told);

    assertEquals(Map.of("a0", OptionalLong.of(NOW + NOTICE)), first.noticed());
    assertEquals(Set.of(), first.lost());
    assertEquals(first.noticed(), meanwhile.noticed(), "the notice that runs");
    assertEquals(Map.of(), last.noticed());
    assertEquals(Set.of("a0"), last.lost());
    assertEquals(0, first.nodesWon());
    assertEquals(1, first.nodesUnfilled());
  }

  @Test
  void whoLosesTheSeatToALowerCeilingOfItsOwnIsGivenNone() {
    Cluster lowered = Capacity.declare(active(1), order(8, "1.50", 1), TERMS, NOW - 1).next();

    Cluster lost = tick(NOW, lowered, rival(1, "3"));
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));
  }

  @Test
  void whoLowersTheCeilingUnderANoticeLosesTheNodeAtTheNextTick() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));
    Cluster lowered = Capacity.declare(told, order(8, "1.99", 1), TERMS, NOW + 1).next();

    Cluster lost = tick(NOW + TICK, lowered, rival(1, "3"));
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));
  }

  @Test
  void aSeatWonBackAtAHigherCeilingIsLostWithIt() {
    Cluster told = tick(NOW, active(1), rival(1, "3"));
    Cluster raised = Capacity.declare(told, order(8, "3", 1), TERMS, NOW + 1).next();
    Cluster seated = tick(NOW + TICK, raised, rival(1, "3"));
    assertNull(at(seated, 0).notice());

    Cluster lowered = Capacity.declare(seated, order(8, "2", 2), TERMS, NOW + TICK + 5_000).next();
    Cluster lost = tick(NOW + 2 * TICK, lowered, rival(1, "3"));
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));
  }

  @Test
  void aNoticeIsGivenWhateverTheClusterWroteSinceTheTickRead() {
    Cluster standing = active(1);
    Tick.Outcome outcome = outcome(NOW, NOTICE, standing, 1, rival(1, "3"));
    Cluster raised = Capacity.declare(standing, order(8, "4.00", 1), TERMS, NOW).next();

    Cluster told = settle(raised, decided(outcome), NOW).next();
    assertNotNull(at(told, 0).notice());
    assertNull(at(tick(NOW + TICK, told, rival(1, "3")), 0).notice());
  }

  @Test
  void aSecondNoticeEndsWhenTheWithdrawnOneWouldHave() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(1), rival(1, "3")));
    assertNull(at(seated, 0).notice());

    assertEquals(NOW + NOTICE, endsAt(tick(NOW + 2 * TICK, seated, rival(1, "3")), 0));
    Cluster lost = tick(NOW + NOTICE, seated, rival(1, "3"));
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));
  }

  @Test
  void aNoticeThatWasWithdrawnCountsForAnHourAfterItsEnd() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(1), rival(1, "3")));
    long forgotten = NOW + NOTICE + 3_600_000;

    assertEquals(Allocation.Reason.OUTBID, reason(tick(forgotten - 1, seated, rival(1, "3")), 0));
    assertEquals(forgotten + NOTICE, endsAt(tick(forgotten, seated, rival(1, "3")), 0));
  }

  /** A holder that paid more to keep a node gets a whole notice of a later rival. */
  @Test
  void aWithdrawnNoticeDoesNotCountAgainstANewerBid() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(1), rival(1, "3")));
    Cluster newcomer =
        Cluster.created("new", "newcomer", "h100", Cluster.Kind.VM, seated.posture());
    newcomer = Capacity.declare(newcomer, order(8, "5", 0), TERMS, NOW + 2 * TICK).next();

    long late = NOW + 2 * NOTICE;
    assertEquals(late + NOTICE, endsAt(tick(late, seated, newcomer), 0));
    // The older bid has lost its seat to the newer one too, so it does not wait.
    assertEquals(late + NOTICE, endsAt(tick(late, seated, newcomer, rival(1, "3")), 0));
  }

  @Test
  void aSecondNoticeIsNoLongerThanThePoolGives() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(1), rival(1, "3")));
    long again = NOW + 2 * TICK;

    Cluster told = settled(seated, outcome(again, 30_000, seated, 1, rival(1, "3")), again);
    assertEquals(again + 30_000, endsAt(told, 0));
    Cluster lost = settled(seated, outcome(again, 0, seated, 1, rival(1, "3")), again);
    assertEquals(Allocation.Reason.OUTBID, reason(lost, 0));
  }

  @Test
  void anotherNodeOfTheOrganizationTakesAWithdrawnNoticeOver() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(2), 2, rival(1, "3")), 2);
    Cluster nominated =
        Capacity.declare(seated, order(16, "2.00", 1, List.of(ip(0))), TERMS, NOW + TICK).next();

    Cluster again = tick(NOW + 2 * TICK, nominated, 2, rival(1, "3"));
    assertEquals(NOW + NOTICE, endsAt(again, 0));
    Cluster both = tick(NOW + 3 * TICK, again, 2, rival(2, "3"));
    assertEquals(NOW + 3 * TICK + NOTICE, endsAt(both, 1), "one node alone takes it over");
  }

  @Test
  void aReplacementTakesAWithdrawnNoticeOver() {
    Cluster seated = tick(NOW + TICK, tick(NOW, active(1), rival(1, "3")));
    Cluster swapping = Capacity.swap(seated, Sample.ACTOR, ip(0), TERMS, NOW + TICK).next();
    Cluster inTransit = granted(swapping, 1, "a0", NOW + TICK);
    Cluster landed =
        MarketTransitions.provisioned(inTransit, "a1", Sample.PROTECTION, NOW + 2 * TICK).next();

    Cluster again = tick(NOW + 3 * TICK, landed, 2, rival(2, "3"));
    assertEquals(NOW + NOTICE, endsAt(again, 1));
  }

  @Test
  void organizationsThatOutbidEachOtherInTurnGetANoticeEach() {
    Cluster red = active(1);
    Cluster blue = Cluster.created("c2", "blue", "h100", Cluster.Kind.VM, red.posture());
    blue = Capacity.declare(blue, order(8, "2.00", 0), TERMS, T0).next();
    blue = granted(blue, 1, null, T0 + 1_000);
    blue = MarketTransitions.provisioned(blue, "a1", Sample.PROTECTION, T0 + 60_000).next();
    long now = NOW;
    while (at(red, 0).isOpen() && at(blue, 1).isOpen() && now < NOW + 20 * NOTICE) {
      Tick.Outcome outcome = outcome(now, NOTICE, red, 2, blue, rival(1, "9"));
      Cluster before = red;
      red = raised(settled(red, outcome, now), blue, now);
      blue = raised(settled(blue, outcome, now), before, now);
      now += TICK;
    }
    assertEquals(NOW + 2 * NOTICE + TICK, now);
  }

  /** One cent more than the other's ceiling, before the tick that ends the notice. */
  private static Cluster raised(Cluster cluster, Cluster other, long now) {
    boolean isEnding =
        cluster.allocations().stream()
            .map(Allocation::notice)
            .anyMatch(notice -> notice != null && notice.endsAtMillis() <= now + TICK);
    String price = BigDecimal.valueOf(other.ceilingCents() + 1, 2).toString();
    return isEnding
        ? Capacity.declare(cluster, order(8, price, cluster.version()), TERMS, now + 1).next()
        : cluster;
  }

  /** A higher bid comes for one tick before the notice ends, and again every ten minutes. */
  @Test
  void aBidThatComesAndGoesDoesNotKeepAGangOut() {
    long notice = 600_000;
    Capacity.Declare both = Sample.order(16, "9", 0L, Sample.least(16));
    Cluster gang = Cluster.created("g", "gang", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);
    gang = Capacity.declare(gang, both, TERMS, NOW).next();
    Cluster held = active(2);
    long now = NOW - TICK;
    do {
      now += TICK;
      boolean isBack = (now - NOW) % notice == notice - TICK;
      held =
          settled(
              held,
              isBack
                  ? outcome(now, notice, held, 2, gang, rival(1, "9.50"))
                  : outcome(now, notice, held, 2, gang),
              now);
    } while (held.filledSlots() > 0 && now < NOW + 5 * notice);
    assertEquals(NOW + notice, now);
    held = MarketTransitions.reclaimed(MarketTransitions.reclaimed(held, "a0").next(), "a1").next();
    Tick.Outcome clean = outcome(now + TICK, notice, held, 2, gang);
    assertEquals(
        2, clean.clearing().grants().stream().filter(g -> g.cluster().equals("g")).count());
  }

  private TickPreview preview(long now, Cluster cluster) {
    Tick tick = made(POOL, now, NOTICE, cluster, rival(1, "3"));
    return tick.preview(cluster, tick.decide(nodes(1)));
  }

  /** Returns a rival that declares a number of nodes at this price. */
  private static Cluster rival(int nodes, String price) {
    return Capacity.declare(
            Cluster.created("r", "other", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
            order(nodes * 8, price, 0),
            TERMS,
            NOW)
        .next();
  }

  private Cluster tick(long now, Cluster cluster, Cluster... others) {
    return tick(now, cluster, 1, others);
  }

  /** The cluster after a tick of a pool of so many nodes. */
  private Cluster tick(long now, Cluster cluster, int nodes, Cluster... others) {
    return settled(cluster, outcome(now, NOTICE, cluster, nodes, others), now);
  }

  private Cluster settled(Cluster cluster, Tick.Outcome outcome, long now) {
    Tick.ClusterDecision decided = outcome.decided().get(cluster.name());
    if (decided == null) {
      return cluster;
    }
    Transition settled = settle(cluster, decided, now);
    activity.addAll(settled.activity());
    return settled.next();
  }

  private static Transition settle(Cluster cluster, Tick.ClusterDecision decided, long now) {
    return MarketTransitions.settle(
        cluster, decided.orders(List.of(), POOL.gpusPerNode(), FRESHNESS), now);
  }

  private static Tick.ClusterDecision decided(Tick.Outcome outcome) {
    return Objects.requireNonNull(outcome.decided().get("c1"));
  }

  private static Tick.Outcome outcome(
      long now, long notice, Cluster cluster, int nodes, Cluster... others) {
    return made(POOL, now, notice, cluster, others).decide(nodes(nodes));
  }

  private static Tick.Outcome outcome(
      Pool pool, long now, long notice, Cluster cluster, int nodes) {
    return made(pool, now, notice, cluster).decide(nodes(nodes));
  }

  private static Tick made(Pool pool, long now, long notice, Cluster cluster, Cluster... others) {
    List<Cluster> all = new ArrayList<>(List.of(others));
    all.add(cluster);
    return new Tick(
        pool,
        Sample.views(all.toArray(new Cluster[0])),
        FRESHNESS,
        Patience.of(MarketConfig.GANG_PATIENCE.toMillis()),
        SpendingAllowance.UNLIMITED,
        Notices.at(notice, now),
        now);
  }

  private static Tick.Nodes nodes(int count) {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(new Node(new Machine("n" + i, ip(i), 22, null), false, 0, 0, null));
    }
    return new Tick.Nodes(nodes, Set.of(), Map.of());
  }

  private static Pool reserve(long cents) {
    return POOL.with(p -> p.bounds(cents, POOL.capCents()));
  }

  private List<ClusterEvent> events() {
    return activity.stream().map(Activity::event).toList();
  }

  private static Allocation.@Nullable Notice notice(Cluster cluster, int i) {
    return at(cluster, i).notice();
  }

  private static long endsAt(Cluster cluster, int i) {
    return Objects.requireNonNull(notice(cluster, i)).endsAtMillis();
  }

  private static Allocation.Reason reason(Cluster cluster, int i) {
    return Objects.requireNonNull(at(cluster, i).reclaim()).reason();
  }
}
