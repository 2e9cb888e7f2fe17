package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Previews of declarations. */
@ReplayedOnPostgres
class PreviewApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(8);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer send(ClusterClient client, JsonObject order) {
    return client.caller().post("/api/vm/capacity/preview", order);
  }

  private static JsonObject preview(ClusterClient client, int nodes, double price) {
    JsonObject preview = send(client, client.order(nodes, price)).ok();
    assertNull(preview.getValue("would_refuse"), preview.encode());
    return preview;
  }

  @Test
  void aRaiseTellsWhatItWouldWinAndCostAndDoesNothing() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    JsonObject preview = preview(client, 3, 5);
    assertEquals(3, preview.getInteger("nodes_won"));
    assertEquals(3, preview.getInteger("nodes_granted"));
    assertEquals(0, preview.getInteger("nodes_unfilled"));
    assertEquals(new JsonArray(), preview.getJsonArray("victims"));
    assertEquals(1.0, preview.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(
        24.0, preview.getDouble("cost_per_hour"), "3 nodes of 8 GPUs at the reserve price");
    JsonObject would = preview.getJsonObject("state");
    assertEquals(1L, would.getLong("version"));
    assertEquals(24, would.getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(3, would.getInteger("pending"));
    assertEquals(0L, client.version(), "nothing is written");
    assertNull(client.state().getValue("declared"));
    assertEquals(List.of(), client.activity());
    assertTrue(
        bourse.audit(client.orgId(), false).stream()
            .noneMatch(row -> row.action().equals("vm_capacity_put")));
    client.declare(3, 5);
    client.untilHeld(3);
  }

  @Test
  void itIsRecordedAsARead() {
    ClusterClient client = bourse.market().redA();
    preview(client, 0, 5);
    RunningBourse.until(
        "the read is in the trail",
        () ->
            bourse.audit(client.orgId(), true).stream()
                .anyMatch(
                    row ->
                        row.action().equals("vm_capacity_get") && row.detail().equals("preview")));
  }

  @Test
  void aShrinkNamesItsVictimsAndTakesNone() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(3, 5);
    JsonObject order = client.order(1, 5).put("release", new JsonArray().add(held.get(1)));
    JsonObject preview = send(client, order).ok();
    assertEquals(2, preview.getJsonArray("victims").size());
    assertTrue(
        preview.getJsonArray("victims").contains(held.get(1)),
        "the first node of the planned release");
    List<JsonObject> losses = ClusterClient.objects(preview.getJsonArray("losses"));
    assertEquals(
        preview.getJsonArray("victims").getList(),
        losses.stream().map(loss -> loss.getString("public_ip")).toList());
    for (JsonObject loss : losses) {
      assertEquals("write", loss.getString("by"));
      assertNull(loss.getValue("reclaim_at"), "at once");
    }
    assertEquals(new JsonArray(), preview.getJsonArray("unprotected"));
    assertEquals(8.0, preview.getDouble("cost_per_hour"));
    assertEquals(held, client.active());
  }

  @Test
  void aLowerCeilingTellsWhatARivalWouldTake() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 4);
    market.blueA().addKey();
    market.blueA().declare(1, 3);
    JsonObject preview = preview(red, TestMarket.NODES, 2);
    assertEquals(1, preview.getJsonArray("victims").size());
    assertTrue(held.contains(preview.getJsonArray("victims").getString(0)));
    assertEquals(1, preview.getInteger("nodes_unfilled"));
    JsonObject loss = preview.getJsonArray("losses").getJsonObject(0);
    assertEquals(preview.getJsonArray("victims").getString(0), loss.getString("public_ip"));
    assertEquals("tick", loss.getString("by"));
    assertEquals(preview.getString("tick_at"), loss.getString("reclaim_at"));
    assertEquals(
        TestMarket.NODES,
        preview.getJsonArray("unprotected").size(),
        "the ceiling is under that of the grant");
    assertEquals(
        loss.getString("protected_until"),
        red.allocation(loss.getString("public_ip")).getString("protected_until"));
    JsonObject same = preview(red, TestMarket.NODES, 4);
    assertEquals(new JsonArray(), same.getJsonArray("unprotected"));
    assertEquals(new JsonArray(), same.getJsonArray("losses"));
    JsonObject blue = preview(market.blueA(), 2, 3);
    assertEquals(0, blue.getInteger("nodes_won"), "red's nodes are protected");
    assertEquals(2, blue.getInteger("nodes_unfilled"));
    assertEquals(held, red.active());
  }

  @Test
  void whatTheWriteWouldRefuseThePreviewTells() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    refusedAlike(client, client.order(1, 2), ErrorCode.NO_SSH_KEYS);
    client.addKey();
    refusedAlike(client, client.order(1, 2).put("max_gpus", 7), ErrorCode.BAD_REQUEST);
    refusedAlike(
        client, client.order(1, 2).put("max_price_per_gpu_hour", 2.001), ErrorCode.PRICE_PRECISION);
    refusedAlike(client, client.order(1, 10.01), ErrorCode.PRICE_ABOVE_MAXIMUM);
    refusedAlike(client, client.order(1, 2).put("expected_version", 9), ErrorCode.VERSION_MISMATCH);
    refusedAlike(
        client,
        client.order(1, 2).put("release", new JsonArray().add("192.0.2.1")),
        ErrorCode.UNKNOWN_NODE);
    refusedAlike(client, client.order(1, 0.99), ErrorCode.BID_TOO_LOW);
    refusedAlike(market.redFixed(), market.redFixed().order(3, 2), ErrorCode.STATIC_POSTURE);
    bourse.steer(client.cluster(), DirectChange.armWrites(false));
    refusedAlike(client, client.order(1, 2), ErrorCode.CAPACITY_WRITES_DISABLED);
  }

  private static void refusedAlike(ClusterClient client, JsonObject order, ErrorCode code) {
    JsonObject preview = send(client, order).ok();
    assertEquals(client.put(order).refused(code), preview.getJsonObject("would_refuse"));
    assertNull(preview.getValue("state"));
    assertNull(preview.getValue("nodes_won"));
  }

  @Test
  void itsShapeIsThatOfTheWrite() {
    ClusterClient client = bourse.market().redA();
    send(client, client.order(1, 2).put("surprise", 1)).refused(ErrorCode.BAD_REQUEST);
    JsonObject lacking = client.order(1, 2);
    lacking.remove("max_gpus");
    send(client, lacking).refused(ErrorCode.BAD_REQUEST);
    JsonObject unnamed = client.order(1, 2);
    unnamed.remove("cluster");
    send(client, unnamed).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    client
        .caller()
        .post(
            "/api/vm/capacity/preview", client.order(1, 2).put("cluster", client.orgId() + "-k8s"))
        .refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void theCadenceIsNeitherStartedNorLookedAt() {
    try (RunningBourse slow = RunningBourse.withMarkets(1, "capacity.write-cadence=1h")) {
      ClusterClient client = slow.market().redA();
      client.addKey();
      preview(client, 1, 2);
      preview(client, 2, 2);
      client.declare(1, 2);
      client.put(client.order(2, 2)).refused(ErrorCode.RATE_LIMITED);
      preview(client, 2, 2);
    }
  }

  @Test
  void anOperatorManagedClusterKeepsWhatItHolds() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.hold(1, 2);
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.STATIC));
    JsonObject preview = preview(client, 1, 2);
    assertEquals(0, preview.getInteger("nodes_won"));
    assertEquals(8.0, preview.getDouble("cost_per_hour"));
  }

  @Test
  void anOutlookNamesTheNodesThatRivalsTakeAndThePriceThatKeepsThem() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.hold(2, 2);
    assertEquals(new JsonArray(), outlook(client).getJsonArray("losses"));
    market.blueA().addKey();
    market.blueA().declare(10, 5);
    RunningBourse.until(
        "the rival's bid is seen", () -> outlook(client).getJsonArray("losses").size() > 0);
    JsonObject outlook = outlook(client);
    JsonObject loss = outlook.getJsonArray("losses").getJsonObject(0);
    assertEquals("market", loss.getString("by"));
    String reclaimAt = loss.getString("reclaim_at");
    assertTrue(loss.getString("protected_until").compareTo(reclaimAt) <= 0, "at the tick after it");
    assertEquals(loss.getString("reclaim_at"), outlook.getString("safe_until"));
    assertEquals(5.0, outlook.getDouble("keep_price_per_gpu_hour"), "a holder wins a tie");
    assertEquals(client.cluster(), outlook.getString("cluster"));
  }

  private static JsonObject outlook(ClusterClient client) {
    return client.caller().get("/api/vm/capacity/outlook?cluster=" + client.cluster()).ok();
  }
}
