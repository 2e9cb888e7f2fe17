package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.MarketApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The prices that the market publishes. */
@ReplayedOnPostgres
class MarketFeedApiTest extends MarketApiFixture {
  @Test
  void anIdlePoolIsPricedAtItsReserve() {
    TestMarket market = bourse.market();
    untilCleared(market);
    JsonObject quote = quote(market);
    assertEquals("lab", quote.getString("site"));
    assertEquals(8, quote.getInteger("gpus_per_node"));
    assertNull(quote.getValue("clearing_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("reserve_price_per_gpu_hour"));
    assertEquals(10.0, quote.getDouble("max_price_cap_per_gpu_hour"));
    assertEquals(TestMarket.NODES, quote.getInteger("usable_nodes"));
    assertEquals(TestMarket.NODES, quote.getInteger("free_nodes"));
    assertTrue(
        Instant.parse(quote.getString("next_tick_at"))
            .isAfter(Instant.parse(quote.getString("tick_at"))));
  }

  @Test
  void anUnchangedFeedIsNotSentAgain() {
    ApiClient caller = bourse.as("s1-red", "bare");
    until(
        "304 within a tick",
        () -> {
          String etag = caller.get("/api/market/feed").header("etag");
          assertFalse(etag.isEmpty());
          return caller.get("/api/market/feed", "If-None-Match", etag).status() == 304;
        });
  }

  @Test
  void theFeedChangesOnceATickAndNotBetween() {
    String world =
        """
        pools:
          - {name: lone, site: lab, provider: simulated, gpu_vendor: AMD, ssh_user: root,
             reserve_price_per_gpu_hour: 1, max_price_cap_per_gpu_hour: 3, simulated_nodes: 1}
        orgs:
          - id: solo
            display: Solo
            kind: standard
            clusters: [{name: solo-main, pool: lone}]
            tokens: [{name: orgwide, scopes: []}]
        """;
    try (RunningBourse lone = RunningBourse.world(world, "market.tick=300ms")) {
      ApiClient caller = lone.as("solo", "orgwide");
      Map<String, String> tickOf = new LinkedHashMap<>();
      int[] unchanged = {0};
      String[] etag = {"none"};
      until(
          "six ticks went by, and a poller got 304 between them",
          () -> {
            HttpAnswer answer = caller.get("/api/market/feed", "If-None-Match", etag[0]);
            if (answer.status() == 304) {
              unchanged[0]++;
            } else {
              etag[0] = answer.header("etag");
              JsonObject pool = answer.ok().getJsonArray("pools").getJsonObject(0);
              assertNull(tickOf.put(etag[0], String.valueOf(pool.getValue("tick_at"))));
            }
            return tickOf.size() >= 7 && unchanged[0] > 6;
          });
      assertEquals(tickOf.size(), tickOf.values().stream().distinct().count(), tickOf.toString());
    }
  }

  @Test
  void whatIsBidForIsDemandWhetherHeldOrNot() {
    TestMarket market = bourse.market();
    assertEquals(0, quote(market).getInteger("demand_nodes"));
    market.redA().hold(2, 5);
    market.blueA().addKey();
    market.blueA().declare(3, 3);
    until("five are bid for", () -> quote(market).getInteger("demand_nodes") == 5);
    HttpAnswer answer = market.blue("bare").get("/api/market/depth?pool=" + market.name());
    JsonObject depth = answer.ok();
    assertEquals(5, depth.getInteger("demand_nodes"));
    assertEquals(TestMarket.NODES, depth.getInteger("usable_nodes"));
    assertEquals(
        new JsonArray()
            .add(new JsonObject().put("price_per_gpu_hour", 4.78).put("nodes", 2))
            .add(new JsonObject().put("price_per_gpu_hour", 2.92).put("nodes", 5)),
        depth.getJsonArray("levels"));
    assertFalse(depth.encode().contains("red"), "it names nobody");
    assertFalse(answer.header("etag").isEmpty());
  }

  @Test
  void aPoolsPastPricesComeInTheBucketsOfHistory() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 5);
    String path = "/api/market/history?pool=" + market.name();
    until(
        "the price shows",
        () -> {
          JsonArray prices =
              market.red("bare").get(path + "&hours=0.5").ok().getJsonArray("clearing_price");
          return Double.valueOf(1.0).equals(prices.getValue(prices.size() - 1));
        });
    JsonObject past = market.red("bare").get(path + "&hours=0.5").ok();
    assertEquals(60, past.getInteger("step"));
    assertEquals(30, past.getJsonArray("clearing_price").size());
    assertEquals(30, past.getJsonArray("admission_price").size());
    assertNull(past.getJsonArray("clearing_price").getValue(0), "before there was a pool");
    assertNull(past.getJsonArray("admission_price").getValue(0));
    assertEquals(1.0, past.getJsonArray("admission_price").getValue(29));
    assertEquals(216, market.red("bare").get(path).ok().getInteger("step"));
  }

  @Test
  void aPoolMayLackADetectorSwapsAndAModel() {
    String world =
        """
        pools:
          - {name: bare, site: lab, provider: simulated, gpu_vendor: AMD, gpus_per_node: 4, ssh_user: root,
             reserve_price_per_gpu_hour: 0, max_price_cap_per_gpu_hour: 3, detector_armed: false,
             swaps_enabled: false, simulated_nodes: 1}
        orgs:
          - id: solo
            display: Solo
            kind: standard
            clusters: [{name: solo-main, pool: bare}]
            tokens: [{name: orgwide, scopes: ["capacity:read", "capacity:write"]}]
        """;
    try (RunningBourse small = RunningBourse.world(world)) {
      ClusterClient client = new ClusterClient(small.as("solo", "orgwide"), "solo", "solo-main");
      client.addKey();
      client.put(client.order(1, 2).put("max_gpus", 6)).refused(ErrorCode.BAD_REQUEST);
      client.put(client.order(1, 2)).ok();
      until("one of two", () -> client.active().size() == 1);
      JsonObject state = client.state();
      assertEquals(4, state.getInteger("gpus_per_node"));
      assertNull(state.getValue("gpu_model"));
      assertEquals(3.0, state.getDouble("max_price_cap_per_gpu_hour"));
      assertEquals(1, state.getInteger("pending"));
      assertNull(state.getJsonObject("declared").getValue("capacity_unavailable"));
      client.swap(client.active().get(0)).refused(ErrorCode.SWAP_DISABLED);
    }
  }
}
