package dev.bourse.market;

import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OperatorRequests;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators' requests about machines, and their effect on the market. */
@ReplayedOnPostgres
class NodeAdminApiTest {
  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(14);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String nodesOf(String pool) {
    return "/api/operator/pools/" + pool + "/nodes";
  }

  private static String node(TestMarket market, int number) {
    return market.name() + "-" + String.format("%05d", number);
  }

  private static JsonObject read(String nodeId) {
    return operator.get("/api/operator/nodes/" + nodeId).ok();
  }

  private static JsonObject cordon(String nodeId, boolean cordoned) {
    return operator
        .patch("/api/operator/nodes/" + nodeId, new JsonObject().put("cordoned", cordoned))
        .ok();
  }

  private static JsonObject release(String nodeId) {
    return operator.send("POST", "/api/operator/nodes/" + nodeId + "/release", null).ok();
  }

  private static HttpAnswer add(String pool, JsonObject node) {
    return operator.post(nodesOf(pool), node);
  }

  private static JsonObject named(String nodeId) {
    return new JsonObject().put("node_id", nodeId);
  }

  private static void store(String sql, Object... parameters) {
    RunningBourse.await(bourse.database().commit(List.of(Statement.of(sql, parameters))));
  }

  /** Returns the last tick that a market published. */
  private static String tick(TestMarket market) {
    return ClusterClient.objects(
            market.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(market.name()))
        .map(p -> String.valueOf(p.getString("tick_at")))
        .findFirst()
        .orElseThrow();
  }

  /** Waits for several ticks, each of which would have granted an available node. */
  private static void someTicks(TestMarket market) {
    for (int i = 0; i < 4; i++) {
      String before = tick(market);
      until("a tick", () -> !tick(market).equals(before));
    }
  }

