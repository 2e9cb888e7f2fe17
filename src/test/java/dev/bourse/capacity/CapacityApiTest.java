package dev.bourse.capacity;

import static dev.bourse.testing.ClusterClient.NODE;
import static dev.bourse.testing.ClusterClient.texts;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.pools.Switches;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.CapacityApiFixture;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reading and declaring a cluster's capacity. */
@EachEngine
class CapacityApiTest extends CapacityApiFixture {
  @Test
  void aClusterNobodyDeclaredForHoldsNothing() {
    JsonObject state = bourse.market().redA().state();
    assertEquals(0L, state.getLong("version"));
    assertTrue(state.getBoolean("writes_armed"));
    assertEquals(NODE, state.getInteger("gpus_per_node"));
    assertEquals("NVIDIA", state.getString("gpu_vendor"));
    assertEquals("H100", state.getString("gpu_model"));
    assertEquals(10.0, state.getDouble("max_price_cap_per_gpu_hour"));
    assertNull(state.getValue("declared"));
    assertEquals(0, state.getInteger("pending"));
    assertEquals(new JsonArray(), state.getJsonArray("allocations"));
    assertNull(state.getValue("billing_hold"));
    assertEquals(
        new JsonObject()
            .put("ssh_user", "tenant")
            .put("ssh_port", 22)
            .put("site", "lab")
            .put("env", new JsonObject().put("REGION", "north"))
            .put("storage", new JsonObject().put("scratch", "/scratch")),
        state.getJsonObject("environment"));
  }

