package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.NoticeOrders;
import dev.bourse.capacity.Sample;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operators end allocations in any state of the machine. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class RetirementTest extends MarketFixture {
  private static final Operator ACTOR = new Operator("t1", "ada");

  private NodeService service;
  private RetirementService retirement;

  @BeforeEach
  void prepareOperators() {
    service = new NodeService(database, clusters, market, clock);
    retirement = new RetirementService(database, owners, service, clock);
  }

  /**
   * Prevents probes: a probe between the end of an allocation and the market's notification would
   * start a cleaning, which these tests count.
   */
  @Override
  protected long probeMillis() {
    return 3_600_000;
  }

  private List<String> reclaims() throws Exception {
    return texts(
        "SELECT node_id || ' ' || reclaim_reason FROM allocation WHERE gone_at IS NOT NULL"
            + " ORDER BY node_id");
  }

  @Test
  void aHeldNodeThatIsRetiredEndsItsAllocationNowAndIsReplaced() throws Exception {
    onlyNode("n0", "n1");
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    ticks(2);
    clock.advance(1_000);
    NodeView retired = await(retirement.retireNode(ACTOR, "n0"));

    assertEquals(NodeView.State.RETIRED, retired.state());
    assertEquals(Sample.ip(0), retired.toJson().getString("public_ip"));
    assertEquals(Times.rfc3339(clock.millis()), retired.toJson().getString("retired_at"));
    assertEquals(List.of("n0 OPERATOR"), reclaims());
    assertEquals(
        List.of(clock.millis(), clock.millis()),
        integers(
            "SELECT reclaim_at FROM allocation WHERE node_id = 'n0' UNION ALL"
                + " SELECT gone_at FROM allocation WHERE node_id = 'n0'"));
    eventually("replaced", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
    assertEquals(0, nodes.count("reclaim n0"));
    assertEquals(
        List.of("operator"),
        texts("SELECT reason FROM activity WHERE note = 'released " + Sample.ip(0) + "'"));
    String detail = texts("SELECT detail FROM audit WHERE action = 'node_retire'").get(0);
    assertTrue(
        detail.contains("public_ip=" + Sample.ip(0)) && detail.contains("allocation=a0"), detail);
  }

  @Test
  void aNodeThatIsBeingPreparedIsUnwoundAndWhatItsMachineSaysLateIsNobodys() throws Exception {
    onlyNode("n0", "n1");
    nodes.hangs = true;
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("asked", () -> nodes.count("provision n0") == 1);
    await(retirement.retireNode(ACTOR, "n0"));
    synchronized (nodes) {
      nodes.hangs = false;
      List.copyOf(nodes.unanswered).forEach(promise -> promise.tryComplete());
    }

    eventually("replaced", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
    assertEquals(List.of("n0 UNWOUND"), reclaims());
    assertNull(
        await(
                database.read(
                    "SELECT active_at FROM allocation WHERE node_id = 'n0'",
                    List.of(),
                    row -> Optional.ofNullable(row.integerOrNull("active_at"))))
            .get(0)
            .orElse(null));
    assertEquals(0, cluster().setbacks().provisionFailures());
  }

  @Test
  void aReplacementOnItsWayFillsTheSlotOfARetiredNode() throws Exception {
    onlyNode("n0", "n1");
    nodes.marks.put("n0", "a0");
    nodes.hangs = true;
    adopt(Sample.active(1));
    await(market.start());
    swap(Sample.ip(0));
    eventually("on its way", () -> nodes.count("provision n1") == 1);
    await(retirement.retireNode(ACTOR, "n0"));
    synchronized (nodes) {
      nodes.hangs = false;
      List.copyOf(nodes.unanswered).forEach(promise -> promise.tryComplete());
    }

    eventually("landed", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
    assertEquals(1, cluster().allocations().size());
    assertEquals(1, nodes.count("provision n1"));
  }

  @Test
  void aDeadMachineThatIsReclaimedWithoutEndCanBeRetired() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    nodes.reclaimsToFail.put("n0", 1_000);
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
    eventually("tried", () -> nodes.count("reclaim n0") >= 1);
    await(retirement.retireNode(ACTOR, "n0"));

    assertEquals(List.of(), cluster().allocations());
    assertEquals(List.of("n0 SCALE_DOWN"), reclaims(), "as it was taken back");
  }

  @Test
  void aReclaimEndedByTheOperatorsWordFreesTheNodeOnceItsMachineSaysSo() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    nodes.reclaimsToFail.put("n0", 1_000);
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
    eventually("quarantined", () -> nodes.count("reclaim n0") >= 3);
    eventually("so stored", () -> quarantined().equals(List.of("n0")));
    synchronized (nodes) {
      nodes.marks.clear();
    }
    int askedBefore = nodes.asked("n0");
    NodeView cleaned = await(retirement.endReclaim(ACTOR, "n0", true));

    assertEquals(NodeView.State.FREE, cleaned.state());
    assertEquals(List.of(), cluster().allocations());
    declare(8);
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));
    assertTrue(nodes.asked("n0") > askedBefore, "asked anew");
  }

  @Test
  void aReclaimEndedWithoutGoingBackLeavesTheNodeInQuarantine() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    nodes.reclaimsToFail.put("n0", 1_000);
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
    eventually("tried", () -> nodes.count("reclaim n0") >= 1);
    NodeView cleaned = await(retirement.endReclaim(ACTOR, "n0", false));

    assertEquals(NodeView.State.QUARANTINED, cleaned.state());
    assertEquals(List.of(), cluster().allocations());
    ApiException refused = fails(ApiException.class, retirement.endReclaim(ACTOR, "n0", true));
    assertEquals("wrong-status", refused.extras().get("reason"));
  }

  @Test
  void aNodeThatIsHeldOrFreeIsNotBeingReclaimed() throws Exception {
    adopt(Sample.active(1));
    for (String node : List.of("n0", "n1")) {
      ApiException refused = fails(ApiException.class, retirement.endReclaim(ACTOR, node, true));
      assertEquals(ErrorCode.CONFLICT, refused.code());
      assertEquals("wrong-status", refused.extras().get("reason"));
    }
    assertEquals(List.of(), texts("SELECT action FROM audit"));
  }

  @Test
  void aGrantOfANodeThatWasRetiredMeanwhileIsNotStored() throws Exception {
    adopt(Sample.empty());
    await(retirement.retireNode(ACTOR, "n0"));
    fails(
        NodeStore.NodeMovedException.class,
        owners.submit(
            "c1",
            (cluster, now) ->
                MarketTransitions.settle(
                    cluster,
                    Sample.orders(
                        cluster,
                        List.of(
                            new MarketTransitions.Orders.Grant(
                                "a9", "n0", Sample.ip(0), null, List.of(), 1)),
                        List.of(),
                        NoticeOrders.NONE,
                        cluster.verdict(),
                        now),
                    now),
            List.of(NodeStore.granted("h100", "n0", ""))));

    assertEquals(Map.of(), nodes.marks());
  }

  @Test
  void aMachineInTheMiddleOfItsReclaimIsNotQuarantinedAgainBehindTheOperatorsBack()
      throws Exception {
    NodeStore store = new NodeStore(database);
    Lease lease = await(new LeaseStore(database).acquire("h100", "p", 1_000)).orElseThrow();
    Node seenBefore = await(store.list("h100")).get(0);
    await(
        database.commit(
            List.of(NodeStore.cleaned("h100", seenBefore.nodeId(), true, clock.millis()))));
    fails(
        NodeStore.NodeMovedException.class, store.update(seenBefore.unclean("a0", 5, null), lease));
    assertEquals(List.of(), quarantined());
  }

  /**
   * A tick reads its nodes before it waits for the spending limits, and an operator may change a
   * node in between.
   */
  @Test
  void aNodeThatIsKeptOutOfTheMarketSinceATickSawItIsNotGranted() throws Exception {
    NodeStore store = new NodeStore(database);
    AuditRow row = new AuditRow(clock.millis(), Trails.PLATFORM, "operator:ada", "a", "n0", "");
    await(store.cordon("h100", "n0", true, row));
    await(database.commit(List.of(NodeStore.cleaned("h100", nodeId(1), false, clock.millis()))));
    assertEquals(List.of("n1"), quarantined());
    for (String kept : List.of("n0", "n1")) {
      fails(
          NodeStore.NodeMovedException.class,
          database.commit(List.of(NodeStore.granted("h100", kept, ""))));
    }
    await(database.commit(List.of(NodeStore.granted("h100", "n2", ""))));
  }

  /** The service checks the site of the pool in which it read the node. */
  @Test
  void aNodeThatWasAddedToAnotherPoolSinceItWasSeenIsNotChanged() throws Exception {
    NodeStore store = new NodeStore(database);
    AuditRow row = new AuditRow(clock.millis(), Trails.PLATFORM, "operator:ada", "a", "n0", "");
    for (Future<Void> change :
        List.of(
            store.cordon("seen", "n0", true, row),
            store.release("seen", "n0", row),
            store.retry("seen", "n0", row),
            store.replaceHostKey("seen", "n0", "k", row))) {
      assertEquals(ErrorCode.CONFLICT, fails(ApiException.class, change).code());
    }
    fails(NodeStore.NodeMovedException.class, store.retire("seen", "n0", row));
    for (Statement change :
        List.of(
            NodeStore.cleaned("seen", "n0", true, 1),
            NodeStore.cleaned("seen", "n0", false, 1),
            NodeStore.granted("seen", "n0", ""))) {
      fails(NodeStore.NodeMovedException.class, database.commit(List.of(change)));
    }
    assertEquals(List.of(), texts("SELECT action FROM audit WHERE actor = 'operator:ada'"));
  }

  /**
   * The service reads the node first for an operator of one site; the node may be retired before
   * the change.
   */
  @Test
  void aNodeThatRetiredAtAnotherSiteIsNotTakenOver() throws Exception {
    NodeStore store = new NodeStore(database);
    AuditRow row = new AuditRow(clock.millis(), Trails.PLATFORM, "operator:ada", "a", "n0", "");
    String pool = texts("SELECT pool FROM node WHERE node_id = 'n0'").get(0);
    String site = texts("SELECT site FROM pool WHERE name = '" + pool + "'").get(0);
    await(store.retire(pool, "n0", row));
    Machine again = new Machine("n0", "192.0.2.77", 22, null);
    fails(NodeStore.NodeTakenException.class, store.recreate(pool, again, "not " + site, row));
    assertEquals(List.of("n0"), texts("SELECT node_id FROM node WHERE retired_at IS NOT NULL"));
    await(store.recreate(pool, again, site, row));
    assertEquals(List.of(), texts("SELECT node_id FROM node WHERE retired_at IS NOT NULL"));
  }

  private List<String> quarantined() {
    try {
      return texts("SELECT node_id FROM node WHERE quarantined_at IS NOT NULL");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
