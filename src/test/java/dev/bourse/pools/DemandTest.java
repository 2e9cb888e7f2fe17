package dev.bourse.pools;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a pool's bids come to together, and who the rivals are. */
@Tag("fast")
class DemandTest {
  private static Demand of(long... centsAndNodes) {
    List<Demand.Bid> bids = new ArrayList<>();
    for (int i = 0; i < centsAndNodes.length; i += 2) {
      bids.add(new Demand.Bid(centsAndNodes[i], (int) centsAndNodes[i + 1]));
    }
    return Demand.of(bids);
  }

  @Test
  void aLevelHasAllThatIsWantedAtItOrAbove() {
    Demand demand = of(300, 2, 500, 1, 300, 4, 100, 1);
    assertEquals(
        List.of(new Demand.Level(500, 1), new Demand.Level(300, 7), new Demand.Level(100, 8)),
        demand.levels());
    assertEquals(8, demand.nodes());
  }

  @Test
  void nobodyWantingAnythingIsNoDemand() {
    assertEquals(Demand.NONE, of(300, 0));
    assertEquals(0, Demand.NONE.nodes());
  }

  @Test
  void hugeBidsAddUp() {
    assertEquals(2L * Integer.MAX_VALUE, of(1, Integer.MAX_VALUE, 2, Integer.MAX_VALUE).nodes());
  }

  @Test
  void ofManyPricesThereAreAtMostAHundredLevelsAndEachIsExact() {
    List<Demand.Bid> bids = new ArrayList<>();
    for (int cents = 1; cents <= 1_234; cents++) {
      bids.add(new Demand.Bid(cents, 1));
    }
    Demand demand = Demand.of(bids);
    assertEquals(Demand.MAX_LEVELS, demand.levels().size());
    for (Demand.Level level : demand.levels()) {
      assertEquals(1_235 - level.cents(), level.nodes());
    }
    assertEquals(1_234, demand.levels().get(0).cents());
    assertEquals(1, demand.levels().get(99).cents());
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
}