  @Test
  void aDeclarationAnswersTheNewStateAndIsGranted() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    JsonObject state = client.declare(2, 3.5);
    assertEquals(1L, state.getLong("version"));
    assertEquals(2, state.getInteger("pending"));
    JsonObject declared = state.getJsonObject("declared");
    assertEquals(16, declared.getInteger("max_gpus"));
    assertEquals(3.5, declared.getDouble("max_price_per_gpu_hour"));
    assertFalse(declared.getBoolean("bid_too_low"));
    assertEquals(client.caller().actor(), declared.getString("updated_by"));
    List<String> held = client.untilHeld(2);
    JsonObject granted = client.state();
    assertEquals(1L, granted.getLong("version"), "the market does not change the version");
    assertEquals(0, granted.getInteger("pending"));
    assertEquals(
        new HashSet<>(held), new HashSet<>(texts(granted.getJsonArray("planned_release"))));
    JsonObject allocation = client.allocation(held.get(0));
    assertEquals(0, allocation.getInteger("slot"));
    assertFalse(allocation.getBoolean("swap"));
    Instant grantedAt = Instant.parse(allocation.getString("granted_at"));
    assertTrue(
        Instant.parse(allocation.getString("protected_until"))
            .isAfter(grantedAt.plusSeconds(3599)));
  }

  @Test
  void anUnchangedStateIsNotSentAgain() {
    ClusterClient client = bourse.market().redA();
    String path = CAPACITY + "?cluster=" + client.cluster();
    until(
        "304 while no tick moves a price",
        () -> {
          String etag = client.caller().get(path).header("etag");
          assertTrue(etag.matches("\"[^\"]+\""), etag);
          HttpAnswer same = client.caller().get(path, "If-None-Match", etag);
          return same.status() == 304
              && etag.equals(same.header("etag"))
              && client.caller().get(path, "If-None-Match", "\"x\", " + etag).status() == 304;
        });
    assertEquals(200, client.caller().get(path, "If-None-Match", "\"x\"").status());
  }

  @Test
  void aGrantChangesTheEtagButNotTheVersion() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    String path = CAPACITY + "?cluster=" + client.cluster();
    HttpAnswer declared = client.put(client.order(1, 2));
    client.untilHeld(1);
    HttpAnswer granted = client.caller().get(path);
    assertNotEquals(declared.header("etag"), granted.header("etag"));
    assertEquals(declared.ok().getLong("version"), granted.ok().getLong("version"));
  }

  @Test
  void eachFaultIsAnsweredBeforeTheNext() {
    // Each step corrects the first fault and keeps all later ones.
    TestMarket market = bourse.market();
    ClusterClient client = market.redFixed();
    JsonObject order =
        client
            .order(0, 0)
            .put("max_gpus", 25)
            .put("max_price_per_gpu_hour", 20.001)
            .put("expected_version", 9)
            .put("release", new JsonArray().add("192.0.2.1"))
            .put("surplus", true);
    bourse.with(null).put(CAPACITY, order).refused(ErrorCode.UNAUTHORIZED);
    market.red("readonly").put(CAPACITY, order).refused(ErrorCode.FORBIDDEN);
    client.put(order).refused(ErrorCode.BAD_REQUEST);
    order.remove("surplus");
    client.put(order.copy().put("cluster", market.blue())).refused(ErrorCode.NOT_FOUND);
    bourse.steer(client.cluster(), DirectChange.armWrites(false));
    client.put(order).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    bourse.steer(client.cluster(), DirectChange.armWrites(true));
    JsonObject multiple = client.put(order).refused(ErrorCode.BAD_REQUEST);
    assertTrue(multiple.getString("detail").contains("max_gpus"), multiple.encode());
    order.put("max_gpus", 24);
    client.put(order).refused(ErrorCode.PRICE_PRECISION);
    order.put("max_price_per_gpu_hour", 20);
    assertEquals(
        10.0, client.put(order).refused(ErrorCode.PRICE_ABOVE_MAXIMUM).getDouble("maximum"));
    order.put("max_price_per_gpu_hour", 0.5);
    client.put(order).refused(ErrorCode.VERSION_MISMATCH);
    order.put("expected_version", 0);
    client.put(order).refused(ErrorCode.STATIC_POSTURE);
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.MARKET));
    client.put(order).refused(ErrorCode.NO_SSH_KEYS);
    client.addKey();
    client.put(order).refused(ErrorCode.UNKNOWN_NODE);
    order.remove("release");
    assertEquals(1.0, client.put(order).refused(ErrorCode.BID_TOO_LOW).getDouble("minimum"));
    order.put("max_price_per_gpu_hour", 1);
    assertEquals(1L, client.put(order).ok().getLong("version"));
  }

  @Test
  void anyShapeFaultIsABadRequestThatNamesTheField() {
    ClusterClient client = bourse.market().redA();
    for (String field : List.of("max_gpus", "max_price_per_gpu_hour", "expected_version")) {
      JsonObject order = client.order(0, 1);
      order.remove(field);
      assertNames(field, client.put(order));
      assertNames(field, client.put(client.order(0, 1).put(field, "8")));
      assertNames(field, client.put(client.order(0, 1).put(field, -1)));
      assertNames(field, client.put(client.order(0, 1).putNull(field)));
    }
    assertNames("max_gpus", client.put(client.order(0, 1).put("max_gpus", 8.5)));
    assertNames("release", client.put(client.order(0, 1).put("release", "192.0.2.1")));
    assertNames("maxGpus", client.put(client.order(0, 1).put("maxGpus", 8)));
    client
        .caller()
        .send("PUT", CAPACITY, "{", "Content-Type", "application/json")
        .refused(ErrorCode.BAD_REQUEST);
    client
        .caller()
        .send("PUT", CAPACITY, "[]", "Content-Type", "application/json")
        .refused(ErrorCode.BAD_REQUEST);
    client
        .caller()
        .send("PUT", CAPACITY, "{}", "Content-Type", "text/plain")
        .refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    assertNames("clutser", client.caller().get(CAPACITY + "?clutser=x"));
    assertEquals(0L, client.version());
  }

  private static void assertNames(String field, HttpAnswer answer) {
    String detail = answer.refused(ErrorCode.BAD_REQUEST).getString("detail");
    assertTrue(detail.contains(field), detail);
  }

  @Test
  void whoOnlyLowersNeedNotReadFirst() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    JsonObject bare =
        new JsonObject().put("cluster", client.cluster()).put("max_gpus", 0).putNull("release");
    assertEquals(0, client.put(bare).ok().getJsonObject("declared").getInteger("max_gpus"));
    assertNames("max_price_per_gpu_hour", client.put(bare.copy().put("max_gpus", 8)));
    assertNames(
        "expected_version",
        client.put(bare.copy().put("max_gpus", 8).put("max_price_per_gpu_hour", 2)));
  }

  @Test
  void aKeyOfAnyClusterMakesTheRegistryNotEmpty() {
    TestMarket market = bourse.market();
    market
        .red("orgwide")
        .post(
            "/api/vm/orgs/" + market.red() + "/ssh-keys",
            new JsonObject()
                .put("name", "b only")
                .put("public_key", RunningBourse.keyLine())
                .put("cluster", market.redB().cluster()));
    market.redA().put(market.redA().order(1, 2)).ok();
  }

  @Test
  void anOrgWideTokenMustSayWhichOfSeveralClusters() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    JsonObject refusal = red.get(CAPACITY).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    String detail = refusal.getString("detail");
    assertTrue(detail.contains(market.redB().cluster()), detail);
    assertTrue(detail.contains("query of a read") && detail.contains("body of a write"), detail);
    JsonObject order = market.redA().order(0, 2);
    order.remove("cluster");
    red.put(CAPACITY, order).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/history").refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.post(CAPACITY + "/swap", new JsonObject().put("node", "192.0.2.1"))
        .refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/activity").ok();
  }

  @Test
  void withOneClusterNobodyNeedsToNameIt() {
    TestMarket market = bourse.market();
    assertEquals(market.blue(), market.blue("orgwide").get(CAPACITY).ok().getString("cluster"));
    JsonObject order = market.blueA().order(0, 2);
    order.remove("cluster");
    assertEquals(
        market.blue(), market.blue("orgwide").put(CAPACITY, order).ok().getString("cluster"));
  }

  @Test
  void aBoundTokenActsOnItsClusterAlone() {
    TestMarket market = bourse.market();
    ApiClient bound = market.red("bound");
    assertEquals(market.redA().cluster(), bound.get(CAPACITY).ok().getString("cluster"));
    bound.get(CAPACITY + "?cluster=" + market.redA().cluster()).ok();
    bound.get(CAPACITY + "?cluster=" + market.redB().cluster()).refused(ErrorCode.FORBIDDEN);
    bound.put(CAPACITY, market.redB().order(0, 2)).refused(ErrorCode.FORBIDDEN);
    JsonObject order = market.redA().order(0, 2);
    order.remove("cluster");
    assertEquals(1L, bound.put(CAPACITY, order).ok().getLong("version"));
  }

  @Test
  void foreignAndUnknownClustersLookAlike() {
    TestMarket market = bourse.market();
    for (String token : List.of("orgwide", "bound")) {
      ApiClient red = market.red(token);
      String foreign =
          red.get(CAPACITY + "?cluster=" + market.blue())
              .refused(ErrorCode.NOT_FOUND)
              .getString("detail");
      String unknown =
          red.get(CAPACITY + "?cluster=no-such").refused(ErrorCode.NOT_FOUND).getString("detail");
      assertEquals(foreign.replace(market.blue(), "no-such"), unknown);
      red.get(CAPACITY + "?cluster=" + "x".repeat(3_000)).refused(ErrorCode.NOT_FOUND);
      JsonObject order = market.redA().order(0, 2).put("cluster", market.blue());
      red.put(CAPACITY, order).refused(ErrorCode.NOT_FOUND);
    }
  }

  @Test
  void thePlatformsSwitchesShowOnEveryClusterAndOutliveARestart() {
    RunningBourse first =
        RunningBourse.withMarkets(
            1, "billing.spend-limit-enforced=true", "billing.hold-enforced=true");
    first
        .operator()
        .patch("/api/operator/switches", new JsonObject().put("capacity_writes_armed", false))
        .ok();
    try (RunningBourse second = first.restarted()) {
      ClusterClient client = second.market().redA();
      JsonObject state = client.state();
      assertFalse(state.getBoolean("writes_armed"));
      assertTrue(state.getBoolean("spend_limit_enforced"));
      assertTrue(state.getBoolean("billing_hold_enforced"));
      client.put(client.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
      second.service().clusters().put(new Switches(true, false, false));
      assertTrue(client.declare(0, 2).getBoolean("writes_armed"));
      assertFalse(client.state().getBoolean("spend_limit_enforced"));
    }
  }
}
