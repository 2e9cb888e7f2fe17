package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Members' operations on their organization's spending. */
@ReplayedOnPostgres
class SpendingApiTest {
  private static final String LIMIT = "/api/console/spend-limit";
  private static final String DAYS = "/api/console/usage-days";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("market.tick=100ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject limit(Object usd) {
    return new JsonObject().put("limit_usd", usd);
  }

  @Test
  void aMemberSetsAndClearsTheLimitThatOperatorsSee() {
    ApiClient dave = bourse.inSession("globex", "dave");
    JsonObject set = dave.put(LIMIT, limit(5000)).ok();
    assertEquals(5_000_000_000L, set.getLong("limit_micros"));
    assertEquals(
        5_000_000_000L,
        bourse
            .operator()
            .get("/api/operator/orgs/globex/billing")
            .ok()
            .getLong("spend_limit_micros"));
    assertNull(dave.delete(LIMIT).ok().getLong("limit_micros"));
    assertEquals(
        List.of(
            List.of("member:dave", "spend_limit_set", "limit_micros=5000000000"),
            List.of("member:dave", "spend_limit_clear", "")),
        bourse.audit("globex", false).stream()
            .filter(row -> row.action().startsWith("spend_limit"))
            .map(row -> List.of(row.actor(), row.action(), row.detail()))
            .toList());
  }

  @Test
  void aMemberNeitherRaisesNorDeletesTheOperatorsLimit() {
    ApiClient bob = bourse.inSession("acme", "bob");
    ApiClient operator = bourse.operator();
    String operators = "/api/operator/orgs/acme/billing/spend-limit";
    limits(bob.put(LIMIT, limit(9000)).ok(), 9000, 9000, null, "member");
    JsonObject set = operator.put(operators, limit(500)).ok();
    assertEquals(500_000_000L, set.getLong("spend_limit_micros"));
    assertEquals(9_000_000_000L, set.getLong("spend_limit_member_micros"));
    assertEquals(500_000_000L, set.getLong("spend_limit_operator_micros"));
    assertEquals("operator", set.getString("spend_limit_set_by"));

    assertEquals(
        "limit_usd: 500.01 is above the limit that the operator set; choose at most 500.00",
        bob.put(LIMIT, limit(500.01)).refused(ErrorCode.BAD_REQUEST).getString("detail"));
    bob.get(LIMIT + "?limit_usd=500.01").refused(ErrorCode.BAD_REQUEST);
    limits(bob.get(LIMIT).ok(), 500, 9000, 500, "operator");

    limits(bob.put(LIMIT, limit(400)).ok(), 400, 400, 500, "member");
    limits(bob.delete(LIMIT).ok(), 500, null, 500, "operator");
    limits(bob.delete(LIMIT).ok(), 500, null, 500, "operator");
    operator.delete(operators).ok();
    limits(bob.get(LIMIT).ok(), null, null, null, null);
    assertEquals(
        List.of(
            "member:bob spend_limit_set limit_micros=9000000000",
            "operator:first spend_limit_set limit_micros=500000000",
            "member:bob spend_limit_set limit_micros=400000000",
            "member:bob spend_limit_clear ",
            "member:bob spend_limit_clear ",
            "operator:first spend_limit_clear "),
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().startsWith("spend_limit"))
            .map(row -> row.actor() + " " + row.action() + " " + row.detail())
            .toList());
  }

  private static void limits(
      JsonObject outlook,
      @Nullable Integer inForce,
      @Nullable Integer member,
      @Nullable Integer operator,
      @Nullable String setBy) {
    assertEquals(micros(inForce), outlook.getLong("limit_micros"));
    assertEquals(micros(member), outlook.getLong("limit_member_micros"));
    assertEquals(micros(operator), outlook.getLong("limit_operator_micros"));
    assertEquals(setBy, outlook.getString("limit_set_by"));
  }

  private static @Nullable Long micros(@Nullable Integer usd) {
    return usd == null ? null : Long.valueOf(usd * 1_000_000L);
  }

  @Test
  void aLimitIsTriedOutWithoutBeingSet() {
    ApiClient carol = bourse.inSession("openlab", "carol");
    JsonObject tried = carol.get(LIMIT + "?limit_usd=12.5").ok();
    assertEquals(12_500_000L, tried.getLong("limit_micros"));
    assertEquals(false, tried.getBoolean("reached"));
    assertEquals(true, carol.get(LIMIT + "?limit_usd=0").ok().getBoolean("reached"));
    assertNull(carol.get(LIMIT).ok().getLong("limit_micros"));
    assertEquals(List.of(), bourse.audit("openlab", false).stream().map(AuditRow::action).toList());
  }

  @Test
  void theOutlookCountsWhatIsHeld() {
    JsonObject outlook = bourse.inSession("acme", "alice").get(LIMIT).ok();
    JsonObject held =
        outlook.getJsonArray("clusters").stream()
            .map(JsonObject.class::cast)
            .filter(c -> c.getString("cluster").equals("acme-legacy"))
            .findFirst()
            .orElseThrow();
    assertEquals(16, held.getInteger("active_gpus"));
    assertEquals(32_000_000L, held.getLong("most_micros_per_hour"));
    // The grace, the notice, three checks and a tick.
    assertEquals(2 * 86_400_000L + 180_000 + 100, outlook.getLong("stop_after_ms"));
  }

  @Test
  void usageIsToldByDayAndCluster() {
    ApiClient alice = bourse.inSession("acme", "alice");
    RunningBourse.until(
        "something is used",
        () ->
            alice.get(DAYS).ok().getJsonArray("days").stream()
                .map(JsonObject.class::cast)
                .anyMatch(
                    d ->
                        d.getString("cluster").equals("acme-legacy")
                            && d.getLong("gpu_millis") > 0));
    assertEquals(0, alice.get(DAYS + "?month=2020-01").ok().getJsonArray("days").size());
    for (String month : List.of("2026-13", "2026", "x")) {
      JsonObject refusal = alice.get(DAYS + "?month=" + month).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refusal.getString("detail").contains("month: " + month), refusal.encode());
    }
  }

  @Test
  void whatIsNoAmountIsRefusedAtItsField() {
    ApiClient alice = bourse.inSession("acme", "alice");
    for (Object amount : List.of(-1, 1.005, "ten", 1_000_000_001L)) {
      JsonObject refusal = alice.put(LIMIT, limit(amount)).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refusal.getString("detail").contains("limit_usd"), refusal.encode());
    }
    alice.put(LIMIT, new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    alice.get(LIMIT + "?limit_usd=1.005").refused(ErrorCode.BAD_REQUEST);
  }
}
