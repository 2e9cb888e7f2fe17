package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Steering;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the market grants, takes and publishes. */
@EachEngine
class MarketApiTest {
  private static RunningBourse bourse;

  /** One whose grants are protected for a moment only. */
  private static RunningBourse brief;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(16);
    brief = RunningBourse.staged(8, "market.protection=500ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    brief.close();
  }

  /** The stage's pool as the feed shows it. */
  private static JsonObject quote(Stage stage) {
    return Desk.objects(stage.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(stage.name()))
        .findFirst()
        .orElseThrow();
  }

  /** Waits for a clearing that began after this call, and for its orders: the third from now. */
  private static void untilCleared(Stage stage) {
    for (int tick = 0; tick < 3; tick++) {
      String before = quote(stage).getString("tick_at");
      until("a tick", () -> !Objects.equals(before, quote(stage).getString("tick_at")));
    }
  }

  private static List<JsonObject> released(Desk desk, String reason) {
    return desk.activity().stream().filter(e -> reason.equals(e.getString("reason"))).toList();
  }

  @Test
  void anIdlePoolIsPricedAtItsReserve() {
    Stage stage = bourse.stage();
    untilCleared(stage);
    JsonObject quote = quote(stage);
    assertEquals("lab", quote.getString("site"));
    assertEquals(8, quote.getInteger("gpus_per_node"));
    assertNull(quote.getValue("clearing_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("reserve_price_per_gpu_hour"));
    assertEquals(10.0, quote.getDouble("max_price_cap_per_gpu_hour"));
    assertEquals(Stage.NODES, quote.getInteger("usable_nodes"));
    assertEquals(Stage.NODES, quote.getInteger("free_nodes"));
    assertTrue(
        Instant.parse(quote.getString("next_tick_at"))
            .isAfter(Instant.parse(quote.getString("tick_at"))));
  }

  @Test
  void anUnchangedFeedIsNotSentAgain() {
    Caller caller = bourse.as("s1-red", "bare");
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
      Caller caller = lone.as("solo", "orgwide");
      Map<String, String> tickOf = new LinkedHashMap<>();
      int[] unchanged = {0};
      String[] etag = {"none"};
      until(
          "six ticks went by",
          () -> {
            HttpAnswer answer = caller.get("/api/market/feed", "If-None-Match", etag[0]);
            if (answer.status() == 304) {
              unchanged[0]++;
            } else {
              etag[0] = answer.header("etag");
              JsonObject pool = answer.ok().getJsonArray("pools").getJsonObject(0);
              assertNull(tickOf.put(etag[0], String.valueOf(pool.getValue("tick_at"))));
            }
            return tickOf.size() == 7;
          });
      assertEquals(7, tickOf.values().stream().distinct().count(), tickOf.toString());
      assertTrue(unchanged[0] > 6, "a poller gets 304 between ticks");
    }
  }

  @Test
  void whatIsBidForIsDemandWhetherHeldOrNot() {
    Stage stage = bourse.stage();
    assertEquals(0, quote(stage).getInteger("demand_nodes"));
    stage.redA().hold(2, 5);
    stage.blueA().addKey();
    stage.blueA().declare(3, 3);
    until("five are bid for", () -> quote(stage).getInteger("demand_nodes") == 5);
    HttpAnswer answer = stage.blue("bare").get("/api/market/depth?pool=" + stage.name());
    JsonObject depth = answer.ok();
    assertEquals(5, depth.getInteger("demand_nodes"));
    assertEquals(Stage.NODES, depth.getInteger("usable_nodes"));
    assertEquals(
        new JsonArray()
            .add(new JsonObject().put("price_per_gpu_hour", 5.0).put("nodes", 2))
            .add(new JsonObject().put("price_per_gpu_hour", 3.0).put("nodes", 5)),
        depth.getJsonArray("levels"));
    assertFalse(depth.encode().contains("red"), "it names nobody");
    assertFalse(answer.header("etag").isEmpty());
  }

  @Test
  void depthAndHistoryAreOfPoolsThatExist() {
    Caller caller = bourse.as("s1-red", "bare");
    for (String path : List.of("/api/market/depth", "/api/market/history")) {
      caller.get(path + "?pool=nowhere").refused(ErrorCode.NOT_FOUND);
      caller.get(path).refused(ErrorCode.BAD_REQUEST);
    }
    caller.get("/api/market/history?pool=s1&hours=0.4").refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void aPoolsPastPricesComeInTheBucketsOfHistory() {
    Stage stage = bourse.stage();
    stage.redA().hold(1, 5);
    String path = "/api/market/history?pool=" + stage.name();
    until(
        "the price shows",
        () -> {
          JsonArray prices =
              stage.red("bare").get(path + "&hours=0.5").ok().getJsonArray("clearing_price");
          return Double.valueOf(1.0).equals(prices.getValue(prices.size() - 1));
        });
    JsonObject past = stage.red("bare").get(path + "&hours=0.5").ok();
    assertEquals(60, past.getInteger("step"));
    assertEquals(30, past.getJsonArray("clearing_price").size());
    assertEquals(30, past.getJsonArray("admission_price").size());
    assertNull(past.getJsonArray("clearing_price").getValue(0), "before there was a pool");
    assertNull(past.getJsonArray("admission_price").getValue(0));
    assertEquals(1.0, past.getJsonArray("admission_price").getValue(29));
    assertEquals(216, stage.red("bare").get(path).ok().getInteger("step"));
  }

  @Test
  void aSoleBuyerPaysTheReserve() {
    Stage stage = bourse.stage();
    stage.redA().hold(2, 9);
    untilCleared(stage);
    JsonObject quote = quote(stage);
    assertEquals(1.0, quote.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
    assertEquals(2, quote.getInteger("free_nodes"));
    assertEquals(Stage.NODES, quote.getInteger("usable_nodes"));
  }

  @Test
  void theHighestLosingBidSetsThePrice() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 5);
    stage.blueA().addKey();
    stage.blueA().declare(1, 3);
    until(
        "blue's losing bid is the price",
        () -> Objects.equals(quote(stage).getValue("clearing_price_per_gpu_hour"), 3.0));
    JsonObject quote = quote(stage);
    assertTrue(quote.getDouble("admission_price_per_gpu_hour") > 5, quote.encode());
    assertEquals(0, quote.getInteger("free_nodes"));
    JsonObject declared = stage.blueA().state().getJsonObject("declared");
    assertTrue(declared.getBoolean("bid_too_low"));
    assertFalse(declared.getBoolean("capacity_unavailable"));
  }

  @Test
  void aHigherBidTakesANodeOnlyWhenItsProtectionHasEnded() {
    Stage stage = brief.stage();
    Desk red = stage.redA();
    Desk blue = stage.blueA();
    List<String> held = red.hold(Stage.NODES, 2);
    Instant protectedUntil = Instant.MAX;
    for (String node : held) {
      Instant until = Instant.parse(red.allocation(node).getString("protected_until"));
      protectedUntil = until.isBefore(protectedUntil) ? until : protectedUntil;
    }
    blue.hold(1, 5);
    assertEquals(Stage.NODES - 1, red.active().size());
    List<JsonObject> outbid = released(red, "outbid");
    assertEquals(1, outbid.size());
    assertEquals("system:market", outbid.get(0).getString("actor"));
    assertFalse(Instant.parse(outbid.get(0).getString("ts")).isBefore(protectedUntil));
    assertTrue(held.containsAll(blue.active()), "it is red's node that blue got");
    assertEquals(1, red.state().getInteger("pending"));
    until(
        "red is told that its bid is too low",
        () -> red.state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(1L, red.version(), "the market leaves the version alone");
  }

  @Test
  void aProtectedNodeIsNotLostToAnyBid() {
    Stage stage = bourse.stage();
    List<String> held = stage.redA().hold(Stage.NODES, 2);
    stage.blueA().addKey();
    stage.blueA().declare(1, 10);
    untilCleared(stage);
    assertEquals(held, stage.redA().active());
    assertEquals(1, stage.blueA().state().getInteger("pending"));
    assertTrue(stage.blueA().state().getJsonObject("declared").getBoolean("capacity_unavailable"));
    assertFalse(stage.blueA().state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertNull(quote(stage).getValue("admission_price_per_gpu_hour"));
  }

  @Test
  void loweringTheCeilingEndsTheProtection() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(Stage.NODES, 4);
    stage.blueA().addKey();
    stage.blueA().declare(1, 3);
    untilCleared(stage);
    assertEquals(Stage.NODES, red.active().size());
    red.declare(Stage.NODES, 2);
    stage.blueA().untilHeld(1);
    assertEquals(1, released(red, "outbid").size());
  }

  @Test
  void raisingTheCeilingWinsTheNextFreeNode() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 3);
    Desk blue = stage.blueA();
    blue.addKey();
    blue.declare(2, 2);
    until(
        "blue is too low", () -> blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    blue.declare(2, 4);
    blue.untilHeld(2);
    assertFalse(blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(2, stage.redA().untilHeld(2).size());
  }

  @Test
  void clustersOfOneOrganizationDoNotRaiseItsPrice() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 5);
    stage.redB().declare(2, 3);
    untilCleared(stage);
    assertEquals(1.0, quote(stage).getDouble("clearing_price_per_gpu_hour"));
  }

