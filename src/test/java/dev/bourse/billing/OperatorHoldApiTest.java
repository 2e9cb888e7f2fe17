package dev.bourse.billing;

import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An operator's hold, independent of the organization's balance. */
@ReplayedOnPostgres
class OperatorHoldApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    // Hold checks run continuously during the test.
    bourse =
        RunningBourse.withMarkets(
            14,
            SteppingClock.midMonth(),
            "billing.check-interval=20ms",
            "billing.hold-enforced=true",
            "billing.grace=0",
            "billing.notice=1h");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(String org) {
    return "/api/operator/orgs/" + org + "/hold";
  }

  private static HttpAnswer hold(TestMarket market, String stage) {
    return market
        .bourse()
        .operator()
        .put(path(market.red()), new JsonObject().put("stage", stage).put("reason", "stolen card"));
  }

  private static JsonObject lift(TestMarket market) {
    return bourse.operator().delete(path(market.red())).ok();
  }

  private static @Nullable JsonObject shown(ClusterClient client) {
    return client.state().getJsonObject("billing_hold");
  }

  private static boolean is(ClusterClient client, String stage, String reason) {
    JsonObject hold = shown(client);
    return hold != null
        && stage.equals(hold.getString("stage"))
        && reason.equals(hold.getString("reason"));
  }

  private static void credit(TestMarket market, int usd, String key) {
    HttpAnswer answer =
        bourse
            .operator()
            .post(
                "/api/operator/orgs/" + market.red() + "/billing/credits",
                new JsonObject().put("amount_usd", usd).put("idempotency_key", key));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
  }

  private static void someTicks(TestMarket market) {
    for (int tick = 0; tick < 3; tick++) {
      String before = tickAt(market);
      until("a tick", () -> !Objects.equals(before, tickAt(market)));
    }
  }

  private static String tickAt(TestMarket market) {
    return market
        .red("bare")
        .get("/api/market/depth?pool=" + market.name())
        .ok()
        .getString("tick_at");
  }

  private static List<String> trail(TestMarket market) {
    return bourse.audit(market.red(), false).stream()
        .filter(row -> row.action().startsWith("org_hold"))
        .map(AuditRow::action)
        .toList();
  }

  @Test
  void inNoticeNothingIsGrantedAndWhatIsHeldStaysUntilItIsLifted() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    String node = red.hold(1, 2).get(0);
    hold(market, "notice").ok();
    assertTrue(is(red, "notice", "operator"), "at once: " + shown(red));
    assertEquals(0, Objects.requireNonNull(shown(red)).getInteger("enforce_after_ms"));
    red.declare(2, 2);
    red.swap(node).refused(ErrorCode.CLUSTER_GATED);
    credit(market, 500, "paid");
    someTicks(market);
    assertEquals(List.of(node), red.active());
    assertTrue(is(red, "notice", "operator"), "neither a round nor a payment lifts it");
    lift(market);
    assertNull(shown(red));
    red.untilHeld(2);
  }

  @Test
  void inEnforceAllNodesAreTakenOnceTheMarketGoesOn() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(2, 2);
    JsonObject pause = new JsonObject().put("paused", true).put("pause_reason", "cables");
    bourse.operator().patch("/api/operator/pools/" + market.name(), pause).ok();
    someTicks(market);
    hold(market, "enforce").ok();
    someTicks(market);
    assertEquals(2, red.active().size());
    JsonObject goesOn = new JsonObject().put("paused", false);
    bourse.operator().patch("/api/operator/pools/" + market.name(), goesOn).ok();
    red.untilHeld(0);
    assertTrue(red.activity().stream().anyMatch(entry -> "hold".equals(entry.getString("reason"))));
  }

  @Test
  void itAndAHoldForMoneyStandBesideEachOther() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(1, 2);
    hold(market, "notice").ok();
    credit(market, -2_000_000, "ruin");
    until("it is held for its money too", () -> is(red, "notice", "balance"));
    lift(market);
    someTicks(market);
    assertTrue(is(red, "notice", "balance"), "its balance still holds it");
    hold(market, "enforce").ok();
    assertTrue(is(red, "enforce", "operator"), "the deeper of both");
    credit(market, 4_000_000, "rescue");
    someTicks(market);
    assertTrue(is(red, "enforce", "operator"), "no payment lifts it");
    lift(market);
    until("nothing holds it", () -> shown(red) == null);
  }

  @Test
  void itIsShownToOperatorsAndToTheOrganizationAndIsInItsTrail() {
    TestMarket market = bourse.market();
    JsonObject first = hold(market, "notice").ok().getJsonObject("operator_hold");
    assertEquals("stolen card", first.getString("reason"));
    assertEquals("notice", first.getString("stage"));
    assertEquals(first, hold(market, "notice").ok().getJsonObject("operator_hold"));
    assertEquals(List.of("org_hold"), trail(market));
    String org = "/api/operator/orgs/" + market.red();
    assertEquals(first, bourse.operator().get(org).ok().getJsonObject("operator_hold"));
    assertEquals(
        first, bourse.operator().get(org + "/billing").ok().getJsonObject("operator_hold"));
    assertEquals(
        first,
        market.red("orgwide").get("/api/billing/balance").ok().getJsonObject("operator_hold"));
    assertTrue(
        bourse
                .operator()
                .get("/api/operator/status")
                .ok()
                .getJsonObject("holds")
                .getInteger("by_operators")
            >= 1);
    assertNull(lift(market).getValue("operator_hold"));
    assertNull(lift(market).getValue("operator_hold"));
    assertEquals(2, trail(market).size());
    assertTrue(trail(market).contains("org_hold_lift"));
  }

  @Test
  void aClusterMadeMeanwhileIsUnderItFromTheStart() {
    TestMarket market = bourse.market();
    hold(market, "notice").ok();
    JsonObject cluster =
        new JsonObject()
            .put("name", market.red() + "-new")
            .put("org", market.red())
            .put("pool", market.name());
    HttpAnswer made = bourse.operator().post("/api/operator/clusters", cluster);
    assertEquals(201, made.status());
    assertEquals("operator", made.json().getJsonObject("billing_hold").getString("reason"));
  }

  @Test
  void aProcessThatDiesBeforeClustersHeardOfItPutsItOnThemAtItsNextStart() {
    try (RunningBourse first = RunningBourse.withMarkets(1)) {
      TestMarket market = first.market();
      await(
          first
              .database()
              .commit(
                  List.of(
                      Statement.of(
                          "INSERT INTO billing_org (org_id) VALUES (?)"
                              + " ON CONFLICT (org_id) DO NOTHING",
                          market.red()),
                      Statement.of(
                          "UPDATE billing_org SET operator_hold_stage = 'NOTICE',"
                              + " operator_hold_since = 5, operator_hold_reason = 'r',"
                              + " operator_hold_by = 'operator:o' WHERE org_id = ?",
                          market.red()))));
      RunningBourse second = first.restarted();
      try {
        ClusterClient red =
            new ClusterClient(
                second.with(first.secret(market.red(), "orgwide")),
                market.red(),
                market.red() + "-a");
        assertTrue(is(red, "notice", "operator"), "shown: " + shown(red));
      } finally {
        second.stop();
      }
    }
  }

  @Test
  void whatIsNotThereOrNotSoIsRefused() {
    TestMarket market = bourse.market();
    JsonObject why = new JsonObject().put("reason", "r");
    bourse.operator().put(path("nobody"), why).refused(ErrorCode.NOT_FOUND);
    bourse.operator().delete(path("nobody")).refused(ErrorCode.NOT_FOUND);
    refused(bourse.operator().put(path(market.red()), new JsonObject()), "reason");
    refused(bourse.operator().put(path(market.red()), why.copy().put("stage", "grace")), "stage");
    assertEquals("notice", stage(bourse.operator().put(path(market.red()), why).ok()));
    bourse.operator().delete("/api/operator/orgs/" + market.blue()).ok();
    assertEquals(
        "retired",
        bourse
            .operator()
            .put(path(market.blue()), why)
            .refused(ErrorCode.CONFLICT)
            .getString("reason"));
  }

  private static String stage(JsonObject billing) {
    return assertPresent(billing.getJsonObject("operator_hold")).getString("stage");
  }

  private static JsonObject assertPresent(@Nullable JsonObject found) {
    assertNotNull(found);
    return found;
  }

  private static List<JsonObject> listed(String query) {
    return bourse
        .operator()
        .get("/api/operator/orgs?limit=500&held=" + query)
        .ok()
        .getJsonArray("orgs")
        .stream()
        .map(JsonObject.class::cast)
        .toList();
  }

  private static Optional<JsonObject> listed(TestMarket market, String held) {
    return listed(held).stream()
        .filter(org -> org.getString("org_id").equals(market.red()))
        .findFirst();
  }

  @Test
  void thoseHeldByHandAreListedUntilTheyAreLifted() {
    TestMarket market = bourse.market();
    assertEquals(Optional.empty(), listed(market, "operator"));
    hold(market, "enforce").ok();
    JsonObject org = listed(market, "operator").orElseThrow();
    assertEquals("enforce", org.getJsonObject("operator_hold").getString("stage"));
    assertEquals("stolen card", org.getJsonObject("operator_hold").getString("reason"));
    assertTrue(org.containsKey("hold"), org.encode());
    assertNull(org.getValue("hold"));
    assertEquals(Optional.empty(), listed(market, "money"));
    String status = AdminRun.on(bourse, "status").out();
    assertTrue(status.contains("bourse admin orgs list --held operator"), status);
    lift(market);
    assertEquals(Optional.empty(), listed(market, "operator"));
  }

  @Test
  void thoseHeldForMoneyAreListedWithTheirStage() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 2);
    credit(market, -1_000_000, "ruin");
    until("it is held", () -> listed(market, "money").isPresent());
    JsonObject org = listed(market, "money").orElseThrow();
    assertEquals("balance", org.getJsonObject("hold").getString("reason"));
    assertNull(org.getValue("operator_hold"));
    credit(market, 2_000_000, "pays");
    assertEquals(Optional.empty(), listed(market, "money"));
  }

  @Test
  void whoIsHeldForBothIsInBothListsWithBoth() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 2);
    credit(market, -1_000_000, "ruin");
    until("it is held", () -> listed(market, "money").isPresent());
    hold(market, "enforce").ok();
    for (String list : List.of("money", "operator")) {
      JsonObject org = listed(market, list).orElseThrow();
      assertEquals("balance", org.getJsonObject("hold").getString("reason"), list);
      assertEquals("enforce", org.getJsonObject("operator_hold").getString("stage"), list);
    }
    lift(market);
    assertEquals(Optional.empty(), listed(market, "operator"));
    assertTrue(listed(market, "money").isPresent());
  }

  @Test
  void thoseHeldAreListedAPageAtATime() {
    TestMarket first = bourse.market();
    TestMarket second = bourse.market();
    hold(first, "notice").ok();
    hold(second, "notice").ok();
    List<String> all = listed("operator").stream().map(org -> org.getString("org_id")).toList();
    assertEquals(all.stream().sorted().toList(), all);
    List<String> paged = new ArrayList<>();
    String path = "/api/operator/orgs?held=operator&limit=1";
    JsonObject page = bourse.operator().get(path).ok();
    while (true) {
      page.getJsonArray("orgs").forEach(org -> paged.add(((JsonObject) org).getString("org_id")));
      if (!page.getBoolean("more")) {
        break;
      }
      page = bourse.operator().get(path + "&after=" + page.getString("next")).ok();
    }
    assertEquals(all, paged);
    assertTrue(all.containsAll(List.of(first.red(), second.red())), all.toString());
    lift(first);
    lift(second);
  }

  @Test
  void nothingElseHolds() {
    assertEquals(422, bourse.operator().get("/api/operator/orgs?held=everybody").status());
  }
}
