package dev.bourse.billing;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Organizations without money, each in a market of its own. */
@ReplayedOnPostgres
class BillingHoldApiTest {
  /** Services whose holds stay in grace, stay in notice, and run through all stages. */
  private static RunningBourse gracious;

  private static RunningBourse noticing;
  private static RunningBourse enforcing;
  private static RunningBourse recording;

  @BeforeAll
  static void start() {
    gracious = acting("billing.grace=1h", "billing.notice=1h");
    noticing = acting("billing.grace=0", "billing.notice=1h");
    enforcing = acting("billing.grace=0", "billing.notice=0");
    recording = RunningBourse.withMarkets(3, "billing.check-interval=20ms", "billing.grace=0");
  }

  private static RunningBourse acting(String grace, String notice) {
    return RunningBourse.withMarkets(
        7,
        SteppingClock.midMonth(),
        "billing.check-interval=20ms",
        "billing.hold-enforced=true",
        "billing.spend-limit-enforced=true",
        grace,
        notice);
  }

  @AfterAll
  static void stop() {
    for (RunningBourse bourse : List.of(gracious, noticing, enforcing, recording)) {
      bourse.close();
    }
  }

  private static @Nullable JsonObject hold(ClusterClient client) {
    return client.state().getJsonObject("billing_hold");
  }

  private static boolean is(
      ClusterClient client, String state, @Nullable String market, String reason) {
    JsonObject hold = hold(client);
    return hold != null
        && state.equals(hold.getString("state"))
        && reason.equals(hold.getString("reason"))
        && (market == null || market.equals(hold.getString("stage")));
  }

  /** Takes all of the organization's money, so that any usage causes a shortfall. */
  private static void ruin(TestMarket market) {
    credit(market, -1_000_000, "ruin");
  }

  private static void credit(TestMarket market, int usd, String key) {
    HttpAnswer answer =
        market
            .bourse()
            .operator()
            .post(
                "/api/operator/orgs/" + market.blue() + "/billing/credits",
                new JsonObject().put("amount_usd", usd).put("idempotency_key", key));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
  }

  private static void pay(TestMarket market) {
    assertEquals(
        201,
        market
            .bourse()
            .operator()
            .post(
                "/api/operator/orgs/" + market.blue() + "/billing/payments",
                new JsonObject().put("amount_usd", 50).put("idempotency_key", "p"))
            .status());
  }

  private static void limit(TestMarket market, double usd) {
    market
        .bourse()
        .operator()
        .put(
            "/api/operator/orgs/" + market.blue() + "/billing/spend-limit",
            new JsonObject().put("limit_usd", usd))
        .ok();
  }

  /**
   * Returns a client of a cluster that holds a node, without money, under a hold of this market.
   */
  private static ClusterClient held(TestMarket market, String state, @Nullable String stageName) {
    ClusterClient client = market.blueA();
    client.hold(1, 2);
    ruin(market);
    until("it is held", () -> is(client, state, stageName, "balance"));
    return client;
  }

  private static List<String> trail(TestMarket market) {
    return market.bourse().audit(market.blue(), false).stream()
        .filter(row -> row.action().equals("billing_hold"))
        .map(row -> row.actor() + " " + row.detail())
        .toList();
  }

  @Test
  void aShortfallBeginsWithAGraceThatPausesNothing() {
    TestMarket market = gracious.market();
    ClusterClient client = held(market, "grace", null);

    assertEquals(new JsonObject().put("state", "grace").put("reason", "balance"), hold(client));
    client.declare(2, 2);
    List<String> nodes = client.untilHeld(2);
    client.swap(nodes.get(0)).ok();
    assertEquals(List.of("system:billing state=grace reason=balance enforced=true"), trail(market));
    assertTrue(
        client.activity().stream()
            .anyMatch(e -> "billing hold grace because of balance".equals(e.getString("note"))));
  }

  @Test
  void graceBecomesANoticeThatCountsDown() {
    TestMarket market = noticing.market();
    ClusterClient client = held(market, "hold", "notice");

    HttpAnswer first = client.caller().get("/api/vm/capacity?cluster=" + client.cluster());
    long left = first.ok().getJsonObject("billing_hold").getLong("enforce_after_ms");
    assertTrue(left > 0 && left <= 3_600_000, "of an hour: " + left);
    until(
        "it counts down",
        () -> {
          JsonObject hold = hold(client);
          return hold != null && hold.getLong("enforce_after_ms") < left;
        });
    HttpAnswer later = client.caller().get("/api/vm/capacity?cluster=" + client.cluster());
    assertNotEquals(first.header("etag"), later.header("etag"));
    assertEquals(
        List.of(
            "system:billing state=grace reason=balance enforced=true",
            "system:billing state=notice reason=balance enforced=true"),
        trail(market));
    JsonObject told = market.blue("orgwide").get("/api/billing/balance").ok().getJsonObject("hold");
    assertEquals("notice", told.getString("stage"));
    assertTrue(told.getBoolean("enforced"));
  }

  @Test
  void underNoticeARaiseIsAcceptedAndNotGranted() {
    TestMarket market = noticing.market();
    ClusterClient client = held(market, "hold", "notice");
    JsonObject raised = client.declare(3, 3);

    assertEquals(24, raised.getJsonObject("declared").getInteger("max_gpus"));
    untilTicked(market);
    assertEquals(1, client.allocations().size());
    assertEquals(2, client.state().getInteger("pending"));
    pay(market);
    client.untilHeld(3);
  }

  /** Waits for three clearings, one of which began after this call and is complete. */
  private static void untilTicked(TestMarket market) {
    for (int i = 0; i < 3; i++) {
      String before = tick(market);
      until("a tick", () -> !before.equals(tick(market)));
    }
  }

