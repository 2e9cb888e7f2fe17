package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Sample;
import dev.bourse.core.Price;
import dev.bourse.nodes.Machine;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The nodes that declarations' budgets allow clusters to hold and to bid for. */
@Tag("fast")
class BudgetsTest {
  private static final int GPUS = POOL.gpusPerNode();
  private static final long TICK = 10_000;
  private static final long NOW = T0 + 120_000;

  /** A node at 2.00 for a tick: 8 x 2 dollars x 10 s of an hour, rounded up. */
  private static final long NODE_TICK = 44_445;

  /** A cluster with a budget that holds and wants a number of nodes at 2.00. */
  private static Cluster cluster(int held, int wanted, String usd) {
    Cluster standing = held == 0 ? Sample.empty() : Sample.active(held);
    return Capacity.declare(
            standing,
            Sample.order(
                wanted * GPUS,
                "2.00",
                standing.version(),
                new JsonObject().put("max_spend_usd", new BigDecimal(usd))),
            TERMS,
            NOW)
        .next();
  }

  private static Budgets spent(Cluster cluster, long micros) {
    return new Budgets(
        Map.of(
            cluster.name(),
            new Spent(Lapse.budget(cluster).orElseThrow(), micros, OptionalLong.empty())),
        TICK);
  }

  private static int affordable(Cluster cluster, long spentMicros) {
    return spent(cluster, spentMicros)
        .affordable(List.of(cluster), GPUS)
        .getOrDefault(cluster.name(), -1);
  }

  @Test
  void itIsUsedUpWhenItDoesNotPayForTheNextTick() {
    Cluster two = cluster(2, 2, "1.00");
    assertFalse(spent(two, 1_000_000 - 2 * NODE_TICK + 1).isUsedUp(two, GPUS, null));
    assertTrue(spent(two, 1_000_000 - 2 * NODE_TICK + 2).isUsedUp(two, GPUS, null));
    assertFalse(
        spent(two, 1_000_000 - NODE_TICK).isUsedUp(two, GPUS, 100L),
        "at what the pool cleared at last");
    assertTrue(
        spent(two, 1_000_000 - NODE_TICK).isUsedUp(two, GPUS, 900L), "at no more than the ceiling");
  }

  @Test
  void oneThatHoldsNothingMustPayForOneNode() {
    Cluster none = cluster(0, 4, "0.04");
    assertTrue(spent(none, 0).isUsedUp(none, GPUS, 100L));
    assertEquals(0, affordable(none, 0));
    Cluster some = cluster(0, 4, "0.05");
    assertFalse(spent(some, 0).isUsedUp(some, GPUS, 100L));
    assertEquals(1, affordable(some, 0));
    Cluster nothingWanted = cluster(0, 0, "0.01");
    assertFalse(spent(nothingWanted, 10_000).isUsedUp(nothingWanted, GPUS, 100L));
  }

  @Test
  void aGangThatHoldsNothingMustPayForItsMinimum() {
    Cluster gang =
        Capacity.declare(
                Sample.empty(),
                Sample.order(3 * GPUS, "2.00", 0L, Sample.least(2 * GPUS).put("max_spend_usd", 1)),
                TERMS,
                NOW)
            .next();
    assertFalse(spent(gang, 1_000_000 - 2 * NODE_TICK).isUsedUp(gang, GPUS, 100L));
    assertTrue(
        spent(gang, 1_000_000 - 2 * NODE_TICK + 2).isUsedUp(gang, GPUS, 100L),
        "else it would stand and win nothing for ever");
  }

  @Test
  void slotsAreBidForThatCanBePaidForUntilTheNextTick() {
    Cluster cluster = cluster(1, 5, "1.00");
    assertEquals(4, affordable(cluster, 0));
    assertEquals(2, affordable(cluster, 1_000_000 - 3 * NODE_TICK));
    assertEquals(0, affordable(cluster, 1_000_000 - NODE_TICK));
    assertEquals(0, affordable(cluster, 2_000_000));
  }

  @Test
  void aBudgetNobodyHasLookedAtYetBidsForNothingMore() {
    Cluster cluster = cluster(1, 5, "100");
    assertEquals(Map.of("c1", 0), new Budgets(Map.of(), TICK).affordable(List.of(cluster), GPUS));
    assertFalse(new Budgets(Map.of(), TICK).isUsedUp(cluster, GPUS, null));
    Cluster renewed = cluster(1, 5, "200");
    assertEquals(
        Map.of("c1", 0), spent(cluster, 0).affordable(List.of(renewed), GPUS), "another one");
    assertEquals(
        Map.of(), spent(cluster, 0).affordable(List.of(Sample.active(1)), GPUS), "and none at all");
  }

  @Test
  void theOrganizationsLimitHoldsBesideIt() {
    Cluster cluster = cluster(0, 5, "1000");
    SpendingAllowance both =
        new SpendingAllowance(Map.of("acme", 2 * 16_000_000L), 3_600_000).with(spent(cluster, 0));
    assertEquals(Map.of("c1", 2), both.affordable(List.of(cluster), GPUS));
    SpendingAllowance budget =
        new SpendingAllowance(Map.of("acme", Long.MAX_VALUE / 4), 3_600_000)
            .with(spent(cluster, 1_000_000_000L - 3 * NODE_TICK));
    assertEquals(Map.of("c1", 3), budget.affordable(List.of(cluster), GPUS));
  }

  @Test
  void aTickGrantsNoMoreThanTheBudgetPaysFor() {
    Cluster cluster = cluster(0, 3, "0.10");
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      nodes.add(new Node(new Machine("n" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    Tick tick =
        new Tick(
            POOL,
            Sample.views(cluster),
            FRESHNESS,
            SpendingAllowance.UNLIMITED.with(spent(cluster, 0)),
            NOW);
    Tick.Outcome outcome = tick.decide(new Tick.Nodes(nodes, Set.of(), Map.of()));
    assertEquals(2, outcome.clearing().grants().size());
  }

  @Test
  void spendPassesABudgetByNoMoreThanATickOfTheNodesHeld() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int lapsed = 0;
    for (int run = 0; run < 500; run++) {
      Cluster cluster = cluster(0, 1 + random.nextInt(5), "0." + (10 + random.nextInt(90)));
      long budget = Lapse.budget(cluster).orElseThrow().maxSpendCents() * 10_000;
      long spent = 0;
      long price = 100;
      int node = 0;
      long now = NOW;
      for (int tick = 0; tick < 200; tick++) {
        now += TICK;
        if (spent(cluster, spent).isUsedUp(cluster, GPUS, price)) {
          cluster =
              Lapse.spent(Lapse.budget(cluster).orElseThrow(), now).apply(cluster, now).next();
          assertEquals(0, cluster.releaseOrder().size());
          lapsed++;
          break;
        }
        int more = affordable(cluster, spent);
        for (int i = random.nextInt(more + 1); i > 0; i--) {
          cluster = Sample.granted(cluster, node, null, now);
          cluster = MarketTransitions.provisioned(cluster, "a" + node, PROTECTION, now).next();
          node++;
        }
        // The price of the tick is known only after its decision.
        price = 100L + random.nextInt(150);
        int held = cluster.releaseOrder().size();
        spent += Price.costMicros(held * TICK, GPUS, Math.min(price, 200));
        assertTrue(
            spent <= budget + held * NODE_TICK,
            "%s spent of %s with %s nodes, seed %s".formatted(spent, budget, held, seed));
      }
    }
    assertTrue(lapsed > 250, "lapsed " + lapsed);
  }
}
