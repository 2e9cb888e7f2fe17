package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What becomes of organizations that have run out, stage by stage. */
@EachEngine
class BillingHoldApiTest {
  /** Services whose holds stay in grace, stay in notice, and go on to the end. */
  private static RunningBourse gracious;

  private static RunningBourse noticing;
  private static RunningBourse enforcing;
  private static RunningBourse recording;

  @BeforeAll
  static void start() {
    gracious = acting("billing.grace=1h", "billing.notice=1h");
    noticing = acting("billing.grace=0", "billing.notice=1h");
    enforcing = acting("billing.grace=0", "billing.notice=0");
    recording = RunningBourse.staged(3, "billing.check-interval=20ms", "billing.grace=0");
  }

  private static RunningBourse acting(String grace, String notice) {
    return RunningBourse.staged(
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

  private static @Nullable JsonObject hold(Desk desk) {
    return desk.state().getJsonObject("billing_hold");
  }

  private static boolean is(Desk desk, String state, @Nullable String stage, String reason) {
    JsonObject hold = hold(desk);
    return hold != null
        && state.equals(hold.getString("state"))
        && reason.equals(hold.getString("reason"))
        && (stage == null || stage.equals(hold.getString("stage")));
  }

  /** Takes all the organization has, so that what it uses leaves it short. */
  private static void ruin(Stage stage) {
    credit(stage, -1_000_000, "ruin");
  }

  private static void credit(Stage stage, int usd, String key) {
    HttpAnswer answer =
        stage
            .bourse()
            .operator()
            .post(
                "/api/operator/orgs/" + stage.blue() + "/billing/credits",
                new JsonObject().put("amount_usd", usd).put("idempotency_key", key));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
  }

  private static void pay(Stage stage) {
    assertEquals(
        201,
        stage
            .bourse()
            .operator()
            .post(
                "/api/operator/orgs/" + stage.blue() + "/billing/payments",
                new JsonObject().put("amount_usd", 50).put("idempotency_key", "p"))
            .status());
  }

  private static void limit(Stage stage, double usd) {
    stage
        .bourse()
        .operator()
        .put(
            "/api/operator/orgs/" + stage.blue() + "/billing/spend-limit",
            new JsonObject().put("limit_usd", usd))
        .ok();
  }

  /** A desk that holds a node and has no money, under a hold of this stage. */
  private static Desk held(Stage stage, String state, @Nullable String stageName) {
    Desk desk = stage.blueA();
    desk.hold(1, 2);
    ruin(stage);
    until("it is held", () -> is(desk, state, stageName, "balance"));
    return desk;
  }

  private static List<String> trail(Stage stage) {
    return stage.bourse().audit(stage.blue(), false).stream()
        .filter(row -> row.action().equals("billing_hold"))
        .map(row -> row.actor() + " " + row.detail())
        .toList();
  }

  @Test
  void aShortfallBeginsWithAGraceThatPausesNothing() {
    Stage stage = gracious.stage();
    Desk desk = held(stage, "grace", null);

    assertEquals(new JsonObject().put("state", "grace").put("reason", "balance"), hold(desk));
    desk.declare(2, 2);
    List<String> nodes = desk.untilHeld(2);
    desk.swap(nodes.get(0)).ok();
    assertEquals(List.of("system:billing state=grace reason=balance enforced=true"), trail(stage));
    assertTrue(
        desk.activity().stream()
            .anyMatch(e -> "billing hold grace because of balance".equals(e.getString("note"))));
  }

  @Test
  void aPaymentLiftsGraceAtOnce() {
    Stage stage = gracious.stage();
    Desk desk = held(stage, "grace", null);
    pay(stage);

    assertNull(hold(desk));
    assertEquals("system:billing state=none", trail(stage).get(1));
  }

  @Test
  void graceBecomesANoticeThatCountsDown() {
    Stage stage = noticing.stage();
    Desk desk = held(stage, "hold", "notice");

    HttpAnswer first = desk.caller().get("/api/vm/capacity?cluster=" + desk.cluster());
    long left = first.ok().getJsonObject("billing_hold").getLong("enforce_after_ms");
    assertTrue(left > 0 && left <= 3_600_000, "of an hour: " + left);
    until(
        "it counts down",
        () -> {
          JsonObject hold = hold(desk);
          return hold != null && hold.getLong("enforce_after_ms") < left;
        });
    HttpAnswer later = desk.caller().get("/api/vm/capacity?cluster=" + desk.cluster());
    assertNotEquals(first.header("etag"), later.header("etag"));
    assertEquals(
        List.of(
            "system:billing state=grace reason=balance enforced=true",
            "system:billing state=notice reason=balance enforced=true"),
        trail(stage));
    JsonObject told = stage.blue("orgwide").get("/api/billing/balance").ok().getJsonObject("hold");
    assertEquals("notice", told.getString("stage"));
    assertTrue(told.getBoolean("enforced"));
  }

  @Test
  void underNoticeARaiseIsAcceptedAndNotGranted() {
    Stage stage = noticing.stage();
    Desk desk = held(stage, "hold", "notice");
    JsonObject raised = desk.declare(3, 3);

    assertEquals(24, raised.getJsonObject("declared").getInteger("max_gpus"));
    untilTicked(stage);
    assertEquals(1, desk.allocations().size());
    assertEquals(2, desk.state().getInteger("pending"));
    pay(stage);
    desk.untilHeld(3);
  }

  /** Three clearings, one of which began after this call and has been carried out. */
  private static void untilTicked(Stage stage) {
    for (int i = 0; i < 3; i++) {
      String before = tick(stage);
      until("a tick", () -> !before.equals(tick(stage)));
    }
  }

  private static String tick(Stage stage) {
    return Desk.objects(stage.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(stage.name()))
        .findFirst()
        .orElseThrow()
        .getString("tick_at");
  }

  @Test
  void underNoticeSwapsAreRefused() {
    Desk desk = held(noticing.stage(), "hold", "notice");

    desk.swap(desk.active().get(0)).refused(ErrorCode.CLUSTER_GATED);
    desk.declare(0, 2);
    desk.untilHeld(0);
  }

  @Test
  void aPaymentLiftsANotice() {
    Stage stage = noticing.stage();
    Desk desk = held(stage, "hold", "notice");
    pay(stage);

    assertNull(hold(desk));
    desk.swap(desk.active().get(0)).ok();
  }

  /** The answer to the making of a cluster of blue's, and nothing after it. */
  private static JsonObject made(Stage stage, String name, String kind) {
    HttpAnswer made =
        stage
            .bourse()
            .operator()
            .post(
                "/api/operator/clusters",
                new JsonObject()
                    .put("name", name)
                    .put("org", stage.blue())
                    .put("pool", stage.name())
                    .put("kind", kind));
    assertEquals(201, made.status(), () -> String.valueOf(made.body()));
    return made.json();
  }

  @Test
  void aClusterMadeUnderAHoldIsUnderItFromTheStartAndGrantedNothing() {
    Stage stage = noticing.stage();
    held(stage, "hold", "notice");
    Desk later = new Desk(stage.blue("orgwide"), stage.blue(), stage.blue() + "-later");
    JsonObject first = made(stage, later.cluster(), "vm");
    assertEquals("notice", first.getJsonObject("billing_hold").getString("stage"));
    assertTrue(is(later, "hold", "notice", "balance"));
    assertTrue(
        later.activity().stream()
            .anyMatch(e -> "billing hold notice because of balance".equals(e.getString("note"))));

    String k8s = stage.blue() + "-pods";
    made(stage, k8s, "k8s");
    later.declare(1, 2);
    stage
        .blue("orgwide")
        .put(
            "/api/k8s/bid",
            new JsonObject()
                .put("cluster", k8s)
                .put("limit_price_per_gpu_hour", 2)
                .put("max_gpus", Desk.NODE)
                .put("expected_version", 0))
        .ok();
    untilTicked(stage);
    assertEquals(List.of(), later.allocations());
    assertEquals(
        0,
        stage.blue("orgwide").get("/api/k8s/metrics?cluster=" + k8s).ok().getInteger("nodes_held"));
    pay(stage);
    later.untilHeld(1);
  }

  @Test
  void anEnforcedHoldTakesEverythingAndLeavesTheDeclaration() {
    Stage stage = enforcing.stage();
    Desk desk = stage.blueA();
    desk.hold(2, 2);
    JsonObject declared = desk.state().getJsonObject("declared");
    ruin(stage);
    until("all is reclaimed", () -> desk.allocations().isEmpty());

    assertTrue(is(desk, "hold", "enforce", "balance"));
    JsonObject hold = hold(desk);
    assertEquals(0L, hold == null ? -1 : hold.getLong("enforce_after_ms"));
    for (String field : List.of("max_gpus", "max_price_per_gpu_hour", "updated_at")) {
      assertEquals(
          declared.getValue(field), desk.state().getJsonObject("declared").getValue(field));
    }
    assertEquals(
        2, desk.activity().stream().filter(e -> "hold".equals(e.getString("reason"))).count());
    assertEquals(
        List.of("grace", "notice", "enforce"),
        trail(stage).stream().map(t -> t.replaceAll(".*state=(\\w+).*", "$1")).toList());
  }

  @Test
  void aPaymentLiftsAnEnforcedHoldAndTheNodesComeBack() {
    Stage stage = enforcing.stage();
    Desk desk = stage.blueA();
    desk.hold(2, 2);
    ruin(stage);
    until("all is reclaimed", () -> desk.allocations().isEmpty());
    pay(stage);

    assertNull(hold(desk));
    desk.untilHeld(2);
  }

  @Test
  void reachingTheSpendLimitIsAReasonAndARaisedLimitLiftsIt() {
    Stage stage = noticing.stage();
    Desk desk = stage.blueA();
    desk.hold(1, 2);
    limit(stage, 0);
    until("it is held", () -> is(desk, "hold", "notice", "spend-limit"));
    limit(stage, 1_000);

    assertNull(hold(desk));
  }

  @Test
  void whatTheSpendLimitCannotPayForIsNotBidFor() {
    Stage stage = gracious.stage();
    // A node is protected for an hour: 8 GPUs at $2.00 commit $16.
    limit(stage, 40);
    Desk desk = stage.blueA();
    desk.addKey();
    desk.declare(4, 2);
    until("two are active", () -> desk.active().size() == 2);
    untilTicked(stage);

    assertEquals(2, desk.allocations().size());
    assertEquals(2, desk.state().getInteger("pending"));
    assertFalse(desk.state().getJsonObject("declared").getBoolean("bid_too_low"));
    JsonObject balance = stage.blue("orgwide").get("/api/billing/balance").ok();
    assertTrue(balance.getLong("committed_micros") > 31_000_000, balance.encode());
    assertTrue(balance.getLong("spend_limit_remaining_micros") < 16_000_000, balance.encode());
    limit(stage, 1_000);
    desk.untilHeld(4);
  }

  @Test
  void aPreviewKeepsToWhatMayBeSpent() {
    Stage stage = gracious.stage();
    limit(stage, 40);
    Desk desk = stage.blueA();
    desk.addKey();
    JsonObject first = preview(desk, 4, 2);

    assertEquals(2, first.getInteger("nodes_won"), "$16 each");
    assertEquals(2, first.getInteger("nodes_unfilled"));
    assertEquals(16.0, first.getDouble("cost_per_hour"), "two nodes at the reserve price");
    desk.declare(2, 2);
    desk.untilHeld(2);
    assertEquals(0, preview(desk, 3, 2).getInteger("nodes_won"), "what is held is committed");
    // A lower ceiling gives the protection up, and with it what was committed.
    assertEquals(2, preview(desk, 4, 1).getInteger("nodes_won"));
  }

  private static JsonObject preview(Desk desk, int nodes, double price) {
    return desk.caller().post("/api/vm/capacity/preview", desk.order(nodes, price)).ok();
  }

  @Test
  void whileTheSwitchIsOffItIsRecordedAndNotActedUpon() {
    Stage stage = recording.stage();
    Desk desk = stage.blueA();
    desk.hold(1, 2);
    ruin(stage);
    until("it is recorded", () -> !trail(stage).isEmpty());

    assertEquals(List.of("system:billing state=grace reason=balance enforced=false"), trail(stage));
    assertNull(hold(desk));
    assertFalse(desk.state().getBoolean("billing_hold_enforced"));
    JsonObject told = stage.blue("orgwide").get("/api/billing/balance").ok().getJsonObject("hold");
    assertEquals("grace", told.getString("stage"));
    assertFalse(told.getBoolean("enforced"));
    limit(stage, 0);
    desk.declare(2, 2);
    desk.untilHeld(2);
  }
}