  private static String tick(TestMarket market) {
    return ClusterClient.objects(
            market.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(market.name()))
        .findFirst()
        .orElseThrow()
        .getString("tick_at");
  }

  /** Returns the answer to the creation of one of blue's clusters. */
  private static JsonObject made(TestMarket market, String name, String kind) {
    HttpAnswer made =
        market
            .bourse()
            .operator()
            .post(
                "/api/operator/clusters",
                new JsonObject()
                    .put("name", name)
                    .put("org", market.blue())
                    .put("pool", market.name())
                    .put("kind", kind));
    assertEquals(201, made.status(), () -> String.valueOf(made.body()));
    return made.json();
  }

  @Test
  void aClusterMadeUnderAHoldIsUnderItFromTheStartAndGrantedNothing() {
    TestMarket market = noticing.market();
    held(market, "hold", "notice");
    ClusterClient later =
        new ClusterClient(market.blue("orgwide"), market.blue(), market.blue() + "-later");
    JsonObject first = made(market, later.cluster(), "vm");
    assertEquals("notice", first.getJsonObject("billing_hold").getString("stage"));
    assertTrue(is(later, "hold", "notice", "balance"));
    assertTrue(
        later.activity().stream()
            .anyMatch(e -> "billing hold notice because of balance".equals(e.getString("note"))));

    String k8s = market.blue() + "-pods";
    made(market, k8s, "k8s");
    later.declare(1, 2);
    market
        .blue("orgwide")
        .put(
            "/api/k8s/bid",
            new JsonObject()
                .put("cluster", k8s)
                .put("limit_price_per_gpu_hour", 2)
                .put("max_gpus", ClusterClient.NODE)
                .put("expected_version", 0))
        .ok();
    untilTicked(market);
    assertEquals(List.of(), later.allocations());
    assertEquals(
        0,
        market
            .blue("orgwide")
            .get("/api/k8s/metrics?cluster=" + k8s)
            .ok()
            .getInteger("nodes_held"));
    pay(market);
    later.untilHeld(1);
  }

  @Test
  void anEnforcedHoldTakesEverythingAndLeavesTheDeclaration() {
    TestMarket market = enforcing.market();
    ClusterClient client = market.blueA();
    client.hold(2, 2);
    JsonObject declared = client.state().getJsonObject("declared");
    ruin(market);
    until("all is reclaimed", () -> client.allocations().isEmpty());

    assertTrue(is(client, "hold", "enforce", "balance"));
    JsonObject hold = hold(client);
    assertEquals(0L, hold == null ? -1 : hold.getLong("enforce_after_ms"));
    for (String field : List.of("max_gpus", "max_price_per_gpu_hour", "updated_at")) {
      assertEquals(
          declared.getValue(field), client.state().getJsonObject("declared").getValue(field));
    }
    assertEquals(
        2, client.activity().stream().filter(e -> "hold".equals(e.getString("reason"))).count());
    assertEquals(
        List.of("grace", "notice", "enforce"),
        trail(market).stream().map(t -> t.replaceAll(".*state=(\\w+).*", "$1")).toList());
  }

  @Test
  void aPaymentLiftsAnEnforcedHoldAndTheNodesComeBack() {
    TestMarket market = enforcing.market();
    ClusterClient client = market.blueA();
    client.hold(2, 2);
    ruin(market);
    until("all is reclaimed", () -> client.allocations().isEmpty());
    pay(market);

    assertNull(hold(client));
    client.untilHeld(2);
  }

  @Test
  void reachingTheSpendLimitIsAReasonAndARaisedLimitLiftsIt() {
    TestMarket market = noticing.market();
    ClusterClient client = market.blueA();
    client.hold(1, 2);
    limit(market, 0);
    until("it is held", () -> is(client, "hold", "notice", "spend-limit"));
    limit(market, 1_000);

    assertNull(hold(client));
  }

  @Test
  void aPreviewKeepsToWhatMayBeSpent() {
    TestMarket market = gracious.market();
    limit(market, 40);
    ClusterClient client = market.blueA();
    client.addKey();
    JsonObject first = preview(client, 4, 2);

    assertEquals(2, first.getInteger("nodes_won"), "$16 each");
    assertEquals(2, first.getInteger("nodes_unfilled"));
    assertEquals(16.0, first.getDouble("cost_per_hour"), "two nodes at the reserve price");
    client.declare(2, 2);
    client.untilHeld(2);
    assertEquals(0, preview(client, 3, 2).getInteger("nodes_won"), "what is held is committed");
    // A lower ceiling ends the protection, and with it the commitment.
    assertEquals(2, preview(client, 4, 1).getInteger("nodes_won"));
  }

  private static JsonObject preview(ClusterClient client, int nodes, double price) {
    return client.caller().post("/api/vm/capacity/preview", client.order(nodes, price)).ok();
  }

  @Test
  void whileTheSwitchIsOffItIsRecordedAndNotActedUpon() {
    TestMarket market = recording.market();
    ClusterClient client = market.blueA();
    client.hold(1, 2);
    ruin(market);
    until("it is recorded", () -> !trail(market).isEmpty());

    assertEquals(
        List.of("system:billing state=grace reason=balance enforced=false"), trail(market));
    assertNull(hold(client));
    assertFalse(client.state().getBoolean("billing_hold_enforced"));
    JsonObject told = market.blue("orgwide").get("/api/billing/balance").ok().getJsonObject("hold");
    assertEquals("grace", told.getString("stage"));
    assertFalse(told.getBoolean("enforced"));
    limit(market, 0);
    client.declare(2, 2);
    client.untilHeld(2);
  }
}
