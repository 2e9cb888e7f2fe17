package dev.bourse.app;

import static dev.bourse.app.ClusterAdminApiTest.refused;
import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators do to machines, and what the market makes of it. */
@EachEngine
class NodeAdminApiTest {
  private static RunningBourse bourse;
  private static Caller operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(14);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String nodesOf(String pool) {
    return "/api/operator/pools/" + pool + "/nodes";
  }

  private static String node(Stage stage, int number) {
    return stage.name() + "-" + String.format("%05d", number);
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
    RunningBourse.await(bourse.service().database().commit(List.of(Statement.of(sql, parameters))));
  }

  /** The tick at which the market of a stage last published. */
  private static String tick(Stage stage) {
    return Desk.objects(stage.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(stage.name()))
        .map(p -> String.valueOf(p.getString("tick_at")))
        .findFirst()
        .orElseThrow();
  }

  /** Lets ticks go by, each of which would have granted what there is to grant. */
  private static void someTicks(Stage stage) {
    for (int i = 0; i < 4; i++) {
      String before = tick(stage);
      until("a tick", () -> !tick(stage).equals(before));
    }
  }

  @Test
  void aNodeAddedToARunningPoolIsGranted() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    desk.addKey();
    desk.declare(Stage.NODES + 1, 2);
    until("all there are", () -> desk.active().size() == Stage.NODES);
    HttpAnswer added = add(stage.name(), named(stage.name() + "-extra"));
    assertEquals(201, added.status());
    assertTrue(desk.untilHeld(Stage.NODES + 1).contains(added.json().getString("public_ip")));
    JsonObject held = read(stage.name() + "-extra");
    assertEquals("held", held.getString("state"));
    assertEquals(desk.cluster(), held.getString("cluster"));
  }

  @Test
  void aSimulatedNodeGetsAnAddressOfItsOwn() {
    Stage stage = bourse.stage();
    JsonObject first = add(stage.name(), named(stage.name() + "-x")).json();
    JsonObject second = add(stage.name(), named(stage.name() + "-y")).json();
    assertTrue(first.getString("public_ip").startsWith("198.18."));
    assertNotEquals(first.getString("public_ip"), second.getString("public_ip"));
    JsonObject given = named(stage.name() + "-z").put("public_ip", "198.19.4.5").put("ssh_port", 7);
    JsonObject third = add(stage.name(), given).json();
    assertEquals("198.19.4.5", third.getString("public_ip"));
    assertEquals(7, third.getInteger("ssh_port"));
    assertEquals(22, first.getInteger("ssh_port"), "the pool's");
  }

  @Test
  void anIdAndAnAddressAreTakenOnce() {
    Stage stage = bourse.stage();
    JsonObject sameId = add("fixed", named(node(stage, 1))).refused(ErrorCode.CONFLICT);
    assertEquals("exists", sameId.getString("reason"));
    assertTrue(sameId.getString("detail").contains(node(stage, 1)), sameId.encode());
    JsonObject sameAddress =
        add(
                "fixed",
                named(stage.name() + "-twin")
                    .put("public_ip", read(node(stage, 1)).getString("public_ip")))
            .refused(ErrorCode.CONFLICT);
    assertEquals("exists", sameAddress.getString("reason"));
    assertTrue(sameAddress.getString("detail").contains(node(stage, 1)), sameAddress.encode());
    JsonObject six = named(stage.name() + "-six").put("public_ip", "2001:DB8:0:0::7");
    assertEquals("2001:db8::7", add(stage.name(), six).json().getString("public_ip"));
    add(stage.name(), named(stage.name() + "-six-again").put("public_ip", "2001:db8::0:7"))
        .refused(ErrorCode.CONFLICT);
    operator.get("/api/operator/nodes/" + stage.name() + "-twin").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aCordonedNodeIsNotGrantedUntilItIsUncordoned() {
    Stage stage = bourse.stage();
    for (int i = 1; i <= Stage.NODES; i++) {
      assertEquals("cordoned", cordon(node(stage, i), true).getString("state"));
    }
    someTicks(stage);
    Desk desk = stage.redA();
    desk.addKey();
    desk.declare(1, 2);
    someTicks(stage);
    assertEquals(List.of(), desk.allocations());
    assertEquals("free", cordon(node(stage, 3), false).getString("state"));
    desk.untilHeld(1);
    assertEquals(desk.cluster(), read(node(stage, 3)).getString("cluster"));
  }

  @Test
  void aHeldNodeThatIsCordonedStaysHeldAndIsNotGrantedAfterwards() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String ip = desk.hold(Stage.NODES, 2).get(0);
    String nodeId =
        Desk.objects(
                operator.get("/api/operator/clusters/" + desk.cluster()).ok().getJsonArray("nodes"))
            .stream()
            .filter(n -> n.getString("public_ip").equals(ip))
            .findFirst()
            .orElseThrow()
            .getString("node_id");
    assertEquals("held", cordon(nodeId, true).getString("state"));
    someTicks(stage);
    assertTrue(desk.active().contains(ip));
    desk.declare(0, 2);
    until("out of the market", () -> read(nodeId).getString("state").equals("cordoned"));
    desk.declare(Stage.NODES, 2);
    until("the others", () -> desk.active().size() == Stage.NODES - 1);
    someTicks(stage);
    assertFalse(desk.active().contains(ip));
  }

  @Test
  void aQuarantinedNodeIsGrantedAgainOnceReleased() {
    Stage stage = bourse.stage();
    store(
        "UPDATE node SET quarantined_at = ?, failures = 3 WHERE pool = ?",
        System.currentTimeMillis(),
        stage.name());
    // Any change has the market read its nodes anew.
    cordon(node(stage, 1), false);
    JsonObject quarantined = read(node(stage, 2));
    assertEquals("quarantined", quarantined.getString("state"));
    assertTrue(quarantined.getString("quarantined_since").startsWith("20"));
    someTicks(stage);
    Desk desk = stage.redA();
    desk.addKey();
    desk.declare(1, 2);
    someTicks(stage);
    assertEquals(List.of(), desk.allocations());
    JsonObject released = release(node(stage, 2));
    assertEquals("free", released.getString("state"));
    assertEquals(0, released.getInteger("failures"));
    desk.untilHeld(1);
    assertEquals(desk.cluster(), read(node(stage, 2)).getString("cluster"));
  }

  @Test
  void aNodeThatIsBackingOffIsGrantedAtOnceWhenReleased() {
    Stage stage = bourse.stage();
    store(
        "UPDATE node SET usable_after = ?, failures = 1 WHERE pool = ?",
        System.currentTimeMillis() + 600_000,
        stage.name());
    cordon(node(stage, 1), false);
    assertEquals("backing-off", read(node(stage, 1)).getString("state"));
    someTicks(stage);
    Desk desk = stage.redA();
    desk.addKey();
    desk.declare(1, 2);
    someTicks(stage);
    assertEquals(List.of(), desk.allocations());
    JsonObject released = release(node(stage, 4));
    assertEquals("free", released.getString("state"));
    assertEquals(null, released.getString("backing_off_until"));
    desk.untilHeld(1);
    assertEquals(desk.cluster(), read(node(stage, 4)).getString("cluster"));
  }

  @Test
  void aRealMachineNeedsAnAddressAndAHostKeyThatIsOne(@TempDir Path folder) throws Exception {
    Path identity = folder.resolve("identity");
    KeyPairGenerator keys = KeyPairGenerator.getInstance("RSA");
    keys.initialize(2048);
    Files.writeString(
        identity,
        "-----BEGIN PRIVATE KEY-----\n"
            + Base64.getMimeEncoder()
                .encodeToString(keys.generateKeyPair().getPrivate().getEncoded())
            + "\n-----END PRIVATE KEY-----\n");
    try (RunningBourse site =
        RunningBourse.staged(
            1, "nodes.ssh.identity-file=" + identity, "nodes.ssh.wipe-command=true")) {
      Caller op = site.operator();
      op.post("/api/operator/pools", PoolAdminApiTest.newPool("real").put("provider", "ssh"));
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
  void nodesAreListedByIdAPageAtATimeWithWhatBecomesOfThem() {
    Stage stage = bourse.stage();
    stage.redA().hold(1, 2);
    cordon(node(stage, 4), true);
    store(
        "UPDATE node SET usable_after = ?, failures = 1 WHERE node_id = ?",
        System.currentTimeMillis() + 60_000,
        node(stage, 3));
    JsonObject head = operator.get(nodesOf(stage.name()) + "?limit=3").ok();
    assertEquals(true, head.getBoolean("more"));
    JsonObject tail = operator.get(nodesOf(stage.name()) + "?after=" + node(stage, 3)).ok();
    assertEquals(false, tail.getBoolean("more"));
    List<JsonObject> all =
        Stream.of(head, tail)
            .flatMap(page -> Desk.objects(page.getJsonArray("nodes")).stream())
            .toList();
    assertEquals(
        List.of(node(stage, 1), node(stage, 2), node(stage, 3), node(stage, 4)),
        all.stream().map(n -> n.getString("node_id")).toList());
    assertEquals(
        List.of("held", "free", "backing-off", "cordoned"),
        all.stream().map(n -> n.getString("state")).toList());
    assertEquals(stage.redA().cluster(), all.get(0).getString("cluster"));
    assertTrue(all.get(2).getString("backing_off_until").startsWith("20"));
  }

  @Test
  void whatOperatorsDoToANodeIsInThePlatformsTrail() {
    Stage stage = bourse.stage();
    String nodeId = stage.name() + "-trail";
    add(stage.name(), named(nodeId).put("public_ip", "198.51.100.77"));
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
        "pool=" + stage.name() + " public_ip=198.51.100.77 ssh_port=22", rows.get(0).detail());
    assertEquals("cordoned=true", rows.get(1).detail());
  }

  @Test
  void badInputIsRefusedNamingFieldValueAndWhatWouldDo() {
    Stage stage = bourse.stage();
    String pool = stage.name();
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