  @Test
  void equalBidsShareWhatComesFree() {
    Stage stage = bourse.stage();
    stage.redB().hold(Stage.NODES, 2);
    stage.blueA().addKey();
    stage.redA().declare(Stage.NODES, 2);
    stage.blueA().declare(Stage.NODES, 2);
    stage.redB().declare(0, 2);
    stage.redA().untilHeld(2);
    stage.blueA().untilHeld(2);
  }

  @Test
  void aHoldsNoticeStopsNewCapacityAndKeepsTheOld() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    List<String> held = red.hold(1, 2);
    bourse.steer(
        red.cluster(), Steering.hold(new Hold(Hold.Stage.NOTICE, "balance", 1_900_000_000_000L)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("hold", hold.getString("state"));
    assertEquals("notice", hold.getString("stage"));
    assertEquals("balance", hold.getString("reason"));
    long left = 1_900_000_000_000L - System.currentTimeMillis();
    long shown = hold.getLong("enforce_after_ms");
    assertTrue(shown >= left && shown < left + 60_000, "it counts down: " + shown);
    red.declare(3, 2);
    untilCleared(stage);
    assertEquals(held, red.active());
    assertEquals(2, red.state().getInteger("pending"));
    bourse.steer(red.cluster(), Steering.hold(null));
    red.untilHeld(3);
    assertNull(red.state().getValue("billing_hold"));
  }

  @Test
  void anEnforcedHoldReclaimsAllAndLeavesTheDeclaration() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(2, 2);
    bourse.steer(red.cluster(), Steering.hold(new Hold(Hold.Stage.ENFORCE, "balance", null)));
    red.untilHeld(0);
    assertEquals(2, released(red, "hold").size());
    JsonObject state = red.state();
    assertEquals("enforce", state.getJsonObject("billing_hold").getString("stage"));
    assertEquals(16, state.getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(1L, state.getLong("version"));
  }

  @Test
  void aGracePeriodChangesNothing() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(1, 2);
    bourse.steer(red.cluster(), Steering.hold(new Hold(Hold.Stage.GRACE, "balance", null)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("grace", hold.getString("state"));
    assertNull(hold.getValue("stage"));
    red.declare(2, 2);
    red.untilHeld(2);
  }

  @Test
  void aPinnedNodeIsNotLostToAnyBid() {
    Stage stage = brief.stage();
    Desk red = stage.redA();
    List<String> held = red.hold(Stage.NODES, 2);
    for (String node : held.subList(0, 3)) {
      brief.steer(red.cluster(), Steering.pin(node, true));
    }
    stage.blueA().addKey();
    stage.blueA().declare(Stage.NODES, 5);
    stage.blueA().untilHeld(1);
    untilCleared(stage);
    assertEquals(held.subList(0, 3), red.active());
  }

  @Test
  void aGrantThatCannotBePreparedIsUnwoundAndItsMachineSetAside() {
    try (RunningBourse failing = RunningBourse.staged(1, "nodes.simulated.failure-rate=1")) {
      Stage stage = failing.stage();
      Desk red = stage.redA();
      red.addKey();
      red.declare(1, 2);
      until("every machine was tried", () -> quote(stage).getInteger("usable_nodes") == 0);
      List<JsonObject> unwound =
          red.activity().stream()
              .filter(e -> e.getString("kind").equals("action"))
              .filter(e -> e.getString("note").contains("unwound"))
              .toList();
      assertEquals(Stage.NODES, unwound.size());
      assertEquals(
          Stage.NODES,
          unwound.stream().map(e -> e.getString("note")).distinct().count(),
          "each machine was tried once: it backs off");
      assertEquals(1, red.state().getInteger("pending"));
      until(
          "capacity is what red lacks",
          () ->
              Boolean.TRUE.equals(
                  red.state().getJsonObject("declared").getValue("capacity_unavailable")));
      assertFalse(red.state().getJsonObject("declared").getBoolean("bid_too_low"));
      assertEquals(List.of(), red.active());
    }
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
      Desk desk = new Desk(small.as("solo", "orgwide"), "solo", "solo-main");
      desk.addKey();
      desk.put(desk.order(1, 2).put("max_gpus", 6)).refused(ErrorCode.BAD_REQUEST);
      desk.put(desk.order(1, 2)).ok();
      until("one of two", () -> desk.active().size() == 1);
      JsonObject state = desk.state();
      assertEquals(4, state.getInteger("gpus_per_node"));
      assertNull(state.getValue("gpu_model"));
      assertEquals(3.0, state.getDouble("max_price_cap_per_gpu_hour"));
      assertEquals(1, state.getInteger("pending"));
      assertNull(state.getJsonObject("declared").getValue("capacity_unavailable"));
      desk.swap(desk.active().get(0)).refused(ErrorCode.SWAP_DISABLED);
    }
  }
}
