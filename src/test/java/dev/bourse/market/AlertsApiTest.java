package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.MarketApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The market reports each alert to its cluster once. */
@ReplayedOnPostgres
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
        "alert rival: another organization bids 3.55 to 3.72, the ceiling is 4.00",
        told.getString("note"));
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
        "alert supply: the ceiling would win at least 1 more nodes",
        alerts(red).get(0).getString("note"));
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

  /** Alerts about spending and a declaration's end come when they are due, in the stream too. */
  @Test
  void spendAndAnEndThatComesNearAreToldOnceInTheStreamToo() {
    SteppingClock clock = SteppingClock.midMonth();
    try (RunningBourse running = RunningBourse.withMarkets(1, clock)) {
      ClusterClient red = running.market().redA();
      red.addKey();
      String until = Times.rfc3339(clock.millis() + 40 * MINUTE);
      red.put(red.order(2, 2).put("until", until).put("max_spend_usd", 50)).ok();
      red.untilHeld(2);
      write(
          red.caller(),
          red.cluster(),
          new JsonObject().put("spend_above_usd", 2.5).put("lease_ends_within_s", 1_500));
      try (EventReader events =
          new EventReader(
              running.service().baseUrl(),
              running.secret(red.orgId(), "orgwide"),
              red.cluster(),
              null)) {
        until("the state came", () -> !events.all().isEmpty());
        assertEquals(List.of(), alerts(red));
        // Two nodes at 1.00 cost 16 dollars an hour: 2.67 for these minutes.
        clock.step(10 * MINUTE);
        until("its spend is told", () -> alerts(red).size() == 1);
        assertEquals(
            "alert spend: the declaration has reached the spend threshold",
            alerts(red).get(0).getString("note"));
        clock.step(10 * MINUTE);
        until("and its end", () -> alerts(red).size() == 2);
        String note = alerts(red).get(0).getString("note");
        assertTrue(note.startsWith("alert lease: the declaration lapses in 1"), note);
        until("the stream tells both", () -> events.of("alert").size() == 2);
        assertEquals(
            List.of("spend", "lease"),
            events.of("alert").stream().map(e -> e.data().getString("alert")).toList());
        clock.step(5 * MINUTE);
        red.declare(2, 2);
        until("they stay raised", () -> raised(red).equals(Set.of("spend", "lease")));
        assertEquals(2, events.of("alert").size());
        // A new budget has no spending yet and ends later.
        String later = Times.rfc3339(clock.millis() + 50 * MINUTE);
        red.put(red.order(2, 2).put("until", later).put("max_spend_usd", 60)).ok();
        until("none is raised", () -> raised(red).isEmpty());
        clock.step(12 * MINUTE);
        until("it is told again", () -> events.of("alert").size() == 3);
        assertEquals("spend", events.of("alert").get(2).data().getString("alert"));
        assertEquals(3, alerts(red).size());
      }
    }
  }

  private static final long MINUTE = 60_000;

  private static Set<String> raised(ClusterClient client) {
    return Set.copyOf(
        ClusterClient.texts(
            client
                .caller()
                .get("/api/vm/alerts?cluster=" + client.cluster())
                .ok()
                .getJsonArray("raised")));
  }
}