  @Test
  void aNodeAddedToARunningPoolIsGranted() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.addKey();
    client.declare(TestMarket.NODES + 1, 2);
    until("all there are", () -> client.active().size() == TestMarket.NODES);
    HttpAnswer added = add(market.name(), named(market.name() + "-extra"));
    assertEquals(201, added.status());
    assertTrue(
        client.untilHeld(TestMarket.NODES + 1).contains(added.json().getString("public_ip")));
    JsonObject held = read(market.name() + "-extra");
    assertEquals("held", held.getString("state"));
    assertEquals(client.cluster(), held.getString("cluster"));
  }

  @Test
  void aMachineThatCannotBeComparedIsRefused() {
    String simulated = node(bourse.market(), 1);
    String path = "/api/operator/nodes/" + simulated + "/rebaseline";
    assertEquals(
        "the machine could not be compared: " + simulated + " is simulated",
        operator.post(path, new JsonObject()).refused(ErrorCode.CONFLICT).getString("detail"));
    operator.post(path, new JsonObject().put("digest", "d")).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void aSimulatedNodeGetsAnAddressOfItsOwn() {
    TestMarket market = bourse.market();
    JsonObject first = add(market.name(), named(market.name() + "-x")).json();
    JsonObject second = add(market.name(), named(market.name() + "-y")).json();
    assertTrue(first.getString("public_ip").startsWith("198.18."));
    assertNotEquals(first.getString("public_ip"), second.getString("public_ip"));
    JsonObject given =
        named(market.name() + "-z").put("public_ip", "198.19.4.5").put("ssh_port", 7);
    JsonObject third = add(market.name(), given).json();
    assertEquals("198.19.4.5", third.getString("public_ip"));
    assertEquals(7, third.getInteger("ssh_port"));
    assertEquals(22, first.getInteger("ssh_port"), "the pool's");
  }

  @Test
  void anIdAndAnAddressAreTakenOnce() {
    TestMarket market = bourse.market();
    JsonObject sameId = add("fixed", named(node(market, 1))).refused(ErrorCode.CONFLICT);
    assertEquals("exists", sameId.getString("reason"));
    assertTrue(sameId.getString("detail").contains(node(market, 1)), sameId.encode());
    JsonObject sameAddress =
        add(
                "fixed",
                named(market.name() + "-twin")
                    .put("public_ip", read(node(market, 1)).getString("public_ip")))
            .refused(ErrorCode.CONFLICT);
    assertEquals("exists", sameAddress.getString("reason"));
    assertTrue(sameAddress.getString("detail").contains(node(market, 1)), sameAddress.encode());
    JsonObject six = named(market.name() + "-six").put("public_ip", "2001:DB8:0:0::7");
    assertEquals("2001:db8::7", add(market.name(), six).json().getString("public_ip"));
    add(market.name(), named(market.name() + "-six-again").put("public_ip", "2001:db8::0:7"))
        .refused(ErrorCode.CONFLICT);
    operator.get("/api/operator/nodes/" + market.name() + "-twin").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aCordonedNodeIsNotGrantedUntilItIsUncordoned() {
    TestMarket market = bourse.market();
    for (int i = 1; i <= TestMarket.NODES; i++) {
      assertEquals("cordoned", cordon(node(market, i), true).getString("state"));
    }
    someTicks(market);
    ClusterClient client = market.redA();
    client.addKey();
    client.declare(1, 2);
    someTicks(market);
    assertEquals(List.of(), client.allocations());
    assertEquals("free", cordon(node(market, 3), false).getString("state"));
    client.untilHeld(1);
    assertEquals(client.cluster(), read(node(market, 3)).getString("cluster"));
  }

  @Test
  void aHeldNodeThatIsCordonedStaysHeldAndIsNotGrantedAfterwards() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String ip = client.hold(TestMarket.NODES, 2).get(0);
    String nodeId =
        ClusterClient.objects(
                operator
                    .get("/api/operator/clusters/" + client.cluster())
                    .ok()
                    .getJsonArray("nodes"))
            .stream()
            .filter(n -> n.getString("public_ip").equals(ip))
            .findFirst()
            .orElseThrow()
            .getString("node_id");
    assertEquals("held", cordon(nodeId, true).getString("state"));
    someTicks(market);
    assertTrue(client.active().contains(ip));
    client.declare(0, 2);
    until("out of the market", () -> read(nodeId).getString("state").equals("cordoned"));
    client.declare(TestMarket.NODES, 2);
    until("the others", () -> client.active().size() == TestMarket.NODES - 1);
    someTicks(market);
    assertFalse(client.active().contains(ip));
  }

  @Test
  void aQuarantinedNodeIsGrantedAgainOnceReleased() {
    TestMarket market = bourse.market();
    store(
        "UPDATE node SET quarantined_at = ?, failures = 3 WHERE pool = ?",
        System.currentTimeMillis(),
        market.name());
    // Any change makes the market read its nodes again.
    cordon(node(market, 1), false);
    JsonObject quarantined = read(node(market, 2));
    assertEquals("quarantined", quarantined.getString("state"));
    assertTrue(quarantined.getString("quarantined_since").startsWith("20"));
    someTicks(market);
    ClusterClient client = market.redA();
    client.addKey();
    client.declare(1, 2);
    someTicks(market);
    assertEquals(List.of(), client.allocations());
    JsonObject released = release(node(market, 2));
    assertEquals("free", released.getString("state"));
    assertEquals(0, released.getInteger("failures"));
    client.untilHeld(1);
    assertEquals(client.cluster(), read(node(market, 2)).getString("cluster"));
  }

  @Test
  void aNodeThatIsBackingOffIsGrantedAtOnceWhenReleased() {
    TestMarket market = bourse.market();
    store(
        "UPDATE node SET usable_after = ?, failures = 1 WHERE pool = ?",
        System.currentTimeMillis() + 600_000,
        market.name());
    cordon(node(market, 1), false);
    assertEquals("backing-off", read(node(market, 1)).getString("state"));
    someTicks(market);
    ClusterClient client = market.redA();
    client.addKey();
    client.declare(1, 2);
    someTicks(market);
    assertEquals(List.of(), client.allocations());
    JsonObject released = release(node(market, 4));
    assertEquals("free", released.getString("state"));
    assertEquals(null, released.getString("backing_off_until"));
    client.untilHeld(1);
    assertEquals(client.cluster(), read(node(market, 4)).getString("cluster"));
  }

  @Test
  void aRealMachineNeedsAnAddressAndAHostKeyThatIsOne(@TempDir Path folder) throws Exception {
    try (RunningBourse site = OperatorRequests.realMachines(folder)) {
      ApiClient op = site.operator();
      String[] key = RunningBourse.keyLine().split(" ", -1);
      String line = key[0] + " " + key[1];
      JsonObject machine =
          named("machine").put("public_ip", "127.77.0.1").put("ssh_port", 1).put("host_key", line);
      for (String field : List.of("public_ip", "host_key")) {
        JsonObject lacking = machine.copy();
        lacking.remove(field);
        refused(op.post(nodesOf("real"), lacking), field + ": null");
      }
      refused(
          op.post(nodesOf("real"), machine.copy().put("host_key", "127.77.0.1 " + line)),
          "host_key",
          "ssh-keyscan");
      refused(
          op.post(nodesOf("real"), machine.copy().put("host_key", "ssh-ed25519 AAAA")),
          "host_key",
          "cut short");
      HttpAnswer added = op.post(nodesOf("real"), machine.copy().put("host_key", line + " root@a"));
      assertEquals(201, added.status());
      assertEquals(line, added.json().getString("host_key"), "without the comment");
    }
  }

  @Test
  void anOrganizationHasAGroupIdBeforeItsFirstGrantAndKeepsIt(@TempDir Path folder)
      throws Exception {
    try (RunningBourse site = OperatorRequests.realMachines(folder)) {
      String orgs = "/api/operator/orgs";
      assertFalse(site.operator().post(orgs, OrgApiFixture.org("a1")).json().containsKey("gid"));
      site.operator().post(orgs, OrgApiFixture.org("a2"));
      long gid = site.operator().get(orgs + "/a1").ok().getLong("gid");
      assertEquals(gid + 1, site.operator().get(orgs + "/a2").ok().getLong("gid"));
      assertEquals(gid, site.operator().get(orgs + "/a1").ok().getLong("gid"));
    }
  }

  @Test
  void nodesAreListedByIdAPageAtATimeWithWhatBecomesOfThem() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 2);
    cordon(node(market, 4), true);
    store(
        "UPDATE node SET usable_after = ?, failures = 1 WHERE node_id = ?",
        System.currentTimeMillis() + 600_000,
        node(market, 3));
    JsonObject head = operator.get(nodesOf(market.name()) + "?limit=3").ok();
    assertEquals(true, head.getBoolean("more"));
    JsonObject tail = operator.get(nodesOf(market.name()) + "?after=" + node(market, 3)).ok();
    assertEquals(false, tail.getBoolean("more"));
    List<JsonObject> all =
        Stream.of(head, tail)
            .flatMap(page -> ClusterClient.objects(page.getJsonArray("nodes")).stream())
            .toList();
    assertEquals(
        List.of(node(market, 1), node(market, 2), node(market, 3), node(market, 4)),
        all.stream().map(n -> n.getString("node_id")).toList());
    assertEquals(
        List.of("held", "free", "backing-off", "cordoned"),
        all.stream().map(n -> n.getString("state")).toList());
    assertEquals(market.redA().cluster(), all.get(0).getString("cluster"));
    assertTrue(all.get(2).getString("backing_off_until").startsWith("20"));
  }

  @Test
  void whatOperatorsDoToANodeIsInThePlatformsTrail() {
    TestMarket market = bourse.market();
    String nodeId = market.name() + "-trail";
    add(market.name(), named(nodeId).put("public_ip", "198.51.100.77"));
    cordon(nodeId, true);
    release(nodeId);
    JsonObject retried =
        operator.send("POST", "/api/operator/nodes/" + nodeId + "/retry", null).ok();
    assertEquals(nodeId, retried.getString("node_id"));
    assertEquals(null, retried.getString("unclean_after"));
    List<AuditRow> rows =
        bourse.audit("", false).stream().filter(r -> r.subject().equals(nodeId)).toList();
    assertEquals(
        List.of("node_add", "node_update", "node_release", "node_retry"),
        rows.stream().map(AuditRow::action).toList());
    assertEquals(
        "pool=" + market.name() + " public_ip=198.51.100.77 ssh_port=22", rows.get(0).detail());
    assertEquals("cordoned=true", rows.get(1).detail());
  }

  @Test
  void badInputIsRefusedNamingFieldValueAndWhatWouldDo() {
    TestMarket market = bourse.market();
    String pool = market.name();
    refused(add(pool, named("Upper")), "node_id: Upper", "at either end");
    refused(add(pool, new JsonObject()), "node_id is missing");
    refused(add(pool, named("n").put("public_ip", "300.1.1.1")), "public_ip: 300.1.1.1", "IPv4");
    refused(add(pool, named("n").put("public_ip", "example.com")), "public_ip: example.com");
    refused(add(pool, named("n").put("ssh_port", 0)), "ssh_port: 0", "65535");
    refused(add(pool, named("n").put("host_key", "ssh-ed25519 AAAA")), "host_key", "simulated");
    add("nowhere", named("n")).refused(ErrorCode.NOT_FOUND);
    operator.get(nodesOf("nowhere")).refused(ErrorCode.NOT_FOUND);
    for (String method : List.of("GET", "PATCH")) {
      String body = method.equals("PATCH") ? "{\"cordoned\":true}" : null;
      operator
          .send(method, "/api/operator/nodes/n", body, "Content-Type", "application/json")
          .refused(ErrorCode.NOT_FOUND);
    }
    operator.send("POST", "/api/operator/nodes/n/release", null).refused(ErrorCode.NOT_FOUND);
    operator.send("POST", "/api/operator/nodes/n/retry", null).refused(ErrorCode.NOT_FOUND);
  }
}
