package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.bidder;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Standing;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.Times;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a cluster will lose while nothing else changes, and the prices that keep and win nodes. */
@Tag("fast")
class OutlookSearchTest {
  private static final long TICK = 10_000;
  private static final long NOTICE = 120_000;

  /** The first tick: all nodes are active by then, and protected. */
  private static final long NOW = T0 + 30 * TICK;

  /** No protection of a random world ends earlier, and nothing changes from the first tick on. */
  private static final long FIRST_END = NOW + PROTECTION - 21 * TICK;

  @Test
  void withoutRivalsNothingIsLost() {
    Outlook outlook = outlook(held("2.00", 2, i -> 0), 2);

    assertEquals(List.of(), outlook.losses());
    assertNull(outlook.safeUntilMillis());
    assertNull(outlook.keepCents());
    assertEquals(0, outlook.pendingNodes());
  }

  @Test
  void aNodeGoesToAHigherBidAfterItsProtectionAndNotice() {
    Outlook outlook = outlook(held("2.00", 2, i -> 2 * TICK * i), 2, rival("r", "5.00", 1));

    Outlook.ExpectedLoss lost = outlook.losses().get(0);
    assertEquals(1, outlook.losses().size());
    assertEquals(Outlook.Cause.MARKET, lost.by());
    long unprotected = NOW - 3 * TICK + PROTECTION;
    assertEquals(unprotected + NOTICE, lost.reclaimAtMillis());
    assertEquals(unprotected + NOTICE, outlook.safeUntilMillis());
    assertEquals("a1", lost.node().allocationId(), "the one that is protected least");
    assertEquals(500L, outlook.keepCents(), "the holder wins a tie");
  }

  @Test
  void theEndOfTheDeclarationTakesWhatTheMarketLeaves() {
    long until = NOW + PROTECTION + 10 * NOTICE;
    Cluster ending =
        Capacity.declare(
                held("2.00", 2, i -> 0),
                order(16, "2.00", 1L, new JsonObject().put("until", Times.rfc3339(until))),
                TERMS,
                NOW - TICK)
            .next();

    Outlook outlook = outlook(ending, 2, rival("r", "5.00", 1));

    assertEquals(
        List.of(Outlook.Cause.MARKET, Outlook.Cause.UNTIL),
        outlook.losses().stream().map(Outlook.ExpectedLoss::by).toList());
    assertEquals(until, outlook.losses().get(1).reclaimAtMillis());
  }

  @Test
  void aNoticeThatEndsAfterTheDeclarationNeedsNoHigherCeiling() {
    Cluster ending =
        Capacity.declare(
                held("2.00", 1, i -> PROTECTION),
                order(
                    8, "2.00", 1L, new JsonObject().put("until", Times.rfc3339(NOW + NOTICE / 2))),
                TERMS,
                NOW - TICK)
            .next();

    Outlook outlook = outlook(ending, 1, rival("r", "5.00", 1));

    assertEquals(
        List.of(Outlook.Cause.UNTIL),
        outlook.losses().stream().map(Outlook.ExpectedLoss::by).toList());
    assertNull(outlook.keepCents());
  }

  @Test
  void pendingNodesHaveThePriceThatWinsThemAtTheNextTick() {
    Cluster wants = bidder("c1", "acme", "2.00", 16, 1, T0);

    Outlook outlook = outlook(wants, 2, rival("r", "3.00", 2), rival("s", "4.00", 1));

    assertEquals(2, outlook.pendingNodes());
    assertEquals(401L, outlook.pendingCents(), "an older bid wins a tie");
    assertNull(outlook.keepCents());
  }

  @Test
  void noPriceIsShownThatWouldNotHelp() {
    Cluster wants = bidder("c1", "acme", "2.00", 24, 1, T0);

    Outlook outlook = outlook(wants, 2);

    assertEquals(1, outlook.pendingNodes());
    assertNull(outlook.pendingCents(), "the pool has two nodes");
  }

  @Test
  void aNodeUnderNoticeIsNotPending() {
    Cluster unprotected = held("2.00", 2, i -> PROTECTION);

    Outlook outlook = outlook(unprotected, 2, rival("r", "5.00", 1));

    assertEquals(NOW + NOTICE, outlook.losses().get(0).reclaimAtMillis());
    assertEquals(0, outlook.pendingNodes());
    assertNull(outlook.pendingCents());
  }

  @Test
  void aHoldThatIsEnforcedIsNoHigherBid() {
    Cluster held =
        DirectChange.hold(new Hold(Hold.Stage.ENFORCE, "balance", null))
            .apply(held("2.00", 2, i -> 0), NOW - TICK)
            .next();

    Outlook outlook = outlook(held, 2);

    assertEquals(
        List.of(Outlook.Cause.HOLD, Outlook.Cause.HOLD),
        outlook.losses().stream().map(Outlook.ExpectedLoss::by).toList());
    assertNull(outlook.keepCents());
  }

