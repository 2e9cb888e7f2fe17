package dev.bourse.market;

import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * An operator pauses a market: it continues to publish prices, but neither grants nor reclaims
 * nodes.
 */
@ReplayedOnPostgres
class PauseApiTest {
  private static final SteppingClock CLOCK = SteppingClock.midMonth();

  private static RunningBourse bourse;

  /** Starts a service whose notices outlast every test. */
  private static RunningBourse patient;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(8, CLOCK, "market.protection=0");
    patient = RunningBourse.withMarkets(1, "market.protection=0", "market.notice=1h");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    patient.close();
  }

  private static String path(String pool) {
    return "/api/operator/pools/" + pool;
  }

  private static JsonObject pause(TestMarket market) {
    JsonObject paused = new JsonObject().put("paused", true).put("pause_reason", "cables");
    JsonObject pool = market.bourse().operator().patch(path(market.name()), paused).ok();
    // A tick that ran at the time of the pause may still end.
    someTicks(market);
    return pool;
  }

  private static JsonObject goOn(TestMarket market) {
    return market
        .bourse()
        .operator()
        .patch(path(market.name()), new JsonObject().put("paused", false))
        .ok();
  }

  private static JsonObject quote(TestMarket market) {
    return quote(market.red("bare"), market.name());
  }

  private static JsonObject quote(ApiClient client, String pool) {
    return ClusterClient.objects(client.get("/api/market/feed").ok().getJsonArray("pools")).stream()
        .filter(p -> p.getString("pool").equals(pool))
        .findFirst()
        .orElseThrow();
  }

  private static void someTicks(TestMarket market) {
    for (int tick = 0; tick < 3; tick++) {
      String before = quote(market).getString("tick_at");
      until("a tick", () -> !Objects.equals(before, quote(market).getString("tick_at")));
    }
  }

  private static ClusterClient bid(ClusterClient client, int nodes, double price) {
    client.addKey();
    client.declare(nodes, price);
    return client;
  }

  @Test
  void whatIsDeclaredWaitsAndIsGrantedOnceItGoesOn() {
    TestMarket market = bourse.market();
    pause(market);
    ClusterClient red = bid(market.redA(), 2, 2);
    JsonObject preview = red.caller().post("/api/vm/capacity/preview", red.order(2, 2)).ok();
    assertTrue(preview.getBoolean("paused"));
    assertEquals(0, preview.getInteger("nodes_won"));
    JsonObject tried =
        market
            .red("orgwide")
            .get("/api/market/quote?pool=" + market.name() + "&gpus=8&price=3")
            .ok();
    assertTrue(tried.getBoolean("paused"));
    assertEquals(0, tried.getInteger("nodes_granted"));
    someTicks(market);
    JsonObject state = red.state();
    assertEquals(2, state.getInteger("pending"));
    assertEquals(List.of(), red.allocations());
    assertFalse(state.getJsonObject("declared").getBoolean("bid_too_low"));
    JsonObject told = quote(market);
    assertNotNull(told.getString("paused_since"));
    assertEquals("cables", told.getString("pause_reason"));
    assertNull(told.getValue("admission_price_per_gpu_hour"));
    assertEquals(2, told.getInteger("demand_nodes"));
    goOn(market);
    red.untilHeld(2);
    assertNull(quote(market).getValue("paused_since"));
    assertFalse(
        red.caller().post("/api/vm/capacity/preview", red.order(2, 2)).ok().getBoolean("paused"));
  }

  @Test
  void nobodyLosesANodeToARivalOrAReservePriceAndThePriceStands() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 2);
    until("it has a price", () -> quote(market).getDouble("clearing_price_per_gpu_hour") != null);
    Double price = quote(market).getDouble("clearing_price_per_gpu_hour");
    pause(market);
    ClusterClient blue = bid(market.blueA(), 1, 5);
    bourse
        .operator()
        .patch(path(market.name()), new JsonObject().put("reserve_price_per_gpu_hour", 3))
        .ok();
    someTicks(market);
    assertEquals(held, red.active());
    assertEquals(List.of(), blue.allocations());
    assertEquals(price, quote(market).getDouble("clearing_price_per_gpu_hour"));
    goOn(market);
    blue.untilHeld(1);
    red.untilHeld(0);
  }

  @Test
  void whatATenantGivesBackGoesAndWhatItHoldsIsBilled() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(3, 2);
    pause(market);
    red.declare(2, 2);
    red.untilHeld(2);
    long before = accrued(market);
    until("it is billed on", () -> accrued(market) > before);
    Instant end = CLOCK.instant().plus(Duration.ofMinutes(10));
    red.put(red.order(2, 2).put("until", end.toString())).ok();
    CLOCK.step(Duration.ofMinutes(10).toMillis());
    red.untilHeld(0);
  }

  private static long accrued(TestMarket market) {
    JsonObject balance = market.red("orgwide").get("/api/billing/balance").ok();
    return balance.getLong("month_usage_micros");
  }

  @Test
  void whoPausesItTwiceChangesTheReasonAlone() {
    TestMarket market = bourse.market();
    JsonObject first = pause(market);
    assertEquals("operator:first", first.getString("paused_by"));
    JsonObject again =
        bourse
            .operator()
            .patch(
                path(market.name()),
                new JsonObject().put("paused", true).put("pause_reason", "more cables"))
            .ok();
    assertEquals(first.getString("paused_since"), again.getString("paused_since"));
    assertEquals("more cables", again.getString("pause_reason"));
    JsonObject status = bourse.operator().get("/api/operator/status").ok();
    assertTrue(status.getJsonArray("pools").encode().contains("more cables"));
    assertFalse(goOn(market).getBoolean("paused"));
    JsonObject twice = goOn(market);
    assertNull(twice.getValue("paused_since"));
    assertNull(twice.getValue("paused_by"));
    assertEquals(
        List.of(
            "pause_reason=cables paused=true",
            "pause_reason=more cables paused=true",
            "paused=false",
            "paused=false"),
        bourse.audit(Trails.PLATFORM, false).stream()
            .filter(row -> row.subject().equals(market.name()))
            .map(AuditRow::detail)
            .toList());
  }

  @Test
  void aPauseWithoutAReasonAndAReasonWithoutAPauseAreRefused() {
    ApiClient operator = bourse.operator();
    refused(operator.patch(path("fixed"), new JsonObject().put("paused", true)), "pause_reason");
    refused(
        operator.patch(path("fixed"), new JsonObject().put("pause_reason", "w")),
        "pause_reason",
        "paused");
    refused(
        operator.patch(
            path("fixed"), new JsonObject().put("paused", true).put("pause_reason", "a\nb")),
        "pause_reason");
  }

  @Test
  void theCommandPausesAndLetsGoOn() {
    TestMarket market = bourse.market();
    AdminRun paused =
        AdminRun.on(
            bourse,
            "pools",
            "update",
            market.name(),
            "--paused",
            "true",
            "--pause-reason",
            "cables",
            "--yes");
    assertEquals(0, paused.exitCode(), paused.err());
    assertTrue(AdminRun.on(bourse, "status").out().contains("paused: cables"));
    assertEquals(
        0,
        AdminRun.on(bourse, "pools", "update", market.name(), "--paused", "false", "-y")
            .exitCode());
  }

  /** Starts two services. */
  @Test
  void aRestartGoesOnPausedAtThePriceThatStood() {
    try (RunningBourse first = RunningBourse.withMarkets(1, "market.protection=0")) {
      TestMarket market = first.market();
      ClusterClient red = market.redA();
      List<String> held = red.hold(TestMarket.NODES, 2);
      bid(market.blueA(), 1, 1.5);
      until(
          "the rival's price clears",
          () -> Double.valueOf(1.5).equals(quote(market).getDouble("clearing_price_per_gpu_hour")));
      pause(market);
      market.blueA().declare(1, 5);
      RunningBourse second = first.restarted();
      try {
        ApiClient bare = second.with(first.secret(red.orgId(), "orgwide"));
        for (int tick = 0; tick < 3; tick++) {
          String before = quote(bare, market.name()).getString("tick_at");
          until(
              "a tick",
              () -> !Objects.equals(before, quote(bare, market.name()).getString("tick_at")));
        }
        assertEquals(1.5, quote(bare, market.name()).getDouble("clearing_price_per_gpu_hour"));
        assertEquals(held, new ClusterClient(bare, red.orgId(), red.cluster()).active());
      } finally {
        second.stop();
      }
    }
  }
}
