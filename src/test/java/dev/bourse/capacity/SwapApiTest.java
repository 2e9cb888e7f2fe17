package dev.bourse.capacity;

import static dev.bourse.testing.ClusterClient.texts;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Swaps of held nodes. */
@ReplayedOnPostgres
class SwapApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(20);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void aSwapTellsSinceWhenAndUntilWhenItWaits() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    JsonObject swap = client.swap(node).ok();
    assertEquals(client.cluster(), swap.getString("cluster"));
    assertEquals(node, swap.getString("node"));
    assertEquals("swapping", swap.getString("state"));
    assertEquals(2L, swap.getLong("version"));
    assertEquals(
        Duration.ofHours(1),
        Duration.between(
            Instant.parse(swap.getString("requested_at")),
            Instant.parse(swap.getString("lapses_at"))));
  }

  @Test
  void theOldNodeStaysUntilItsReplacementIsActive() {
    ClusterClient client = bourse.market().redA();
    String old = client.hold(1, 2).get(0);
    ConcurrentLinkedQueue<JsonArray> seen = new ConcurrentLinkedQueue<>();
    client.swap(old).ok();
    until(
        "the swap lands",
        () -> {
          JsonArray allocations = client.state().getJsonArray("allocations");
          seen.add(allocations);
          return allocations.size() == 1
              && !allocations.getJsonObject(0).getString("public_ip").equals(old);
        });
    for (JsonArray allocations : seen) {
      assertTrue(
          ClusterClient.objects(allocations).stream()
              .anyMatch(a -> a.getString("state").equals("active")),
          "no node was active: " + allocations.encode());
    }
    List<JsonObject> activity = client.activity();
    JsonObject released =
        activity.stream()
            .filter(e -> "swap".equals(e.getString("reason")))
            .findFirst()
            .orElseThrow();
    assertTrue(released.getString("note").contains(old));
    assertEquals(0, client.allocations().get(0).getInteger("slot"));
    assertEquals(0, client.state().getInteger("pending"));
    assertEquals(new JsonArray(), client.state().getJsonArray("swaps"));
    assertEquals(new JsonArray(), client.state().getJsonArray("nominations"));
  }

  private static JsonObject declared(ClusterClient client, JsonObject more) {
    return client.put(client.order(1, 2).mergeIn(more)).ok().getJsonObject("declared");
  }

  @Test
  void autoSwapIsDeclaredKeptAndClearedAndANodeShowsItsHealth() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    assertFalse(client.state().getJsonObject("declared").getBoolean("auto_swap"));
    assertTrue(declared(client, new JsonObject().put("auto_swap", true)).getBoolean("auto_swap"));
    assertTrue(declared(client, new JsonObject()).getBoolean("auto_swap"), "left out, it stays");
    assertFalse(
        declared(client, new JsonObject().putNull("auto_swap")).getBoolean("auto_swap"), "null");

    JsonObject node = client.allocations().get(0);
    JsonObject health = node.getJsonObject("health");
    assertEquals("unknown", health.getString("state"), "a simulated machine has no checks");
    assertEquals(node.getString("granted_at"), health.getString("since"));
    assertEquals(new JsonArray(), health.getJsonArray("reasons"));
  }

  @Test
  void askingAgainChangesNothing() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    List<String> held = client.hold(2, 2);
    market.blueA().hold(2, 2);
    JsonObject first = client.swap(held.get(0)).ok();
    JsonObject again = client.swap(held.get(0)).ok();
    assertEquals(ClusterClient.withoutPrices(first), ClusterClient.withoutPrices(again));
    assertEquals(2L, client.version());
    assertEquals(
        1,
        bourse.audit(client.orgId(), false).stream()
            .filter(row -> row.action().equals("vm_capacity_swap"))
            .count());
    JsonObject state = client.state();
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("swaps")));
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("nominations")));
    assertTrue(client.allocation(held.get(0)).getBoolean("swap"));
    assertFalse(client.allocation(held.get(1)).getBoolean("swap"));
  }

  @Test
  void swapsOfDifferentNodesStack() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    client.swap(held.get(0)).ok();
    client.swap(held.get(1)).ok();
    until(
        "both land",
        () ->
            client.allocations().size() == 2 && client.active().stream().noneMatch(held::contains));
    assertEquals(3L, client.version());
  }

  @Test
  void aDrillTellsItsNodesAndTakesNone() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.drill().refused(ErrorCode.UNKNOWN_NODE);
    List<String> held = client.hold(2, 2);
    JsonObject drill = client.drill().ok();
    assertEquals(client.cluster(), drill.getString("cluster"));
    assertEquals(Set.copyOf(held), Set.copyOf(texts(drill.getJsonArray("nodes"))));
    assertEquals(
        Duration.ofMinutes(2),
        Duration.between(
            Instant.parse(drill.getString("started_at")),
            Instant.parse(drill.getString("reclaim_at"))));
    assertEquals(drill, client.drill().ok());
    assertEquals(
        List.of("nodes=2 version=" + drill.getLong("version")),
        bourse.audit(client.orgId(), false).stream()
            .filter(row -> row.action().equals("vm_capacity_drill"))
            .map(AuditRow::detail)
            .toList());
    assertEquals(held, client.active());
    market
        .red("readonly")
        .post("/api/vm/capacity/drill", new JsonObject().put("cluster", client.cluster()))
        .refused(ErrorCode.FORBIDDEN);
  }

  @Test
  void theRefusalsComeInOrder() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    bourse.steer(client.cluster(), OperatorCommands.pin(node, true));
    bourse.steer(client.cluster(), DirectChange.maintain(true));
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.STATIC));
    bourse.steer(client.cluster(), DirectChange.armWrites(false));
    client.swap("192.0.2.1").refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    bourse.steer(client.cluster(), DirectChange.armWrites(true));
    client.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    client.swap(node).refused(ErrorCode.SWAP_DISABLED);
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.MARKET));
    client.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(client.cluster(), DirectChange.maintain(false));
    client.swap(node).refused(ErrorCode.NODE_PINNED);
  }

  @Test
  void aSwapMayNameItsClusterAndNothingElse() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String node = client.hold(1, 2).get(0);
    ApiClient bound = market.red("bound");
    bound
        .post("/api/vm/capacity/swap", new JsonObject().put("node", node).put("why", "slow"))
        .refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject().put("node", node)).ok();
  }
}
