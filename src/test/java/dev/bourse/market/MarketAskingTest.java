package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Machine;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A market runs at once; machines are asked for their allocations in the background. */
class MarketAskingTest extends MarketFixture {
  @Test
  void aMarketTicksAndGrantsThoughAMachineNeverSaysWhatItHolds() throws Exception {
    onlyNode("n0", "n1");
    nodes.mute.add("n0");
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
  }

  @Test
  void aMachineThatHasNotAnsweredKeepsItsHolderAndIsGrantedToNobodyNew() throws Exception {
    onlyNode("n0", "n1");
    nodes.marks.put("n0", "a0");
    nodes.mute.addAll(List.of("n0", "n1"));
    adopt(Sample.active(1));
    await(market.start());
    declare(16);
    ticks(5);

    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.ACTIVE));
    assertEquals(0, nodes.count("provision n1"));
    assertEquals(2, clusters.findQuote("h100").orElseThrow().usableNodes());
    assertEquals(0, clusters.findQuote("h100").orElseThrow().freeNodes());

    nodes.speak("n1");
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 2);
  }

  @Test
  void aMachineThatSpeaksLateOfAnothersMarkIsCleanedBeforeItIsGranted() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "ghost");
    nodes.mute.add("n0");
    adopt(Sample.empty());
    ended("ghost");
    await(market.start());
    declare(8);
    ticks(3);
    nodes.speak("n0");

    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    assertEquals(1, nodes.count("reclaim n0"));
    assertTrue(nodes.calls.indexOf("reclaim n0") < nodes.calls.indexOf("provision n0"));
  }

  @Test
  void anActiveMachineThatSpeaksLateAndLostItsMarkIsPreparedAgain() throws Exception {
    nodes.mute.add("n0");
    adopt(Sample.active(1));
    await(market.start());
    ticks(3);
    assertEquals(0, nodes.count("provision n0"));
    nodes.speak("n0");

    eventually("prepared", () -> nodes.count("provision n0") == 1);
    assertEquals("a0", nodes.marks().get("n0"));
  }

  @Test
  void aMachineInWorkIsAskedOnlyAfterwards() throws Exception {
    nodes.hangs = true;
    adopt(Sample.provisioning(1));
    await(market.start());
    eventually("in work", () -> nodes.count("provision n0") == 1);
    eventually("the others", () -> nodes.asked("n15") >= 1);
    ticks(3);
    assertEquals(0, nodes.asked("n0"));
    synchronized (nodes) {
      nodes.hangs = false;
      nodes.unanswered.forEach(promise -> promise.tryComplete());
    }

    eventually("asked", () -> nodes.asked("n0") >= 1);
    assertEquals(1, nodes.count("provision n0"));
  }

  @Test
  void machinesAreAskedSoManyAtATimeAndThoseThatFailDoNotHoldUpTheOthers() throws Exception {
    onlyNode("n15");
    for (int i = 0; i < 15; i++) {
      nodes.unasked.add("n" + i);
    }
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(15))));
    eventually("asked again", () -> nodes.asked("n0") >= 2);
  }

  @Test
  void noMoreThanItsShareOfMachinesIsAskedAtOnce() throws Exception {
    for (int i = 0; i < 16; i++) {
      nodes.mute.add("n" + i);
    }
    adopt(Sample.empty());
    await(market.start());
    ticks(3);

    assertEquals(HoldingsScan.ASKED_AT_ONCE, nodes.mostAskedAtOnce);
  }

  @Test
  void aFreeMachineThatFailsToAnswerAgainAndAgainIsNoSupplyUntilItDoes() throws Exception {
    onlyNode("n0", "n1");
    nodes.unasked.add("n1");
    adopt(Sample.empty());
    await(market.start());

    eventually("one usable", () -> usable() == 1);
    synchronized (nodes) {
      nodes.unasked.clear();
    }
    eventually("both usable", () -> usable() == 2);
  }

  /** The machine answers probes, and each answer once restarted the hour. */
  @Test
  void aHeldMachineThatNeverSaysWhatItHoldsGoesToAGangAfterAnHour() throws Exception {
    onlyNode("n0", "n1");
    nodes.marks.putAll(Map.of("n0", "a0", "n1", "a1"));
    nodes.unasked.add("n0");
    adopt(Sample.active(2));
    clock.advance(2 * Sample.PROTECTION);
    await(market.start());
    eventually("one usable", () -> usable() == 1);
    adopt(Sample.bidder("c2", "acme", "4.00", 16, 2, clock.millis()));
    ticks(3);
    assertEquals(2, addresses(Allocation.State.ACTIVE).size());

    aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(Tick.SILENT_MILLIS));
    eventually("taken", () -> nodes.count("reclaim n0") == 1);
  }

  @Test
  void aMachineAddedLaterIsAskedTheSameWay() throws Exception {
    onlyNode();
    nodes.mute.add("x");
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    ticks(2);
    await(
        database.commit(
            List.of(
                NodeStore.insert(
                    "h100", new Machine("x", "198.51.100.9", 22, null), clock.millis()))));
    market.nodesChanged("h100");
    eventually("asked", () -> nodes.asked("x") == 1);
    ticks(3);
    assertEquals(0, nodes.count("provision x"));
    nodes.speak("x");

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of("198.51.100.9")));
  }

  private int usable() {
    return clusters.findQuote("h100").map(quote -> quote.usableNodes()).orElse(-1);
  }
}
