package dev.bourse.capacity;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Declarations that lapse at a time or when their budget is used up. */
@ReplayedOnPostgres
class LapseApiTest {
  private static final long MINUTE = 60_000;
  private static final long HOUR = 60 * MINUTE;

  /** The time between ticks in these tests. */
  private static final long TICK = 50;

  private static final SteppingClock CLOCK = SteppingClock.midMonth();

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(10, CLOCK, "billing.check-interval=100ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** Advances to ten past the next hour, so that a few minutes lie within one hour. */
  @BeforeEach
  void beginAnHour() {
    long past = Math.floorMod(CLOCK.millis(), HOUR);
    CLOCK.step(HOUR - past + 10 * MINUTE);
  }

  /** Declares nodes at 2.00; without rivals they cost the reserve price of 1.00. */
  private static JsonObject order(ClusterClient client, int nodes) {
    return client.order(nodes, 2);
  }

  private static String in(long millis) {
    return Times.rfc3339(CLOCK.millis() + millis);
  }

  private static JsonObject declared(ClusterClient client) {
    return client.state().getJsonObject("declared");
  }

  private static void untilLapsed(ClusterClient client) {
    until(
        "it has lapsed",
        () -> declared(client).getInteger("max_gpus") == 0 && client.allocations().isEmpty());
  }

  /** Returns the times from and until which each node is billed, in order. */
  private static List<long[]> billed(RunningBourse running, String cluster) {
    return await(
        running
            .database()
            .read(
                "SELECT active_at, reclaim_at FROM allocation WHERE cluster = ? AND active_at IS"
                    + " NOT NULL ORDER BY active_at, allocation_id",
                List.of(cluster),
                row -> new long[] {row.integer("active_at"), row.integer("reclaim_at")}));
  }

  /** Returns the micro-dollars billed for a cluster, posted and accrued. */
  private static long usageMicros(ClusterClient client, boolean isPosted) {
    return ClusterClient.objects(
            client.caller().get("/api/billing/usage").ok().getJsonArray("lines"))
        .stream()
        .filter(line -> line.getString("cluster").equals(client.cluster()))
        .filter(line -> !isPosted || line.getBoolean("posted"))
        .mapToLong(line -> line.getLong("amount_micros"))
        .sum();
  }

  /** Returns the cost at 1.00 of some node-milliseconds within one hour, rounded down once. */
  private static long micros(long nodeMillis) {
    return nodeMillis * ClusterClient.NODE * 100 / 360;
  }

  private static List<JsonObject> activity(ClusterClient client, String reason) {
    return client.activity().stream().filter(e -> reason.equals(e.getString("reason"))).toList();
  }

  @Test
  void atItsEndNodesGoAndNothingIsBilledForTheTimeAfter() {
    ClusterClient client = bourse.market().blueA();
    client.addKey();
    String end = in(HOUR / 4);
    JsonObject accepted = client.put(order(client, 2).put("until", end)).ok();
    assertEquals(end, accepted.getJsonObject("declared").getString("until"));
    client.untilHeld(2);
    JsonObject stale = order(client, 4);

    // The lapse is carried out five minutes late.
    CLOCK.step(HOUR / 4 + 5 * MINUTE);
    untilLapsed(client);

    JsonObject after = client.state();
    assertEquals(2L, after.getLong("version"), "it advances");
    JsonObject declared = after.getJsonObject("declared");
    assertEquals(2.0, declared.getDouble("max_price_per_gpu_hour"), "the ceiling stays");
    assertNull(declared.getValue("until"));
    assertEquals("system:market", declared.getString("updated_by"));
    client.put(stale).refused(ErrorCode.VERSION_MISMATCH);

    long until = Times.parse(end).orElseThrow();
    long nodeMillis = 0;
    for (long[] node : billed(bourse, client.cluster())) {
      assertEquals(until, node[1], "billing ends at the end, not when the lapse is carried out");
      nodeMillis += node[1] - node[0];
    }
    assertEquals(micros(nodeMillis), usageMicros(client, false), "not one micro-dollar more");
    long due = micros(nodeMillis);
    CLOCK.step(4 * HOUR);
    until("the hour is posted", () -> usageMicros(client, true) > 0);
    assertEquals(due, usageMicros(client, true), "nor in the ledger");
  }

  @Test
  void itsActivityTellsWhoAndWhy() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    client.put(order(client, 1).put("until", in(HOUR))).ok();
    String node = client.untilHeld(1).get(0);
    try (EventReader events = events(client)) {
      until("the state came", () -> !events.all().isEmpty());
      CLOCK.step(HOUR);
      untilLapsed(client);
      until(
          "the stream has the lapse",
          () ->
              events.of("reclaim").stream()
                  .anyMatch(
                      e ->
                          e.data().getString("reason").equals("lapsed")
                              && e.data().getString("public_ip").equals(node)));
      until(
          "and the state",
          () -> events.state().getJsonObject("declared").getInteger("max_gpus") == 0);
    }
    List<JsonObject> lapsed = activity(client, "lapsed");
    assertEquals(2, lapsed.size());
    JsonObject request = lapsed.get(1);
    assertEquals("request", request.getString("kind"));
    assertEquals("system", request.getString("who"));
    assertEquals("system:market", request.getString("actor"));
    assertEquals(0, request.getInteger("max_gpus"));
    assertEquals(2.0, request.getDouble("max_price_per_gpu_hour"));
    assertEquals("action", lapsed.get(0).getString("kind"));
    assertTrue(lapsed.get(0).getString("note").contains(node));
  }

