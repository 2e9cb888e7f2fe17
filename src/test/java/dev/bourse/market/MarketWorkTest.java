package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Cleaning;
import dev.bourse.store.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How the market treats nodes after the answers of their machines, and retries failed work. */
class MarketWorkTest extends MarketFixture {
  private NodeService operators() {
    return new NodeService(database, clusters, market, clock);
  }

  @Test
  void aMachineThatSomebodyIsAtWorkOnIsAskedAgainAndItsGrantStands() throws Exception {
    nodes.busyCalls.put("n0", 2);
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));

    assertEquals(3, nodes.count("provision n0"));
    assertEquals(List.of(), texts("SELECT note FROM activity WHERE note LIKE '%unwound%'"));
    assertEquals(List.of(0L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aMachineThatSomebodyIsAtWorkOnIsNeverQuarantined() throws Exception {
    nodes.busyCalls.put("n0", 4);
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);

    eventually("asked four times", () -> nodes.count("reclaim n0") >= 4);
    assertEquals(List.of(), texts("SELECT node_id FROM node WHERE quarantined_at IS NOT NULL"));
    eventually("gone", () -> cluster().allocations().isEmpty());
  }

  /** The preparation of one node fails twice, and the other node joins slowly. */
  @Test
  void aKubernetesGangPaysForEachNodeFromItsJoinAndAFailedPreparationIsTheMachinesFailure()
      throws Exception {
    onlyNode("n0", "n1");
    nodes.provisionsToFail.put("n1", 2);
    nodes.busyCalls.put("n0", 1);
    adopt(Sample.onK8s(Sample.bidder("c1", "acme", "2.00", 16, 2, Sample.T0)));
    await(market.start());

    eventually("n0 has joined", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    for (long failures = 1; failures <= 2; failures++) {
      long asked = failures;
      eventually("n1 fails", () -> nodes.count("provision n1") == asked);
      eventually("n1 is taken back", () -> cluster().allocations().size() == 1);
      assertEquals(List.of(failures), integers("SELECT failures FROM node WHERE node_id = 'n1'"));
      assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.ACTIVE), "it is billed");
      clock.advance(failures * 60_000 + 1_000);
    }

    eventually("both have joined", () -> addresses(Allocation.State.ACTIVE).size() == 2);
    assertEquals(2, nodes.count("provision n0"), "never prepared again after it has joined");
    assertEquals(3, nodes.count("provision n1"));
  }

  @Test
  void aFailureThatSaysNothingAboutTheMachineUnwindsNoGrant() throws Exception {
    onlyNode("n0");
    nodes.callsToBreak.put("n0", 2);
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));

    assertEquals(List.of(), texts("SELECT note FROM activity WHERE note LIKE '%unwound%'"));
    assertEquals(List.of(0L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void theThirdReclaimThatFailsQuarantinesAndTheOneThatSucceedsEndsThat() throws Exception {
    onlyNode("n0");
    nodes.reclaimsToFail.put("n0", 3);
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);

    eventually("quarantined", () -> uncleanAfter().equals(List.of("a0")));
    assertEquals(3, nodes.count("reclaim n0"));
    assertEquals(1, texts("SELECT failure FROM node WHERE failure IS NOT NULL").size());
    eventually("gone", () -> cluster().allocations().isEmpty());

    assertEquals(4, nodes.count("reclaim n0"));
    assertEquals(List.of(), uncleanAfter());
    assertEquals(List.of(), texts("SELECT failure FROM node WHERE failure IS NOT NULL"));
    declare(8);
    eventually("granted again", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void aMachineThatIsUnfitIsQuarantinedAtOnceAndAnotherIsGranted() throws Exception {
    onlyNode("n0", "n1");
    nodes.unfit.add("n0");
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("active", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));

    assertEquals(1, nodes.count("provision n0"));
    assertEquals(
        List.of("GPU 3 has 2 uncorrected memory errors"),
        texts("SELECT failure FROM node WHERE quarantined_at IS NOT NULL"));
    assertEquals(
        List.of("grant of " + Sample.ip(0) + " unwound: the machine failed its checks"),
        texts("SELECT note FROM activity WHERE note LIKE '%unwound%'"));
  }

  @Test
  void aMachineThatTheKubernetesClusterRefusesIsNotAtFault() throws Exception {
    onlyNode("n0");
    nodes.joinsToRefuse.put("n0", 1);
    adopt(Sample.onK8s(Sample.empty()));
    await(market.start());
    declare(8);

    eventually(
        "cleaned", () -> nodes.count("reclaim n0") == 1 && cluster().allocations().isEmpty());

    assertEquals(1, nodes.count("provision n0"));
    assertNotNull(cluster().setbacks().joinRefusedAtMillis());
    assertEquals(0, cluster().setbacks().provisionFailures());
    assertEquals(
        List.of("n0"),
        texts(
            "SELECT node_id FROM node WHERE failures = 0 AND failure IS NULL AND usable_after = 0"
                + " AND quarantined_at IS NULL AND node_id = 'n0'"));
  }

  /** Only a Kubernetes cluster can refuse a node. */
  @Test
  void aRefusedNodeOfAVmClusterIsTheMachinesFailure() throws Exception {
    onlyNode("n0");
    nodes.joinsToRefuse.put("n0", 1);
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually(
        "cleaned", () -> nodes.count("reclaim n0") == 1 && cluster().allocations().isEmpty());

    assertNull(cluster().setbacks().joinRefusedAtMillis());
    assertEquals(List.of(1L), integers("SELECT failures FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aMachineThatIsNotAsItWasAcceptedIsQuarantinedAtTheFirstReclaim() throws Exception {
    onlyNode("n0");
    nodes.changed.put("n0", 1);
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);

    eventually("quarantined", () -> uncleanAfter().equals(List.of("a0")));
    assertEquals(1, nodes.count("reclaim n0"));
    assertEquals("a0", nodes.marks().get("n0"));

    await(operators().retryNode(new Operator("t1", "first"), "n0"));
    eventually("gone", () -> cluster().allocations().isEmpty());
    assertEquals(List.of(), uncleanAfter());
  }

  @Test
  void aReclaimIsRecordedWithTheFirstListOfWhatRootOwns() throws Exception {
    onlyNode("n0");
    nodes.cleanings.put("n0", new Cleaning(2, 41, 7, 1, "d1"));
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
    eventually("gone", () -> cluster().allocations().isEmpty());

    assertEquals(
        List.of("a0 n0 2 41 7 1 d1"),
        texts(
            "SELECT allocation_id || ' ' || node_id || ' ' || seconds || ' ' || processes || ' '"
                + " || files || ' ' || objects || ' ' || baseline FROM handover"));
    assertEquals(List.of("d1"), texts("SELECT baseline FROM node WHERE node_id = 'n0'"));

    nodes.cleanings.put("n0", new Cleaning(1, 0, 0, 0, "d2"));
    declare(8);
    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    declare(0);
    eventually("gone again", () -> cluster().allocations().isEmpty());
    assertEquals(
        List.of("d1", "d2"), texts("SELECT baseline FROM handover ORDER BY cleaned_at, baseline"));
    assertEquals(
        List.of("d1"),
        texts("SELECT baseline FROM node WHERE node_id = 'n0'"),
        "a machine's own word changes no list that was accepted");
  }

  @Test
  void aWipeThatSucceedsEndsNoQuarantineThatItDidNotCause() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(database.commit(List.of(Statement.of("UPDATE node SET quarantined_at = 1"))));
    nodes.reclaimsToFail.put("n0", 3);
    await(market.start());
    declare(0);

    eventually("gone", () -> cluster().allocations().isEmpty());

    assertEquals(List.of(1L), integers("SELECT quarantined_at FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void anOperatorHasWhatWaitsTakenUpAtOnce() throws Exception {
    onlyNode("n0");
    // Without an operator, the eighth attempt comes after more than two minutes.
    nodes.reclaimsToFail.put("n0", 7);
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    declare(0);

    for (int tries = 1; tries <= 7; tries++) {
      int count = tries;
      eventually("try " + count, () -> nodes.count("reclaim n0") >= count);
      await(operators().retryNode(new Operator("t1", "first"), "n0"));
    }

    eventually("gone", () -> cluster().allocations().isEmpty());
    assertEquals(List.of(), uncleanAfter());
    assertEquals(7, texts("SELECT action FROM audit WHERE action = 'node_retry'").size());
  }

  @Test
  void aTenantIsRestoredThoughTheFirstTryBrokeOffAfterItsMark() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "ghost");
    nodes.provisionsToFail.put("n0", 1);
    adopt(Sample.active(1));
    ended("ghost");
    await(market.start());

    eventually("restored", () -> nodes.keys.containsKey("n0"));

    assertEquals(2, nodes.count("provision n0"));
  }

  @Test
  void anOperatorHasAMachineOfNobodysCleanedAtOnce() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "ghost");
    nodes.reclaimsToFail.put("n0", 1);
    adopt(Sample.empty());
    ended("ghost");
    await(market.start());
    // Without an operator, the second attempt comes after more than a minute.
    eventually("a first try", () -> nodes.count("reclaim n0") == 1);
    declare(8);
    ticks(2);

    await(operators().retryNode(new Operator("t1", "first"), "n0"));

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  /** A fail-over lost the grant, and its tenant works on the machine. */
  @Test
  void aMachineOfAnUnknownAllocationIsQuarantinedAndWipedOnlyByAnOperatorsWord() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "lost");
    adopt(Sample.empty());
    await(market.start());
    declare(8);

    eventually("quarantined", () -> uncleanAfter().equals(List.of("lost")));
    ticks(3);
    assertEquals(List.of(), nodes.calls);
    assertEquals("lost", nodes.marks().get("n0"));
    assertTrue(texts("SELECT failure FROM node WHERE node_id = 'n0'").get(0).contains("lost"));

    // The market finds the same after a restart.
    await(market.stop());
    market = newMarket();
    await(market.start());
    ticks(3);
    assertEquals(List.of(), nodes.calls);

    // One retry is enough, in any process that runs the market.
    await(market.stop());
    await(operators().retryNode(new Operator("t1", "first"), "n0"));
    market = newMarket();
    await(market.start());
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    assertEquals(List.of("reclaim n0", "provision n0"), nodes.calls);
    assertEquals(List.of(), uncleanAfter());
    assertEquals(List.of(), texts("SELECT lost_grant FROM node WHERE lost_grant IS NOT NULL"));
  }

  /** The database was set back from the next tenant's grant to the earlier one. */
  @Test
  void aHoldersMachineThatAnotherUnknownTenantHasIsQuarantinedAsItIs() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "lost");
    adopt(Sample.active(1));
    await(market.start());

    eventually(
        "quarantined",
        () -> {
          try {
            return !texts("SELECT failure FROM node WHERE quarantined_at IS NOT NULL").isEmpty();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    ticks(3);
    assertEquals("lost", nodes.marks().get("n0"));
    assertEquals(0, nodes.count("reclaim n0"));

    await(operators().retryNode(new Operator("t1", "first"), "n0"));
    eventually("the holder has it", () -> "a0".equals(nodes.marks().get("n0")));
  }

  @Test
  void aMachineOfNobodysThatBearsAnotherMarkByNowIsCleanedOfThat() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "ghost");
    nodes.reclaimsToFail.put("n0", 1);
    adopt(Sample.empty());
    ended("ghost", "other");
    await(market.start());
    eventually("a first try", () -> nodes.count("reclaim n0") == 1);
    nodes.marks.put("n0", "other");
    declare(8);

    await(operators().retryNode(new Operator("t1", "first"), "n0"));
    eventually("a try that is refused", () -> nodes.count("reclaim n0") == 2);
    ticks(2);
    await(operators().retryNode(new Operator("t1", "first"), "n0"));

    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  private List<String> uncleanAfter() {
    try {
      return texts("SELECT unclean_after FROM node WHERE quarantined_at IS NOT NULL");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
