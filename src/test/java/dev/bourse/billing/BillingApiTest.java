package dev.bourse.billing;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Reads of an organization's money, and operators' bookings. */
@ReplayedOnPostgres
class BillingApiTest {
  private static final long HOUR = 3_600_000;
  private static final long DOLLAR = 1_000_000;

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(9, SteppingClock.midMonth());
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject balance(ApiClient caller) {
    return caller.get("/api/billing/balance").ok();
  }

  private static JsonObject money(double usd, String key) {
    return new JsonObject().put("amount_usd", usd).put("idempotency_key", key).put("memo", "m");
  }

  private static String billing(String orgId, String what) {
    return "/api/operator/orgs/" + orgId + "/billing" + what;
  }

  @Test
  void anOrganizationBeginsWithTheCreditItsWorldGivesIt() {
    JsonObject balance = balance(bourse.market().blue("orgwide"));

    assertEquals(1_000_000 * DOLLAR, balance.getLong("balance_micros"));
    assertEquals(0, balance.getLong("month_usage_micros"));
    assertNull(balance.getValue("spend_limit_micros"));
    assertNull(balance.getValue("hold"));
  }

  @Test
  void usageCountsInTheBalanceAtOnce() {
    ClusterClient client = bourse.market().blueA();
    client.hold(1, 2);
    until("it costs", () -> balance(client.caller()).getLong("accrued_micros") > 0);
    JsonObject balance = balance(client.caller());
    assertEquals(
        balance.getLong("posted_micros") - balance.getLong("accrued_micros"),
        balance.getLong("balance_micros"));
    assertEquals(balance.getLong("accrued_micros"), balance.getLong("month_usage_micros"));
    assertTrue(balance.getLong("committed_micros") > 0, "the node is protected");
  }

  @Test
  void aBookingIsBookedOncePerKey() {
    String org = bourse.market().blue();
    HttpAnswer first = operator.post(billing(org, "/payments"), money(10.5, "invoice-1"));
    assertEquals(201, first.status(), () -> String.valueOf(first.body()));
    assertEquals(10_500_000, first.json().getLong("amount_micros"));
    assertEquals(1_000_010_500_000L, first.json().getLong("balance_micros"));
    JsonObject again = operator.post(billing(org, "/payments"), money(10.5, "invoice-1")).ok();
    assertEquals(first.json(), again);
    JsonObject other =
        operator
            .post(billing(org, "/payments"), money(11, "invoice-1"))
            .refused(ErrorCode.CONFLICT);
    assertEquals("exists", other.getString("reason"));
    assertEquals(201, operator.post(billing(org, "/credits"), money(1, "invoice-1")).status());
  }

