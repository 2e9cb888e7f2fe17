package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.declared;
import static dev.bourse.capacity.Sample.ip;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A tick of a paused market grants and reclaims no node, and keeps the prices. */
@Tag("fast")
class PausedTickTest {
  /** After every protection of {@link Sample}. */
  private static final long NOW = T0 + 2 * Sample.PROTECTION;

  private static final Pool PAUSED = paused(POOL.reserveCents());

  @Test
  void freeNodesAreNotGrantedAndWhoWaitsIsToldThatNoPriceHelps() {
    Tick.Outcome outcome = tick(PAUSED, Optional.of(150L), 3, declared(16));
    assertEquals(List.of(), outcome.clearing().grants());
    assertEquals(3, outcome.supply().free().size());
    assertNull(outcome.clearing().admissionCents());
    assertEquals(new Verdict(false, true), decided(outcome).verdict());
    assertEquals(2, outcome.demand().nodes());
  }

  @Test
  void nobodyLosesANodeToAReservePriceThatWasRaised() {
    Tick.Outcome outcome = tick(paused(500), Optional.of(150L), 2, active(2));
    assertEquals(List.of(), reclaims(outcome));
    assertEquals(150L, outcome.clearing().clearingCents());
  }

  @Test
  void nobodyLosesANodeToAHoldUntilItGoesOn() {
    Cluster held =
        DirectChange.hold(new Hold(Hold.Stage.ENFORCE, "balance", NOW))
            .apply(active(1), NOW)
            .next();
    assertEquals(List.of(), reclaims(tick(PAUSED, Optional.of(150L), 1, held)));
    assertEquals(List.of("a0"), reclaims(tick(POOL, Optional.empty(), 1, held)));
  }

  @Test
  void aNoticeThatRunsIsWithdrawnThoughItsTimeIsOver() {
    Cluster noticed =
        MarketTransitions.settle(
                active(1),
                Sample.orders(
                    active(1),
                    List.of(),
                    List.of(),
                    new NoticeOrders(
                        Map.of("a0", new Allocation.Notice(Allocation.Reason.OUTBID, NOW - 1)),
                        List.of(),
                        List.of()),
                    active(1).verdict(),
                    NOW - 1_000),
                NOW - 1_000)
            .next();
    Tick.ClusterDecision decided = decided(tick(PAUSED, Optional.of(150L), 1, noticed));
    assertEquals(List.of("a0"), decided.notices().withdrawn());
    assertEquals(List.of("a0"), decided.notices().forgotten(), "the next one is whole");
    assertEquals(List.of(), decided.reclaims());
  }

  @Test
  void nobodysMinimumIsGivenUp() {
    Capacity.Declare two = Sample.order(16, "2.00", 0L, Sample.least(16));
    Cluster gang = Capacity.declare(Sample.empty(), two, TERMS, T0).next();
    gang = Sample.grantedToGang(Sample.grantedToGang(gang, 0, 2, T0), 1, 2, T0);
    assertEquals(List.of(), reclaims(tick(PAUSED, Optional.of(150L), 2, gang)));
    assertEquals(2, reclaims(tick(POOL, Optional.empty(), 2, gang)).size());
  }

  @Test
  void aSwapWaits() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, NOW).next();
    assertEquals(List.of(), tick(PAUSED, Optional.of(150L), 2, swapping).clearing().grants());
    assertEquals(1, tick(POOL, Optional.empty(), 2, swapping).clearing().grants().size());
  }

  @Test
  void whoHoldsANodePaysTheReservePriceWhereNoneWasEverStored() {
    assertEquals(
        POOL.reserveCents(),
        tick(PAUSED, Optional.empty(), 1, active(1)).clearing().clearingCents());
    assertNull(tick(PAUSED, Optional.empty(), 1, declared(8)).clearing().clearingCents());
  }

  @Test
  void aPreviewSaysSoAndWinsNothing() {
    Cluster wants = declared(16);
    Tick tick = new Tick(PAUSED, Sample.views(wants), FRESHNESS, NOW);
    var preview = tick.preview(wants, tick.decide(nodes(2), Optional.of(150L)));
    assertTrue(preview.paused());
    assertEquals(0, preview.nodesWon());
    assertEquals(2, preview.nodesUnfilled());
    assertEquals(150L, preview.clearingCents());
  }

  private static Pool paused(long reserveCents) {
    return POOL.with(
        p ->
            p.bounds(reserveCents, POOL.capCents())
                .pause(new Pool.Pause(T0, "operator:o", "a switch is replaced")));
  }

  private static Tick.Outcome tick(
      Pool pool, Optional<Long> standingCents, int nodes, Cluster cluster) {
    return new Tick(
            pool,
            Sample.views(cluster),
            FRESHNESS,
            new Patience(Duration.ofMinutes(10).toMillis(), false),
            SpendingAllowance.UNLIMITED,
            Notices.at(0, NOW),
            NOW)
        .decide(nodes(nodes), standingCents);
  }

  private static Tick.Nodes nodes(int count) {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(new Node(new Machine("n" + i, ip(i), 22, null), false, 0, 0, null));
    }
    return new Tick.Nodes(nodes, Set.of(), Map.of());
  }

  private static Tick.ClusterDecision decided(Tick.Outcome outcome) {
    return Optional.ofNullable(outcome.decided().get("c1")).orElseThrow();
  }

  private static List<String> reclaims(Tick.Outcome outcome) {
    return outcome.decided().values().stream()
        .flatMap(part -> part.reclaims().stream())
        .map(MarketTransitions.Orders.Taken::allocationId)
        .toList();
  }
}
