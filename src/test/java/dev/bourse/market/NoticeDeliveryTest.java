package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.NodeNotice;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Machines receive notices despite failures. */
class NoticeDeliveryTest extends MarketFixture {
  private static final long LATER = 60_000;
  private String given;
  private String withdrawn;

  @BeforeEach
  void holdOneNode() throws Exception {
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    clock.advance(LATER);
    String id = "n0 drill-" + (clock.millis() + 120_000);
    given = id + " given";
    withdrawn = id + " withdrawn";
  }

  private void drill() throws Exception {
    await(
        owners.submit(
            "c1", (state, now) -> Capacity.drill(state, Sample.ACTOR, Sample.TERMS, now)));
  }

  private void endTheDrill() throws Exception {
    clock.advance(120_000);
    declare(16);
  }

  @Test
  void aNoticeIsDeliveredOnceAndWithdrawnOnce() throws Exception {
    await(market.start());
    drill();
    eventually("told", () -> nodes.delivered().equals(List.of(given)));
    ticks(5);
    endTheDrill();
    eventually("withdrawn", () -> nodes.delivered().equals(List.of(given, withdrawn)));
    ticks(5);
    assertEquals(2, nodes.delivered().size());
  }

  @Test
  void aMachineThatFailsIsToldLater() throws Exception {
    nodes.noticesToFail.put("n0", 2);
    await(market.start());
    drill();
    eventually("told", () -> nodes.delivered().equals(List.of(given)));
  }

  @Test
  void whoTakesOverDeliversWhatIsMissing() throws Exception {
    drill();
    await(market.start());
    eventually("told", () -> nodes.delivered().equals(List.of(given)));
    await(market.stop());
    endTheDrill();

    market = newMarket();
    await(market.start());
    eventually("withdrawn", () -> nodes.delivered().equals(List.of(given, withdrawn)));
  }

  @Test
  void aMachineThatForgotIsToldAgain() throws Exception {
    await(market.start());
    drill();
    eventually("told", () -> nodes.delivered().equals(List.of(given)));
    synchronized (nodes) {
      nodes.told.clear();
    }
    eventually("told again", () -> nodes.delivered().equals(List.of(given, given)));
  }

  @Test
  void whatAMachineWasToldAndNobodyStoredIsWithdrawn() throws Exception {
    nodes.told.put("n0", new NodeNotice("outbid", 7, false));
    await(market.start());
    eventually("withdrawn", () -> nodes.delivered().equals(List.of("n0 outbid-7 withdrawn")));
  }

  @Test
  void aMachineThatKeepsTheSequenceOfALostStateIsToldAllTheSame() throws Exception {
    long lost = 1L << 52;
    nodes.told.put("n0", new NodeNotice("outbid", 7, false));
    nodes.sequences.put("n0", lost);
    await(market.start());
    eventually("withdrawn", () -> nodes.delivered().equals(List.of("n0 outbid-7 withdrawn")));
    drill();
    eventually("told", () -> nodes.delivered().size() == 2);
    assertEquals(given, nodes.delivered().get(1));
    assertEquals(lost + 2, nodes.sequences.get("n0"));
  }

  @Test
  void whatTheAgentDeliveredIsNotDeliveredAgainAndIsWithdrawn() throws Exception {
    drill();
    Cluster cluster = clusters.find("c1").orElseThrow().cluster();
    ProgramNotices.Due heard =
        ProgramNotices.next(cluster, Sample.at(cluster, 0), null, clock.millis()).orElseThrow();
    nodes.told.put("n0", heard.notice());
    nodes.sequences.put("n0", heard.sequence());
    await(market.start());
    ticks(3);
    assertEquals(List.of(), nodes.delivered());
    assertEquals(heard.sequence(), nodes.sequences.get("n0"));
    endTheDrill();
    eventually("withdrawn", () -> nodes.delivered().equals(List.of(withdrawn)));
  }

  @Test
  void aMachineOfThePreviousReleaseIsTold() throws Exception {
    nodes.told.put("n0", new NodeNotice("outbid", 7, false));
    nodes.sequences.put("n0", 99_000_000_000L);
    await(market.start());
    eventually("withdrawn", () -> nodes.delivered().equals(List.of("n0 outbid-7 withdrawn")));
    assertTrue(nodes.sequences.get("n0") > 99_000_000_001L);
  }
}