  @Test
  void aNegativeCreditTakesOneBack() {
    String org = bourse.market().blue();
    assertEquals(
        "credit", operator.post(billing(org, "/credits"), money(5, "a")).json().getString("kind"));
    JsonObject back = operator.post(billing(org, "/credits"), money(-5, "b")).json();
    assertEquals("adjustment", back.getString("kind"));
    assertEquals(1_000_000 * DOLLAR, back.getLong("balance_micros"));
    operator.post(billing(org, "/payments"), money(-5, "c")).refused(ErrorCode.BAD_REQUEST);
    operator.post(billing(org, "/credits"), money(0, "c")).refused(ErrorCode.BAD_REQUEST);
    operator.post(billing(org, "/credits"), money(0.001, "c")).refused(ErrorCode.BAD_REQUEST);
    operator.post(billing("nobody", "/credits"), money(1, "c")).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void whatOperatorsDoIsInTheOrganizationsTrail() {
    String org = bourse.market().blue();
    operator.post(billing(org, "/credits"), money(5, "a"));
    operator.post(billing(org, "/payments"), money(6, "b"));
    operator.post(billing(org, "/credits"), money(-1, "c"));
    operator.put(billing(org, "/spend-limit"), new JsonObject().put("limit_usd", 7)).ok();
    operator.delete(billing(org, "/spend-limit")).ok();
    assertEquals(
        List.of(
            "billing_credit amount_micros=5000000 idempotency_key=a",
            "billing_payment amount_micros=6000000 idempotency_key=b",
            "billing_adjustment amount_micros=-1000000 idempotency_key=c",
            "spend_limit_set limit_micros=7000000",
            "spend_limit_clear "),
        bourse.audit(org, false).stream().map(row -> row.action() + " " + row.detail()).toList());
    AuditRow row = bourse.audit(org, false).get(0);
    assertEquals(List.of("operator:first", org), List.of(row.actor(), row.subject()));
  }

  @Test
  void theLedgerTellsEveryMovementPageByPage() {
    TestMarket market = bourse.market();
    for (int i = 0; i < 3; i++) {
      operator.post(billing(market.blue(), "/payments"), money(i + 1, "k" + i));
    }
    JsonObject first = market.blue("orgwide").get("/api/billing/ledger?limit=3").ok();
    assertTrue(first.getBoolean("more"));
    List<JsonObject> page = ClusterClient.objects(first.getJsonArray("transactions"));
    assertEquals(
        List.of(3_000_000L, 2_000_000L, 1_000_000L),
        page.stream().map(t -> t.getLong("amount_micros")).toList());
    JsonObject rest =
        market.blue("orgwide").get("/api/billing/ledger?before=" + page.get(2).getLong("id")).ok();
    assertFalse(rest.getBoolean("more"));
    assertEquals(1, rest.getJsonArray("transactions").size());
    JsonObject seeded = rest.getJsonArray("transactions").getJsonObject(0);
    assertEquals("credit", seeded.getString("kind"));
    assertEquals("initial credit", seeded.getString("memo"));
  }

  @Test
  void badInputIsNamed() {
    ApiClient caller = bourse.market().blue("orgwide");
    for (String bad :
        List.of(
            "usage?from=yesterday",
            "usage?to=2026-13-01T00:00:00Z",
            "usage?after=x",
            "usage?limit=501",
            "usage/working?cluster=c&hour=now",
            "statements/2026-13",
            "ledger?before=0")) {
      caller.get("/api/billing/" + bad).refused(ErrorCode.BAD_REQUEST);
    }
    caller.get("/api/billing/statements/2020-01").refused(ErrorCode.NOT_FOUND);
    caller.get("/api/billing/statements/2999-01").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aLineIsWhatItsHistorySays() {
    ClusterClient client = bourse.market().blueA();
    client.hold(2, 2);
    String cluster = client.cluster();
    until("it costs", () -> !lines(client.caller(), "?cluster=" + cluster).isEmpty());
    client.declare(0, 2);
    client.untilHeld(0);
    long gpuMillis = 0;
    for (JsonObject line : lines(client.caller(), "?cluster=" + cluster)) {
      JsonObject working =
          client
              .caller()
              .get(
                  "/api/billing/usage/working?cluster="
                      + cluster
                      + "&hour="
                      + line.getString("hour"))
              .ok();
      long sum = 0;
      for (JsonObject span : ClusterClient.objects(working.getJsonArray("spans"))) {
        long millis =
            Times.parse(span.getString("to")).getAsLong()
                - Times.parse(span.getString("from")).getAsLong();
        double rate =
            Math.min(
                span.getDouble("clearing_price_per_gpu_hour"),
                span.getDouble("max_price_per_gpu_hour"));
        sum += Math.round(rate * 100) * span.getLong("gpus") * millis;
        gpuMillis += span.getLong("gpus") * millis;
      }
      assertEquals(sum, line.getLong("cent_gpu_millis"));
      assertEquals(sum / 360, line.getLong("amount_micros"));
    }
    // The price in every bucket of the history is the reserve price of $1.00, which a GPU-hour
    // costs.
    JsonArray prices =
        client
            .caller()
            .get("/api/vm/history?hours=0.5&cluster=" + cluster)
            .ok()
            .getJsonArray("price");
    for (Object price : prices) {
      assertTrue(price == null || ((Number) price).doubleValue() == 8.0, prices.encode());
    }
    long micros =
        lines(client.caller(), "?cluster=" + cluster).stream()
            .mapToLong(line -> line.getLong("amount_micros"))
            .sum();
    assertTrue(Math.abs(micros - gpuMillis * 100 / 360) <= 1, "rounded once per line");
  }

  private static List<JsonObject> lines(ApiClient caller, String query) {
    return ClusterClient.objects(
        caller.get("/api/billing/usage" + query).ok().getJsonArray("lines"));
  }

  /** Inserts a past without running it: a node, its price and a declaration, hours ago. */
  @Test
  void hoursThatAreOverArePostedOnce() {
    SteppingClock clock = SteppingClock.midMonth();
    String world = TestMarket.world(1).replaceAll("(?m)^ *- \\{name: s1-red-fixed.*$", "");
    RunningBourse own = RunningBourse.world(world, clock, "billing.check-interval=20ms");
    try {
      ApiClient caller = TestMarket.of(own, 1).blue("orgwide");
      long hour = clock.millis() / HOUR * HOUR - 3 * HOUR;
      past(own, hour + HOUR / 2, hour + 2 * HOUR);
      String query = "?from=" + Times.rfc3339(hour - HOUR);
      until(
          "both hours are posted",
          () -> lines(caller, query).stream().filter(l -> l.getBoolean("posted")).count() == 2);
      assertEquals(
          List.of(4 * HOUR * 200, 8 * HOUR * 200),
          lines(caller, query).stream().map(l -> l.getLong("cent_gpu_millis")).toList());
      assertEquals(
          List.of(8 * DOLLAR, 16 * DOLLAR),
          lines(caller, query).stream().map(l -> l.getLong("amount_micros")).toList());
      JsonObject balance = balance(caller);
      assertEquals((1_000_000 - 24) * DOLLAR, balance.getLong("posted_micros"));
      assertPaged(caller, query);
      assertStatement(caller, hour);
      own = own.restarted();
      assertEquals(
          (1_000_000 - 24) * DOLLAR,
          balance(own.as("s1-blue", "orgwide")).getLong("posted_micros"));
      assertTrue(own.operator().get("/api/operator/ledger").ok().getBoolean("sound"));
    } finally {
      own.close();
    }
  }

  private static void assertPaged(ApiClient caller, String query) {
    JsonObject first = caller.get("/api/billing/usage" + query + "&limit=1").ok();
    assertTrue(first.getBoolean("more"));
    JsonObject second =
        caller.get("/api/billing/usage" + query + "&limit=1&after=" + first.getString("next")).ok();
    assertNotEquals(first.getJsonArray("lines"), second.getJsonArray("lines"));
    assertFalse(second.getBoolean("more"));
    assertNull(second.getValue("next"));
    String csv = csv(caller, "/api/billing/usage" + query);
    assertEquals(3, csv.lines().count(), csv);
    assertTrue(csv.endsWith(",16000000,true\r\n"), csv);
    assertEquals(csv, text(caller.fetch("GET", "/api/billing/usage/csv" + query)));
  }

  private static void assertStatement(ApiClient caller, long hour) {
    List<JsonObject> all =
        ClusterClient.objects(
            caller.get("/api/billing/statements").ok().getJsonArray("statements"));
    assertEquals(24 * DOLLAR, all.stream().mapToLong(s -> s.getLong("usage_micros")).sum());
    assertEquals((1_000_000 - 24) * DOLLAR, all.get(0).getLong("closing_micros"));
    String month = Times.rfc3339(hour).substring(0, 7);
    JsonObject detailed = caller.get("/api/billing/statements/" + month).ok();
    assertEquals(
        "s1-blue", detailed.getJsonArray("clusters").getJsonObject(0).getString("cluster"));
    long sum = 0;
    List<String> rows = csv(caller, "/api/billing/statements/" + month).lines().toList();
    for (String row : rows.subList(1, rows.size() - 1)) {
      sum += Long.parseLong(row.substring(row.lastIndexOf(',') + 1));
    }
    String closing = rows.get(rows.size() - 1);
    assertEquals(sum, Long.parseLong(closing.substring(closing.lastIndexOf(',') + 1)));
    String path = "/api/billing/statements/" + month;
    assertEquals(csv(caller, path), text(caller.fetch("GET", path + "/csv")));
  }

  private static String csv(ApiClient caller, String path) {
    return text(caller.fetch("GET", path, "Accept", "text/csv"));
  }

  private static String text(HttpResponse<byte[]> answer) {
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  private static void past(RunningBourse own, long from, long to) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.of(
            "INSERT INTO price_point (pool, ts, clearing_cents, cents_millis, priced_millis)"
                + " VALUES ('s1', ?, 250, 0, 0)",
            from - HOUR));
    statements.add(request(from - HOUR, 200L));
    statements.add(
        Statement.of(
            "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                + " active_at, grant_ceiling_cents, pinned, nomination, key_ids, reclaim_reason,"
                + " reclaim_at, gone_at) SELECT 'alc_past', 's1-blue', MIN(node_id), 0,"
                + " 'RECLAIMING', CAST(? AS BIGINT), CAST(? AS BIGINT), 200, 0, 0, '',"
                + " 'SCALE_DOWN', CAST(? AS BIGINT), CAST(? AS BIGINT) FROM node"
                + " WHERE pool = 's1'",
            from,
            from,
            to,
            to));
    await(own.database().commit(statements));
  }

  private static Statement request(long atMillis, @Nullable Long cents) {
    return Statement.of(
        "INSERT INTO activity (ts, cluster, kind, actor, who, max_gpus, ceiling_cents)"
            + " VALUES (?, 's1-blue', 'request', 'token:x', 'user', 8, ?)",
        atMillis,
        cents);
  }
}
