package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.MarketApiFixture;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What clusters are told of, once, by the market. */
@EachEngine
class AlertsApiTest extends MarketApiFixture {
  private static JsonObject write(ApiClient caller, String cluster, JsonObject thresholds) {
    return caller.put("/api/vm/alerts", thresholds.copy().put("cluster", cluster)).ok();
  }

  private static List<JsonObject> alerts(ClusterClient client) {
    return client.activity().stream()
        .filter(entry -> String.valueOf(entry.getString("note")).startsWith("alert "))
        .toList();
  }

  @Test
  void aClusterIsToldOfNothingUntilItSaysWhat() {
    TestMarket market = bourse.market();
    String cluster = market.redA().cluster();
    JsonObject none = market.red("orgwide").get("/api/vm/alerts?cluster=" + cluster).ok();

    assertEquals(cluster, none.getString("cluster"));
    assertEquals(new JsonArray(), none.getJsonArray("raised"));
    assertEquals(
        5,
        none.fieldNames().stream().filter(field -> none.getValue(field) == null).count(),
        none.encode());
  }

  @Test
  void aRivalThatComesNearIsToldOnceAndTheVersionStays() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(1, 4);
    long version = red.version();
    write(market.red("orgwide"), red.cluster(), new JsonObject().put("rival_within_percent", 10));
    market.blueA().addKey();

    market.blueA().declare(1, 3.7);

    until("red is told", () -> alerts(red).size() == 1);
    JsonObject told = alerts(red).get(0);
    assertEquals(
        "alert rival: another organization bids 3.70, the ceiling is 4.00", told.getString("note"));
    assertEquals("action", told.getString("kind"));
    untilCleared(market);
    untilCleared(market);
    assertEquals(1, alerts(red).size());
    assertEquals(version, red.version());
    assertEquals(
        new JsonArray().add("rival"),
        market
            .red("orgwide")
            .get("/api/vm/alerts?cluster=" + red.cluster())
            .ok()
            .getJsonArray("raised"));
  }

  @Test
  void supplyThatRunsShortIsTold() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(1, 4);
    write(market.red("orgwide"), red.cluster(), new JsonObject().put("supply_under_nodes", 2));
    untilCleared(market);
    assertEquals(List.of(), alerts(red));

    market.blueA().hold(TestMarket.NODES - 2, 5);

    until("red is told", () -> alerts(red).size() == 1);
    assertEquals(
        "alert supply: the ceiling would win 1 nodes more", alerts(red).get(0).getString("note"));
  }

  @Test
  void thresholdsAreReplacedAsAWholeAndRecorded() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    String cluster = market.redA().cluster();
    write(caller, cluster, new JsonObject().put("price_above_per_gpu_hour", 2.25));

    JsonObject now = write(caller, cluster, new JsonObject().put("lease_ends_within_s", 3600));

    assertEquals(3600, now.getInteger("lease_ends_within_s"));
    assertEquals(null, now.getValue("price_above_per_gpu_hour"));
    JsonArray trail = caller.get("/api/org/activity?limit=1").ok().getJsonArray("entries");
    assertEquals("vm_alerts_put", trail.getJsonObject(0).getString("action"));
    assertEquals("{\"lease_ends_within_s\":3600}", trail.getJsonObject(0).getString("detail"));
  }

  @Test
  void whatIsNoThresholdIsRefusedByItsName() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    for (JsonObject body :
        List.of(
            new JsonObject().put("rival_within_percent", 101),
            new JsonObject().put("price_above_per_gpu_hour", 1.005),
            new JsonObject().put("supply_under_nodes", 0),
            new JsonObject().put("spend_above_usd", -1),
            new JsonObject().put("lease_ends_within_s", "soon"))) {
      String field = body.fieldNames().iterator().next();
      String detail =
          caller
              .put("/api/vm/alerts", body.put("cluster", market.redA().cluster()))
              .refused(ErrorCode.BAD_REQUEST)
              .getString("detail");
      assertTrue(detail.contains(field), detail);
    }
  }

  @Test
  void whoMayOnlyReadCapacityMaySetNoAlerts() {
    TestMarket market = bourse.market();
    market
        .red("readonly")
        .put("/api/vm/alerts", new JsonObject().put("cluster", market.redA().cluster()))
        .refused(ErrorCode.FORBIDDEN);
  }
}
