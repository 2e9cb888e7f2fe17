package dev.bourse.pools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class DemandTest {
  private static final long RESERVE = 100;

  private static Demand of(long... centsAndNodes) {
    List<Demand.Bid> bids = new ArrayList<>();
    for (int i = 0; i < centsAndNodes.length; i += 2) {
      bids.add(new Demand.Bid(centsAndNodes[i], (int) centsAndNodes[i + 1]));
    }
    return Demand.of(bids, RESERVE);
  }

  /** The grid goes 100, 105, …, 292, 307, …, 478, 502. */
  @Test
  void aBidCountsAtEveryGridPriceUpToItsCeiling() {
    Demand demand = of(300, 2, 500, 1, 306, 4, 100, 1);
    assertEquals(
        List.of(new Demand.Level(478, 1), new Demand.Level(292, 7), new Demand.Level(100, 8)),
        demand.levels());
    assertEquals(8, demand.nodes());
    assertEquals(
        of(292, 6, 478, 1, 104, 1), demand, "a level does not show where in its step a bid is");
  }

  @Test
  void withoutBidsThereIsNoDemand() {
    assertEquals(Demand.NONE, of(300, 0));
    assertEquals(0, Demand.NONE.nodes());
  }

  @Test
  void hugeBidsAddUp() {
    assertEquals(
        2L * Integer.MAX_VALUE, of(101, Integer.MAX_VALUE, 200, Integer.MAX_VALUE).nodes());
  }

  @Test
  void allBidsInTheStepOfAPriceCountAtIt() {
    Demand demand = of(300, 2, 500, 1);
    assertEquals(3, demand.atOrAbove(292));
    assertEquals(3, demand.atOrAbove(306));
    assertEquals(1, demand.atOrAbove(307));
    assertEquals(1, demand.atOrAbove(501));
    assertEquals(0, demand.atOrAbove(502));
  }

  @Test
  void noBidAtAPriceOrAboveItIsEverLeftOut() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 1_000; round++) {
      List<Demand.Bid> bids = new ArrayList<>();
      for (int i = random.nextInt(20); i > 0; i--) {
        bids.add(new Demand.Bid(RESERVE + random.nextInt(900), random.nextInt(5)));
      }
      Demand demand = Demand.of(bids, RESERVE);
      long cents = RESERVE + random.nextInt(1_000);
      long exact = nodes(bids, cents);
      long inStep = nodes(bids, PriceGrid.floor(RESERVE, cents));
      assertTrue(demand.atOrAbove(cents) >= exact, "seed " + seed);
      assertEquals(inStep, demand.atOrAbove(cents), "seed " + seed);
    }
  }

  private static long nodes(List<Demand.Bid> bids, long fromCents) {
    return bids.stream().filter(bid -> bid.cents() >= fromCents).mapToLong(Demand.Bid::nodes).sum();
  }

  @Test
  void aRivalIsTheHighestOfTheOthers() {
    Rivalry rivalry =
        Rivalry.NONE.with("a", 300).with("b", 500).with("a", 400).with("b", 450).with("c", 100);
    assertEquals(500, rivalry.rivalCents("a"));
    assertEquals(400, rivalry.rivalCents("b"));
    assertEquals(500, rivalry.rivalCents("c"));
    assertEquals(0, Rivalry.NONE.with("a", 300).rivalCents("a"));
    assertEquals(
        0, Rivalry.NONE.with("a", 1).with("a", 300).rivalCents("a"), "not its own lower bid");
  }

  @Test
  void aRivalIsToldRoundedDownToTheGrid() {
    Rivalry rivalry = Rivalry.NONE.with("a", 400).with("b", 500).inSteps(RESERVE);
    assertEquals(478, rivalry.rivalCents("a"));
    assertEquals(392, rivalry.rivalCents("b"));
    assertEquals(Rivalry.NONE, Rivalry.NONE.inSteps(RESERVE));
    assertEquals(0, Rivalry.NONE.with("a", 300).inSteps(RESERVE).rivalCents("a"));
  }
}