  private static EventReader events(ClusterClient client) {
    return new EventReader(
        bourse.service().baseUrl(),
        bourse.secret(client.orgId(), "orgwide"),
        client.cluster(),
        null);
  }

  @Test
  void whoRenewsInTimeKeepsItsNodesAndWhoStopsLosesThem() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    client.put(order(client, 1).put("until", in(10 * MINUTE))).ok();
    List<String> held = client.untilHeld(1);
    for (int renewal = 0; renewal < 3; renewal++) {
      CLOCK.step(8 * MINUTE);
      client.put(order(client, 1).put("until", in(10 * MINUTE))).ok();
    }
    assertEquals(held, client.active());
    client.put(order(client, 1)).ok();
    assertEquals(held, client.active(), "a write without until keeps the end");
    CLOCK.step(10 * MINUTE);
    untilLapsed(client);
    client.declare(1, 2);
    client.untilHeld(1);
    assertNull(declared(client).getValue("until"), "a declaration after the lapse has no end");
  }

  @Test
  void aSpentBudgetEndsItAndIsNotPassed() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    JsonObject accepted = client.put(order(client, 2).put("max_spend_usd", 3.5)).ok();
    assertEquals(3.5, accepted.getJsonObject("declared").getDouble("max_spend_usd"));
    assertEquals(
        accepted.getJsonObject("declared").getString("updated_at"),
        accepted.getJsonObject("declared").getString("max_spend_since"));
    client.untilHeld(2);
    // Two nodes cost 16 dollars an hour: 4 for these minutes. This lapse is late, too.
    CLOCK.step(10 * MINUTE);
    client.put(order(client, 2)).ok();
    assertEquals(
        3.5,
        declared(client).getDouble("max_spend_usd"),
        "a write without a budget keeps the budget");
    CLOCK.step(5 * MINUTE);
    untilLapsed(client);
    assertEquals(3, activity(client, "spent").size());
    assertNull(declared(client).getValue("max_spend_usd"));
    long micros = usageMicros(client, false);
    long tick = micros(2 * TICK) * 2;
    assertTrue(micros <= 3_500_000 + tick, "spent " + micros);
    assertTrue(micros >= 2_600_000, "spent " + micros);
  }

  @Test
  void whatNoDeclarationCanBeUnderIsRefusedAtItsField() {
    ClusterClient client = bourse.market().redA();
    for (Object bad :
        List.of(in(-1_000), in(367 * 24 * HOUR), "tomorrow", "2026-06-15T12:00:00", "", 5)) {
      refusedAt(client, "until", bad);
    }
    for (Object bad : List.of(0, -1, 0.001, 12.345, "ten", 1_000_000_001L)) {
      refusedAt(client, "max_spend_usd", bad);
    }
    assertEquals(0L, client.version(), "nothing is written");
  }

  private static void refusedAt(ClusterClient client, String field, Object bad) {
    JsonObject order = client.order(0, 2).put(field, bad);
    JsonObject refusal = client.put(order).refused(ErrorCode.BAD_REQUEST);
    assertTrue(refusal.getString("detail").contains(field), refusal.encode());
    if (!"".equals(bad)) {
      assertTrue(
          refusal.getString("detail").contains(String.valueOf(bad)), bad + ": " + refusal.encode());
    }
  }

  @Test
  void aPreviewTellsTheWorstCaseAndSoDoesTheTool() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    JsonObject order = order(client, 2).put("until", in(HOUR)).put("max_spend_usd", 20);
    JsonObject preview = client.caller().post("/api/vm/capacity/preview", order).ok();
    assertEquals(20.0, preview.getDouble("worst_case_usd"));
    assertEquals(
        order.getString("until"),
        preview.getJsonObject("state").getJsonObject("declared").getString("until"));
    JsonObject endless = client.caller().post("/api/vm/capacity/preview", order(client, 2)).ok();
    assertNull(endless.getValue("worst_case_usd"));
    JsonObject atCeiling =
        client
            .caller()
            .post("/api/vm/capacity/preview", order(client, 2).put("until", in(HOUR)))
            .ok();
    assertEquals(32, atCeiling.getDouble("worst_case_usd"), 0.5);
  }

  @Test
  void aKubernetesBidLapsesToo() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    JsonObject bid =
        new JsonObject()
            .put("limit_price_per_gpu_hour", 2)
            .put("max_gpus", 8)
            .put("expected_version", 0);
    caller.put("/api/k8s/bid", bid.copy().put("until", in(-1))).refused(ErrorCode.BAD_REQUEST);
    JsonObject terms =
        caller
            .put("/api/k8s/bid", bid.put("until", in(HOUR)).put("max_spend_usd", 100))
            .ok()
            .getJsonObject("bid");
    assertEquals(bid.getString("until"), terms.getString("until"));
    assertEquals(100.0, terms.getDouble("max_spend_usd"));
    until("it holds one", () -> nodesActive(caller) == 1);
    CLOCK.step(HOUR);
    until("it has lapsed", () -> nodesActive(caller) == 0);
    JsonObject after = caller.get("/api/k8s/bid").ok();
    assertEquals(2L, after.getLong("version"));
    assertEquals(0, after.getJsonObject("bid").getInteger("max_gpus"));
    assertNull(after.getJsonObject("bid").getValue("until"));
  }

  private static int nodesActive(ApiClient caller) {
    return caller.get("/api/k8s/metrics").ok().getInteger("nodes_active");
  }

  /** Starts two services. */
  @Test
  void aMarketThatDidNotRunEndsItAtOnceWhenItRunsAgain() {
    SteppingClock clock = SteppingClock.midMonth();
    RunningBourse first = RunningBourse.withMarkets(1, clock, "billing.check-interval=100ms");
    TestMarket market = first.market();
    ClusterClient client = market.blueA();
    client.addKey();
    String end = Times.rfc3339(clock.millis() + HOUR / 4);
    client.put(client.order(2, 2).put("until", end)).ok();
    client.untilHeld(2);
    first.stop();
    clock.step(5 * HOUR);
    try (RunningBourse again = first.restarted()) {
      ClusterClient after = TestMarket.of(again, 1).blueA();
      untilLapsed(after);
      assertEquals(2L, after.version());
      long until = Times.parse(end).orElseThrow();
      long nodeMillis = 0;
      for (long[] node : billed(again, after.cluster())) {
        assertEquals(until, node[1]);
        nodeMillis += until - node[0];
      }
      long due = micros(nodeMillis);
      until("the hours since are posted", () -> usageMicros(after, true) > 0);
      assertEquals(due, usageMicros(after, false));
      assertEquals(due, usageMicros(after, true));
    }
  }

  @Test
  void anApplicationsBidIsForAWhile() {
    SteppingClock clock = SteppingClock.midMonth();
    try (RunningBourse demo = RunningBourse.demo(clock, "market.tick=50ms")) {
      ClusterClient client = new ClusterClient(demo.as("acme", "orgwide"), "acme", "acme-train");
      client.addKey();
      McpClient alice = McpClient.of(demo, "acme", "alice");
      String end = Times.rfc3339(clock.millis() + 10 * MINUTE);
      JsonObject arguments =
          McpClient.bid("acme-train", 8, 2.5).put("until", end).put("max_spend_usd", 40);
      JsonObject preview = alice.ok("bid_write", arguments);
      assertTrue(preview.getDouble("worst_case_usd") <= 3.34, preview.encode());
      JsonObject confirmed = alice.ok("bid_write", McpClient.confirm(arguments, preview));
      JsonObject declared = confirmed.getJsonObject("state").getJsonObject("declared");
      assertEquals(end, declared.getString("until"));
      assertEquals(40.0, declared.getDouble("max_spend_usd"));
      clock.step(10 * MINUTE);
      untilLapsed(client);
      assertEquals(confirmed.getLong("version") + 1, client.version());
    }
  }
}
