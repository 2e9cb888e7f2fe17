package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The prober probes held and free machines. */
class ProberTest extends MarketFixture {
  private List<String> trail() {
    try {
      return texts(
          "SELECT action || ' ' || subject || ' ' || detail FROM audit"
              + " WHERE action LIKE 'node_%reachable' ORDER BY id");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private List<String> column(String sql) {
    try {
      return texts(sql);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the trail of the organizations that hold machines. */
  private List<String> told() {
    return column(
        "SELECT org_id || ' ' || actor || ' ' || action || ' ' || subject || ' ' || detail FROM"
            + " audit WHERE action IN ('node_silent', 'node_answers') ORDER BY id");
  }

  private void set(Set<String> dead) {
    synchronized (nodes) {
      nodes.dead.clear();
      nodes.dead.addAll(dead);
    }
  }

  @Test
  void aHeldMachineThatDiesIsToldOfOnceAndKeptByItsHolder() throws Exception {
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    eventually("seen", () -> column("SELECT node_id FROM node WHERE last_seen > 0").size() == 16);
    set(Set.of("n0"));
    eventually(
        "missed",
        () ->
            column("SELECT node_id || last_error FROM node WHERE last_error IS NOT NULL")
                .equals(List.of("n0n0: no connection : refused")));
    int probes = probes("n0");
    eventually("tried on", () -> probes("n0") > probes + 6);
    assertEquals(
        List.of("node_unreachable n0 pool=h100 error=n0: no connection : refused"), trail());
    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.ACTIVE));
    String node = " c1 public_ip=" + Sample.ip(0) + " slot=0";
    assertEquals(List.of("acme system:market node_silent" + node), told());

    set(Set.of());
    eventually("back", () -> trail().size() == 2);
    assertEquals("node_reachable n0 pool=h100", trail().get(1));
    assertEquals("acme system:market node_answers" + node, told().get(1));
    assertEquals(List.of(), column("SELECT last_error FROM node WHERE last_error IS NOT NULL"));
  }

  @Test
  void aFreeMachineThatDoesNotAnswerIsNoSupplyAndNotGranted() throws Exception {
    onlyNode("n0", "n1");
    nodes.dead.add("n0");
    adopt(Sample.empty());
    await(market.start());
    eventually(
        "one usable",
        () -> clusters.findQuote("h100").filter(q -> q.usableNodes() == 1).isPresent());
    declare(16);
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
    ticks(5);
    assertEquals(0, nodes.count("provision n0"));
    assertEquals(List.of(), told(), "nobody holds it");

    set(Set.of());
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 2);
  }

  private static final Health ECC =
      new Health(Health.State.FAILED, List.of("GPU 3 has 2 uncorrected memory errors"));

  @Test
  void aHeldMachineThatFailsItsChecksIsToldOfOnceAndKeptByItsHolder() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    nodes.health.put("n0", Health.OK);
    adopt(Sample.active(1));
    await(market.start());
    eventually("examined", () -> health().equals(List.of("OK")));
    synchronized (nodes) {
      nodes.health.put("n0", ECC);
    }
    eventually("failed", () -> health().equals(List.of("FAILED")));
    int probes = probes("n0");
    eventually("tried on", () -> probes("n0") > probes + 6);
    assertEquals(
        List.of(
            " n0 pool=h100 health=failed reasons=GPU 3 has 2 uncorrected memory errors",
            "acme c1 public_ip=%s slot=0 health=failed reasons=GPU 3 has 2 uncorrected memory errors"
                .formatted(Sample.ip(0))),
        healthTold());
    assertEquals(
        List.of("GPU 3 has 2 uncorrected memory errors"),
        column("SELECT health_reasons FROM node WHERE health_reasons IS NOT NULL"));
    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.ACTIVE));
    assertEquals(List.of(), column("SELECT node_id FROM node WHERE quarantined_at IS NOT NULL"));

    synchronized (nodes) {
      nodes.health.put("n0", Health.OK);
    }
    eventually("told of its recovery", () -> healthTold().size() == 4);
    assertEquals(" n0 pool=h100 health=ok", healthTold().get(2));
  }

  @Test
  void examinationsThatHangKeepNoOtherMachineWaiting() throws Exception {
    nodes.hangingChecks.addAll(List.of("n0", "n1", "n2", "n3"));
    adopt(Sample.empty());
    await(market.start());
    eventually("hang", () -> nodes.hungChecks() == 4);
    synchronized (nodes) {
      nodes.health.put("n5", ECC);
    }
    eventually(
        "examined",
        () -> column("SELECT node_id FROM node WHERE health = 'FAILED'").equals(List.of("n5")));
    assertEquals(4, nodes.hungChecks(), "none is begun twice");
  }

  /** Returns the health of n0 in the view of its holder. */
  private List<String> held() {
    return column(
        "SELECT health || ' ' || health_credited FROM allocation"
            + " WHERE node_id = 'n0' AND health IS NOT NULL");
  }

  private void find(Health found) {
    synchronized (nodes) {
      nodes.health.put("n0", found);
    }
  }

  @Test
  void theHolderSeesTheHealthAndAChangeOfCreditIsStoredOnce() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    find(Health.OK);
    adopt(Sample.active(1));
    await(market.start());
    eventually("well", () -> held().equals(List.of("OK 0")));
    find(ECC);
    eventually("failed", () -> held().equals(List.of("FAILED 1")));
    int probes = probes("n0");
    eventually("tried on", () -> probes("n0") > probes + 6);
    set(Set.of("n0"));
    eventually("silent", () -> held().equals(List.of("FAILED 0")));
    // In this order, or an examination in between would find the fault once more.
    find(Health.OK);
    set(Set.of());
    eventually("well again", () -> held().equals(List.of("OK 0")));
    assertEquals(
        List.of("FAILED 1", "FAILED 0"),
        column("SELECT state || ' ' || credited FROM allocation_health ORDER BY id"));
    assertEquals(
        List.of(), column("SELECT cluster FROM allocation WHERE swap_requested_at IS NOT NULL"));
  }

  @Test
  void ifNoMachineOfThePoolAnswersNoneOfThemIsFailed() throws Exception {
    nodes.marks.put("n0", "a0");
    find(Health.OK);
    adopt(Sample.active(1));
    await(market.start());
    eventually("well", () -> held().equals(List.of("OK 0")));
    Set<String> all = Set.copyOf(column("SELECT node_id FROM node"));
    set(all);
    eventually("lost", () -> market.reach().getOrDefault("h100", NONE).unreachable() == 16);
    int probes = probes("n0");
    eventually("tried on", () -> probes("n0") > probes + 10);
    assertEquals(List.of("OK 0"), held());
  }

  @Test
  void whereTenantsCanBeRootOnlyWhatIsSeenFromOutsideCounts() throws Exception {
    await(database.commit(List.of(Statement.of("UPDATE pool SET tenants = 'ROOT'"))));
    clusters.put(rootPool());
    nodes.marks.put("n0", "a0");
    find(ECC);
    adopt(Sample.active(1));
    await(market.start());
    eventually("examined", () -> health().equals(List.of("FAILED")));
    int probes = probes("n0");
    eventually("tried on", () -> probes("n0") > probes + 6);
    assertEquals(List.of(), held());
    set(Set.of("n0"));
    eventually("silent", () -> held().equals(List.of("FAILED 0")));
    assertEquals(List.of(), column("SELECT state FROM allocation_health"));
  }

  @Test
  void aFailedNodeIsSwappedByItselfAndKeptUntilItsReplacementIsActive() throws Exception {
    onlyNode("n0", "n1");
    nodes.marks.put("n0", "a0");
    find(ECC);
    adopt(Sample.active(1));
    await(market.start());
    eventually("failed", () -> held().equals(List.of("FAILED 1")));
    clock.advance(3_600_000);
    await(
        owners.submit(
            "c1",
            (cluster, now) ->
                Capacity.declare(
                    cluster,
                    Sample.order(
                        8, "2.00", cluster.version(), new JsonObject().put("auto_swap", true)),
                    Sample.TERMS,
                    now)));
    eventually("swapped", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(1))));
    assertEquals(
        List.of("system:auto-swap c1 node=" + Sample.ip(0) + " health=failed"),
        column(
            "SELECT actor || ' ' || subject || ' ' || detail FROM audit"
                + " WHERE action = 'vm_capacity_swap'"));
    List<String> moves =
        column(
            "SELECT node_id FROM allocation WHERE node_id IN ('n0', 'n1')"
                + " AND reclaim_at < (SELECT b.active_at FROM allocation b WHERE b.node_id = 'n1')");
    assertEquals(List.of(), moves, "the old node stays until the new one is active");
  }

  @Test
  void theTrailOfAKubernetesClusterHasTheNameOfTheNodeAndNoAddress() throws Exception {
    nodes.marks.put("n0", "a0");
    adopt(Sample.onK8s(Sample.active(1)));
    await(market.start());
    eventually("seen", () -> column("SELECT node_id FROM node WHERE last_seen > 0").size() == 16);
    set(Set.of("n0"));
    eventually("told", () -> told().size() == 1);
    assertEquals(List.of("acme system:market node_silent c1 name=n0 slot=0"), told());
  }

  @Test
  void aFreeMachineThatFailsItsChecksIsQuarantinedBeforeAnybodyGetsIt() throws Exception {
    onlyNode("n0");
    nodes.health.put("n0", ECC);
    adopt(Sample.empty());
    await(market.start());
    eventually(
        "quarantined",
        () ->
            column("SELECT failure FROM node WHERE quarantined_at IS NOT NULL")
                .equals(ECC.reasons()));
    declare(8);
    ticks(5);
    assertEquals(0, nodes.count("provision n0"));
  }

  private List<String> health() {
    return column("SELECT health FROM node WHERE health IS NOT NULL");
  }

  private List<String> healthTold() {
    return column(
        "SELECT org_id || ' ' || subject || ' ' || detail FROM audit"
            + " WHERE action = 'node_health' ORDER BY id");
  }

  @Test
  void aFreeMachineThatACallMarkedLateIsCleaned() throws Exception {
    onlyNode("n0");
    adopt(Sample.empty());
    ended("gone");
    await(market.start());
    eventually("seen", () -> probes("n0") > 3);
    synchronized (nodes) {
      nodes.marks.put("n0", "gone");
    }
    eventually("cleaned", () -> nodes.marks().isEmpty());
    declare(8);
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).equals(List.of(Sample.ip(0))));
  }

  @Test
  void aHeldMachineThatIsInstalledAnewBetweenTwoProbesIsPreparedAgain() throws Exception {
    onlyNode("n0");
    nodes.marks.put("n0", "a0");
    adopt(Sample.active(1));
    await(market.start());
    eventually("seen", () -> probes("n0") > 3);
    synchronized (nodes) {
      nodes.marks.clear();
    }
    eventually("prepared again", () -> "a0".equals(nodes.marks().get("n0")));
  }

  @Test
  void whoTakesTheLeaseOverKnowsWhatWasSeenAndTellsNothingTwice() throws Exception {
    adopt(Sample.empty());
    nodes.dead.add("n3");
    await(market.start());
    eventually("told", () -> trail().size() == 1);
    await(market.stop());
    market = newMarket();
    await(market.start());
    int probes = probes("n3");
    eventually("tried", () -> probes("n3") > probes + 6);
    eventually("counted", () -> market.reach().getOrDefault("h100", NONE).unreachable() == 1);
    assertEquals(1, trail().size());
    assertEquals(new Reachability.Counts(15, 1, 0), market.reach().get("h100"));
  }

  private static final Reachability.Counts NONE = new Reachability.Counts(0, 0, 0);

  @Test
  void anErrorIsStoredInBoundsAndAMachineSeenIsNotARowEach() throws Exception {
    Lease lease = await(new LeaseStore(database).acquire("h100", "p", 1_000)).orElseThrow();
    Reachability reachability = new Reachability(database, lease);
    await(reachability.load());
    reachability.recordSilence("n1", NodeFailureException.passing("x".repeat(5_000)), 1);
    for (int i = 2; i < 16; i++) {
      reachability.recordAnswer("n" + i, 100 + i);
    }
    await(reachability.store(7));
    assertEquals(
        List.of(500L), integers("SELECT LENGTH(last_error) FROM node WHERE node_id = 'n1'"));
    assertEquals(
        List.of(102L), integers("SELECT DISTINCT last_seen FROM node WHERE last_seen > 0"));

    await(database.commit(List.of(Statement.of("UPDATE node SET last_seen = 1"))));
    await(reachability.store(8));
    assertEquals(
        List.of(1L), integers("SELECT DISTINCT last_seen FROM node"), "nothing is left to store");
    assertTrue(trail().get(0).startsWith("node_unreachable n1"));
  }

  private int probes(String node) {
    synchronized (nodes) {
      return (int) nodes.probed.stream().filter(node::equals).count();
    }
  }
}