  @Test
  void afterTheEndOfTheDeclarationNothingIsPending() {
    Cluster over =
        Capacity.declare(
                held("2.00", 1, i -> 0),
                order(24, "2.00", 1L, new JsonObject().put("until", Times.rfc3339(NOW - 1))),
                TERMS,
                NOW - TICK)
            .next();

    Outlook outlook = outlook(over, 1, rival("r", "5.00", 1));

    assertEquals(Outlook.Cause.UNTIL, outlook.losses().get(0).by());
    assertEquals(0, outlook.pendingNodes());
  }

  /** Its rank ends between two ends of protection of the cluster, which has none left. */
  @Test
  void aRivalThatRanksLastTakesNodesOnceItsRankHasEnded() {
    long end = NOW + 25_000;
    Cluster gaveUp = DirectChange.gaveUp(rival("r", "9.00", 1), end - Standing.LAST_MILLIS);
    List<Cluster> others = List.of(gaveUp, rival("s", "1.00", 1));
    World world = new World(held("2.00", 1, i -> PROTECTION), 1, false, others);
    assertEquals(List.of(), world.outlook().losses());
    world.returns = List.of(end);

    assertEquals(NOW + 3 * TICK + NOTICE, world.outlook().losses().get(0).reclaimAtMillis());
  }

  @Test
  void noMoreTicksAreCarriedOutThanTheLimit() {
    int[] computed = {0};
    Cluster many = held("2.00", 100, i -> 2 * TICK * i);
    World world = new World(many, 100, false, List.of(rival("r", "5.00", 100)));
    Outlook outlook =
        new OutlookSearch(
                many,
                new OutlookSearch.TickTimes(NOW, TICK, List.of()),
                POOL.capCents(),
                (cluster, millis) -> {
                  computed[0]++;
                  return world.step(cluster, millis);
                })
            .find();

    assertEquals(100, outlook.losses().size());
    assertTrue(computed[0] < 250, computed[0] + " ticks");
  }

  @Test
  void aPausedMarketTakesNothing() {
    Cluster cluster = held("2.00", 1, i -> 0);
    World world = new World(cluster, 1, true, List.of(rival("r", "5.00", 1)));

    assertTrue(world.outlook().paused());
    assertEquals(List.of(), world.outlook().losses());
  }

  /**
   * The world of each round is played on to the end of all protection and notices: each node goes
   * when the outlook says so, and no other goes. The prices are the lowest of all.
   */
  @Test
  void playedOnNodesGoWhenTheOutlookSaysSoAndNoLowerPriceHelps() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int lost = 0;
    int kept = 0;
    int pending = 0;
    // A price that wins pending nodes exists in one round of ten.
    for (int round = 0; round < 160; round++) {
      int nodes = 1 + random.nextInt(4);
      Cluster cluster = held(price(random), nodes, i -> random.nextInt(20) * TICK);
      if (random.nextBoolean()) {
        cluster =
            Capacity.declare(
                    cluster,
                    order(8 * (nodes + random.nextInt(3)), price(random), 1),
                    TERMS,
                    NOW - TICK)
                .next();
      }
      List<Cluster> rivals = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        rivals.add(rival("r" + i, price(random), 1 + random.nextInt(3)));
      }
      World world = new World(cluster, nodes + random.nextInt(3), false, rivals);

      Outlook outlook = world.outlook();

