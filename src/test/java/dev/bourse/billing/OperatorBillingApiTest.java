package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Operators read the same answers about money as the organization, and in dollars on a screen. */
@ReplayedOnPostgres
class OperatorBillingApiTest {
  private static RunningBourse bourse;
  private static String org;
  private static ClusterClient client;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(2, SteppingClock.midMonth());
    TestMarket market = bourse.market();
    org = market.red();
    client = market.redA();
    client.hold(1, 2);
    bourse
        .operator()
        .post(
            path("/payments"),
            new JsonObject().put("amount_usd", 2500.5).put("idempotency_key", "p").put("memo", "m"))
        .body();
    client.declare(0, 2);
    client.untilHeld(0);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(String what) {
    return "/api/operator/orgs/" + org + "/billing" + what;
  }

  private static JsonObject read(String what) {
    return bourse.operator().get(path(what)).ok();
  }

  private static JsonObject own(String what) {
    return client.caller().get("/api/billing" + what).ok();
  }

  private static String month() {
    return read("/statements").getJsonArray("statements").getJsonObject(0).getString("month");
  }

  /** Usage grows from one read to the next. */
  private static String withoutUsage(JsonObject answer) {
    return answer.containsKey("transactions")
        ? answer.encode()
        : answer
            .encode()
            .replaceAll(
                "\"(usage_micros|closing_micros|gpu_millis|cent_gpu_millis|amount_micros)\":-?\\d+",
                "$1");
  }

  @Test
  void statementsUsageAndLedgerAreThoseTheOrganizationReads() {
    for (String what :
        List.of("/statements", "/statements/" + month(), "/usage", "/ledger", "/ledger?limit=1")) {
      assertEquals(withoutUsage(own(what)), withoutUsage(read(what)), what);
    }
    assertEquals(
        2_500_500_000L,
        read("/statements/" + month()).getLong("payment_micros"),
        read("/statements").encode());
    assertFalse(read("/statements/" + month()).getJsonArray("clusters").isEmpty());
    assertFalse(read("/usage").getJsonArray("lines").isEmpty());
  }

  @Test
  void whatIsNotThereIsNotFound() {
    for (String what : List.of("/statements", "/statements/2026-01", "/usage", "/ledger")) {
      bourse
          .operator()
          .get("/api/operator/orgs/nobody/billing" + what)
          .refused(ErrorCode.NOT_FOUND);
    }
    bourse.operator().get(path("/statements/1999-01")).refused(ErrorCode.NOT_FOUND);
    bourse.operator().get(path("/usage?cluster=of-nobody")).refused(ErrorCode.NOT_FOUND);
    bourse.operator().get(path("/statements/never")).refused(ErrorCode.BAD_REQUEST);
  }

  private static String table(String... words) {
    List<String> all = new ArrayList<>(List.of("billing"));
    all.addAll(List.of(words));
    AdminRun run = AdminRun.on(bourse, all.toArray(String[]::new));
    assertEquals(0, run.exitCode(), run.err());
    return run.out();
  }

  @Test
  void aScreenShowsDollarsAndProgramsGetWholeNumbers() {
    String screen = table("statement", org, month());
    assertTrue(screen.matches("(?s).*\npayment_usd +2500\\.50\n.*"), screen);
    assertTrue(screen.contains("AMOUNT_USD"), screen);
    JsonObject json =
        AdminRun.on(bourse, "billing", "statement", org, month(), "-o", "json").json();
    assertEquals(2_500_500_000L, json.getLong("payment_micros"), json.encode());
    String ledger = table("ledger", org);
    assertTrue(ledger.contains("2500.50"), ledger);
  }
}
