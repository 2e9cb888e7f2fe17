package dev.bourse.market;

import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OperatorRequests;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Scrape;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machines leave for good, and others come in their place. */
@ReplayedOnPostgres
class NodeRetirementApiTest {
  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(5);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(String nodeId) {
    return "/api/operator/nodes/" + nodeId;
  }

  private static String node(TestMarket market, int number) {
    return market.name() + "-" + String.format("%05d", number);
  }

  private static HttpAnswer retire(String nodeId) {
    return operator.send("DELETE", path(nodeId), null);
  }

  private static List<String> listed(TestMarket market, String query) {
    return ClusterClient.objects(
            operator
                .get("/api/operator/pools/" + market.name() + "/nodes" + query)
                .ok()
                .getJsonArray("nodes"))
        .stream()
        .map(n -> n.getString("node_id"))
        .toList();
  }

  private static String holdingNode(TestMarket market) {
    return listed(market, "").stream()
        .filter(n -> operator.get(path(n)).ok().getString("state").equals("held"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aHeldNodeIsRetiredAndItsClusterGetsAnotherWithReasonOperator() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String ip = client.hold(1, 2).get(0);
    String nodeId = holdingNode(market);
    JsonObject retired = retire(nodeId).ok();
    assertEquals("retired", retired.getString("state"));
    assertEquals(ip, retired.getString("public_ip"));
    assertEquals(null, retired.getString("cluster"));
    assertNotNull(retired.getString("retired_at"));
    until("another", () -> client.active().size() == 1 && !client.active().contains(ip));
    assertTrue(!listed(market, "").contains(nodeId));
    assertEquals(List.of(nodeId), listed(market, "?status=retired"));
    assertEquals(
        List.of("operator"),
        client.activity().stream()
            .filter(e -> ("released " + ip).equals(e.getString("note")))
            .map(e -> e.getString("reason"))
            .toList());
  }

  @Test
  void theIdAndTheAddressOfARetiredNodeAreAnotherMachinesToUse() {
    TestMarket market = bourse.market();
    String nodeId = node(market, 1);
    String ip = operator.get(path(nodeId)).ok().getString("public_ip");
    retire(nodeId).ok();
    String nodes = "/api/operator/pools/" + market.name() + "/nodes";
    JsonObject other = new JsonObject().put("node_id", market.name() + "-new").put("public_ip", ip);
    assertEquals(201, operator.post(nodes, other).status());
    JsonObject taken = new JsonObject().put("node_id", nodeId).put("public_ip", ip);
    assertEquals(
        "exists", operator.post(nodes, taken).refused(ErrorCode.CONFLICT).getString("reason"));
    assertEquals("retired", operator.get(path(nodeId)).ok().getString("state"));
    HttpAnswer again = operator.post(nodes, new JsonObject().put("node_id", nodeId));
    assertEquals(201, again.status());
    assertEquals(null, again.json().getString("retired_at"));
    assertEquals(List.of(), listed(market, "?status=retired"));
    assertEquals(
        "exists",
        operator
            .post(nodes, new JsonObject().put("node_id", nodeId))
            .refused(ErrorCode.CONFLICT)
            .getString("reason"));
    ClusterClient client = market.redA();
    client.addKey();
    client.declare(TestMarket.NODES + 1, 2);
    List<String> held = client.untilHeld(TestMarket.NODES + 1);
    assertTrue(held.contains(ip) && held.contains(again.json().getString("public_ip")));
  }

  @Test
  void nothingOfARetiredNodeCanBeChangedAndTheTrailTellsItsLife() {
    TestMarket market = bourse.market();
    String nodeId = node(market, 2);
    retire(nodeId).ok();
    JsonObject cordon = new JsonObject().put("cordoned", true);
    JsonObject key = new JsonObject().put("host_key", RunningBourse.keyLine());
    JsonObject end = new JsonObject().put("back_to_market", true);
    for (HttpAnswer answer :
        List.of(
            retire(nodeId),
            operator.patch(path(nodeId), cordon),
            operator.send("POST", path(nodeId) + "/release", null),
            operator.send("POST", path(nodeId) + "/retry", null),
            operator.put(path(nodeId) + "/host-key", key),
            operator.post(path(nodeId) + "/end-reclaim", end))) {
      assertEquals("retired", answer.refused(ErrorCode.CONFLICT).getString("reason"));
    }
    List<AuditRow> rows =
        bourse.audit("", false).stream().filter(r -> r.subject().equals(nodeId)).toList();
    assertEquals(List.of("node_retire"), rows.stream().map(AuditRow::action).toList());
    assertTrue(rows.get(0).detail().startsWith("pool=" + market.name() + " public_ip=198.18."));
  }

  @Test
  void whenAMachineLastAnsweredStandsInItsRowAndInTheMetrics() {
    try (RunningBourse watched = RunningBourse.withMarkets(1, "nodes.probe-interval=100ms")) {
      TestMarket market = watched.market();
      until(
          "seen",
          () -> watched.operator().get(path(node(market, 1))).ok().getString("last_seen") != null);
      JsonObject seen = watched.operator().get(path(node(market, 1))).ok();
      assertEquals(null, seen.getString("last_error"));
      until("counted", () -> counted(watched, market.name(), "reachable") == TestMarket.NODES);
      assertEquals(0, counted(watched, market.name(), "unreachable"));
    }
  }

  private static double counted(RunningBourse watched, String pool, String reachability) {
    return Scrape.of(watched.service().signals())
        .sum("bourse_nodes", "pool=\"" + pool + "\"", "reachability=\"" + reachability + "\"");
  }

  @Test
  void whatIsNotThereOrNotSoIsRefused() {
    TestMarket market = bourse.market();
    String free = path(node(market, 3));
    JsonObject end = new JsonObject().put("back_to_market", true);
    assertEquals(
        "wrong-status",
        operator.post(free + "/end-reclaim", end).refused(ErrorCode.CONFLICT).getString("reason"));
    JsonObject key = new JsonObject().put("host_key", RunningBourse.keyLine());
    refused(operator.put(free + "/host-key", key), "host_key", "simulated");
    retire("nowhere").refused(ErrorCode.NOT_FOUND);
    operator.put(path("nowhere") + "/host-key", key).refused(ErrorCode.NOT_FOUND);
    operator.post(path("nowhere") + "/end-reclaim", end).refused(ErrorCode.NOT_FOUND);
    refused(operator.post(free + "/end-reclaim", new JsonObject()), "back_to_market is missing");
  }

  @Test
  void aMachineThatWasInstalledAnewIsKnownByItsNewHostKey(@TempDir Path folder) throws Exception {
    try (RunningBourse site = OperatorRequests.realMachines(folder)) {
      ApiClient op = site.operator();
      List<String> lines =
          IntStream.range(0, 2)
              .mapToObj(i -> RunningBourse.keyLine().split(" ", -1))
              .map(key -> key[0] + " " + key[1])
              .toList();
      op.post(
          "/api/operator/pools/real/nodes",
          new JsonObject()
              .put("node_id", "machine")
              .put("public_ip", "127.77.0.1")
              .put("ssh_port", 1)
              .put("host_key", lines.get(0)));
      JsonObject second = new JsonObject().put("host_key", lines.get(1) + " root@new");
      for (int i = 0; i < 2; i++) {
        assertEquals(
            lines.get(1), op.put(path("machine") + "/host-key", second).ok().getString("host_key"));
      }
      refused(
          op.put(path("machine") + "/host-key", new JsonObject().put("host_key", "ssh-ed25519 A")),
          "host_key");
      List<AuditRow> rows =
          site.audit("", false).stream().filter(r -> r.action().equals("node_host_key")).toList();
      assertEquals(1, rows.size(), "the same key again changes nothing");
      assertTrue(rows.get(0).detail().matches("host_key=SHA256:\\S+ was=SHA256:\\S+"));
    }
  }
}
