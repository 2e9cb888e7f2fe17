package dev.bourse.market;

import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An operator takes a node from the cluster that holds it. */
@ReplayedOnPostgres
class NodeEvictionApiTest {
  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    // Machines are cleaned slowly, so that a reclaim is visible.
    bourse = RunningBourse.withMarkets(4, "nodes.simulated.reclaim-delay=8s");
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer evict(String nodeId, JsonObject body) {
    return operator.post("/api/operator/nodes/" + nodeId + "/evict", body);
  }

  private static JsonObject why() {
    return new JsonObject().put("reason", "mining coins");
  }

  /** Returns the node at an address. */
  private static String at(TestMarket market, String ip) {
    return ClusterClient.objects(
            operator.get("/api/operator/nodes?pool=" + market.name()).ok().getJsonArray("nodes"))
        .stream()
        .filter(node -> node.getString("public_ip").equals(ip))
        .map(node -> node.getString("node_id"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aHeldNodeGoesAtOnceAndItsClusterIsToldAndGetsAnother() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    String ip = red.hold(1, 2).get(0);
    // Neither the market's protection nor an operator's pin prevents an eviction.
    operator.send("PUT", "/api/operator/clusters/" + red.cluster() + "/pins/" + ip, null).ok();
    String node = at(market, ip);
    try (EventReader reader =
        new EventReader(
            bourse.service().baseUrl(),
            bourse.secret(red.orgId(), "orgwide"),
            red.cluster(),
            null)) {
      until("the state came", () -> !reader.all().isEmpty());
      JsonObject evicted = evict(node, why()).ok();
      assertEquals("reclaiming", evicted.getString("state"));
      until("it is told", () -> !reader.of("reclaim").isEmpty());
      JsonObject told = reader.of("reclaim").get(0).data();
      assertEquals(ip, told.getString("public_ip"));
      assertEquals("operator", told.getString("reason"));
    }
    until("it holds another", () -> red.active().size() == 1 && !red.active().contains(ip));
    JsonObject entry =
        red.activity().stream()
            .filter(e -> "operator".equals(e.getString("reason")))
            .findFirst()
            .orElseThrow();
    assertEquals("system:operator", entry.getString("actor"));
    assertTrue(entry.getString("note").contains(ip), entry.encode());
    AuditRow row =
        bourse.audit(Trails.PLATFORM, false).stream()
            .filter(r -> r.action().equals("node_evict"))
            .filter(r -> r.subject().equals(node))
            .findFirst()
            .orElseThrow();
    assertTrue(row.detail().contains("cluster=" + red.cluster()), row.detail());
    assertTrue(row.detail().contains("reason=mining coins"), row.detail());
    assertEquals("operator:first", row.actor());
  }

  @Test
  void toldTwiceItIsEvictedOnceAndNobodyElseLosesIt() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    String ip = red.hold(1, 2).get(0);
    String node = at(market, ip);
    evict(node, why()).ok();
    assertEquals("reclaiming", evict(node, why()).ok().getString("state"));
    long rows =
        bourse.audit(Trails.PLATFORM, false).stream()
            .filter(r -> r.action().equals("node_evict") && r.subject().equals(node))
            .count();
    assertEquals(1, rows);
    red.declare(0, 2);
    until(
        "it is clean",
        () -> operator.get("/api/operator/nodes/" + node).ok().getString("state").equals("free"));
    ClusterClient blue = market.blueA();
    blue.hold(TestMarket.NODES, 3);
    JsonObject late = evict(node, why().put("cluster", red.cluster())).refused(ErrorCode.CONFLICT);
    assertEquals("wrong-status", late.getString("reason"));
    assertTrue(late.getString("detail").contains(blue.cluster() + " holds it"), late.encode());
    assertEquals(TestMarket.NODES, blue.active().size());
  }

  @Test
  void aNodeThatNobodyHoldsOrThatIsNotThereIsRefused() {
    TestMarket market = bourse.market();
    String node = market.name() + "-00001";
    JsonObject free = evict(node, why()).refused(ErrorCode.CONFLICT);
    assertEquals("wrong-status", free.getString("reason"));
    assertTrue(free.getString("detail").endsWith("nobody holds it"), free.encode());
    evict("nowhere", why()).refused(ErrorCode.NOT_FOUND);
    refused(evict(node, new JsonObject()), "reason");
    refused(evict(node, new JsonObject().put("reason", "")), "reason");
    operator.send("DELETE", "/api/operator/nodes/" + node, null).ok();
    assertEquals("retired", evict(node, why()).refused(ErrorCode.CONFLICT).getString("reason"));
    assertEquals(
        List.of(),
        bourse.audit(Trails.PLATFORM, false).stream()
            .filter(r -> r.action().equals("node_evict") && r.subject().equals(node))
            .toList());
  }
}
