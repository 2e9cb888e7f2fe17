package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Operators change a pool's nodes while its market runs. */
class MarketNodesTest extends MarketFixture {
  @Test
  void aMachineAddedWithTheMarkOfAnotherLifeIsCleanedBeforeItIsGranted() throws Exception {
    onlyNode();
    nodes.marks.put("x", "another");
    adopt(Sample.empty());
    ended("another");
    await(market.start());
    declare(8);
    ticks(2);
    await(
        database.commit(
            List.of(
                NodeStore.insert(
                    "h100", new Machine("x", "198.51.100.9", 22, null), clock.millis()))));
    market.nodesChanged("h100");

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of("198.51.100.9")));
    assertEquals(1, nodes.count("reclaim x"));
    assertEquals(1, nodes.count("provision x"));
  }

  @Test
  void everyPoolsNodesAreReadAnewWhenAChangeMayHaveBeenMissed() throws Exception {
    onlyNode();
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    ticks(2);
    await(database.commit(List.of(Statement.of("UPDATE node SET cordoned = 0"))));
    market.nodesChanged();

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }
}