      Map<String, Long> expected = new TreeMap<>();
      outlook.losses().forEach(l -> expected.put(l.node().allocationId(), l.reclaimAtMillis()));
      assertEquals(expected, world.playedOn(), "round " + round);
      if (!expected.isEmpty()) {
        world.assertLowest(
            outlook.keepCents(),
            cents -> world.ticks().stream().allMatch(t -> world.keeps(cents, t)));
      }
      if (outlook.pendingNodes() > 0) {
        world.assertLowest(
            outlook.pendingCents(), cents -> world.preview(cents, NOW).nodesUnfilled() == 0);
      }
      lost += expected.size();
      kept += outlook.keepCents() == null ? 0 : 1;
      pending += outlook.pendingCents() == null ? 0 : 1;
    }
    assertTrue(lost > 10 && kept > 3 && pending > 1, lost + " " + kept + " " + pending);
  }

  private static String price(Random random) {
    return (1 + random.nextInt(8)) + ".00";
  }

  private static Outlook outlook(Cluster cluster, int nodes, Cluster... rivals) {
    return new World(cluster, nodes, false, List.of(rivals)).outlook();
  }

  private static Cluster rival(String name, String price, int nodes) {
    return bidder(name, "org-" + name, price, 8 * nodes, 1, NOW - TICK);
  }

  /** When a node became active, before the last moment at which all are. */
  private interface Earlier {
    long millis(int node);
  }

  private static Cluster held(String price, int nodes, Earlier earlier) {
    Cluster cluster = bidder("c1", "acme", price, 8 * nodes, 1, T0);
    for (int i = 0; i < nodes; i++) {
      cluster = granted(cluster, i, null, T0);
    }
    for (int i = 0; i < nodes; i++) {
      long activeAt = NOW - TICK - earlier.millis(i);
      cluster = MarketTransitions.provisioned(cluster, "a" + i, PROTECTION, activeAt).next();
    }
    return cluster;
  }

  /** A pool in which nobody acts. */
  private static final class World {
    private final Cluster cluster;
    private final List<Cluster> others;
    private final Tick.Nodes nodes;
    private final boolean paused;
    private List<Long> returns = List.of();

    World(Cluster cluster, int nodes, boolean paused, List<Cluster> others) {
      this.cluster = cluster;
      this.others = others;
      this.paused = paused;
      List<Node> all = new ArrayList<>();
      for (int i = 0; i < nodes; i++) {
        all.add(new Node(new Machine("n" + i, ip(i), 22, null), false, 0, 0, null));
      }
      this.nodes = new Tick.Nodes(all, Set.of(), Map.of());
    }

    Outlook outlook() {
      return new OutlookSearch(
              cluster, new OutlookSearch.TickTimes(NOW, TICK, returns), POOL.capCents(), this::step)
          .find();
    }

    private OutlookSearch.Step step(Cluster changed, long millis) {
      Tick tick = tick(changed, millis);
      return tick.step(changed, tick.decide(nodes));
    }

    TickPreview preview(long cents, long millis) {
      return step(cluster.withCeiling(cents, NOW), millis).preview();
    }

    private Tick tick(Cluster changed, long millis) {
      List<Cluster> all = new ArrayList<>(others);
      all.add(changed);
      return new Tick(
          paused
              ? POOL.with(p -> p.pause(new Pool.Pause(T0, "operator:o", "a switch is replaced")))
              : POOL,
          Sample.views(all.toArray(new Cluster[0])),
          FRESHNESS,
          Patience.of(MarketConfig.GANG_PATIENCE.toMillis()),
          SpendingAllowance.UNLIMITED,
          Notices.at(NOTICE, millis),
          millis);
    }

    /** The first tick, and some of those at which protection ends. */
    List<Long> ticks() {
      List<Long> all = new ArrayList<>();
      all.add(NOW);
      for (long tick = FIRST_END; tick <= NOW + PROTECTION; tick += 3 * TICK) {
        all.add(tick);
      }
      return all;
    }

    boolean keeps(long cents, long tick) {
      TickPreview then = preview(cents, tick);
      return then.lost().isEmpty() && then.noticed().isEmpty();
    }

    /** Tries whole dollars and a cent more, those beside the one found, and the highest. */
    void assertLowest(@Nullable Long found, LongPredicate holds) {
      Set<Long> tried = new TreeSet<>(Set.of(POOL.capCents()));
      for (long cents = cluster.ceilingCents() + 101; cents < POOL.capCents(); cents += 100) {
        tried.addAll(List.of(cents - 1, cents));
      }
      if (found != null) {
        tried.addAll(List.of(found, Math.max(found - 1, cluster.ceilingCents() + 1)));
      }
      for (long cents : tried) {
        assertEquals(found != null && cents >= found, holds.test(cents), "at " + cents);
      }
    }

    /** Carries out ticks, but no grants; returns when each node was reclaimed. */
    Map<String, Long> playedOn() {
      Map<String, Long> reclaimed = new HashMap<>();
      Cluster now = cluster;
      for (long tick = NOW; tick <= NOW + PROTECTION + 2 * NOTICE; tick += TICK) {
        if (tick > NOW && tick < FIRST_END) {
          continue;
        }
        Tick.ClusterDecision decided = tick(now, tick).decide(nodes).decided().get(cluster.name());
        if (decided == null) {
          continue;
        }
        now =
            MarketTransitions.settle(
                    now, decided.orders(List.of(), POOL.gpusPerNode(), FRESHNESS), tick)
                .next();
        for (Allocation held : cluster.releaseOrder()) {
          if (now.find(held.allocationId()).filter(Allocation::isOpen).isEmpty()) {
            reclaimed.putIfAbsent(held.allocationId(), tick);
          }
        }
      }
      return new TreeMap<>(reclaimed);
    }
  }
}
