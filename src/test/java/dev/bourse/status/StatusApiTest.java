package dev.bourse.status;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The status of the site, and nodes over all pools. */
@EachEngine
class StatusApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(6);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject status() {
    return bourse.operator().get("/api/operator/status").ok();
  }

  private static JsonObject pool(String name) {
    return ClusterClient.objects(status().getJsonArray("pools")).stream()
        .filter(pool -> pool.getString("pool").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static List<JsonObject> nodes(String query) {
    return ClusterClient.objects(
        bourse.operator().get("/api/operator/nodes?" + query).ok().getJsonArray("nodes"));
  }

  private static void store(String sql, Object... parameters) {
    await(bourse.database().commit(List.of(Statement.of(sql, parameters))));
  }

  private static String node(TestMarket market, int number) {
    return market.name() + "-" + String.format("%05d", number);
  }

  @Test
  void aPoolIsShownWithItsNodesItsPriceAndWhoRunsIt() {
    TestMarket market = bourse.market();
    market.redA().hold(2, 2.00);
    until("the demand", () -> pool(market.name()).getLong("demand_nodes") == 2);
    JsonObject pool = pool(market.name());
    JsonObject counts = pool.getJsonObject("nodes");
    assertEquals(4, counts.getInteger("all"));
    assertEquals(2, counts.getInteger("held"));
    assertEquals(2, counts.getInteger("free"));
    assertEquals(1.0, pool.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(8, pool.getInteger("gpus_per_node"));
    // Two nodes of 8 GPUs at $1.00.
    assertEquals(16_000_000, pool.getLong("revenue_micros_per_hour"));
    assertTrue(pool.getLong("tick_overdue_ms") < 60_000, pool.encode());
    JsonObject lease = pool.getJsonObject("lease");
    assertEquals(status().getString("process"), lease.getString("process"));
    assertNotNull(lease.getString("since"), "since when");
  }

  @Test
  void aLeaseOfAReleaseThatNotesNoTimeHasNone() {
    TestMarket market = bourse.market();
    store("UPDATE lease SET acquired_epoch = epoch - 1 WHERE pool = ?", market.name());
    assertNull(pool(market.name()).getJsonObject("lease").getString("since"));
  }

  @Test
  void itTellsTheProgramTheSchemaTheDiskAndTheClock() {
    JsonObject status = status();
    assertTrue(status.getInteger("schema") >= 42, status.encode());
    assertTrue(status.getInteger("processes") >= 1, status.encode());
    assertNotNull(status.getString("version"));
    assertTrue(status.getJsonObject("disk").getLong("total_bytes") > 0);
    assertNotNull(status.getJsonObject("clock").getString("now"));
    assertEquals(0, status.getInteger("pools_left_off"));
  }

  @Test
  void whatWaitsForSomebodyIsCountedWithTheOldest() {
    assertEquals(0, status().getJsonObject("mails").getInteger("waiting"));
    store(
        "INSERT INTO outbox_mail (mail_id, key_id, ciphertext, accepted_at, due_at, tries)"
            + " VALUES ('m1', 'k', 'c', 1000, 9000000000000000, 0)");
    store(
        "INSERT INTO webhook_delivery (id, endpoint_id, source, position, message_id, kind, body,"
            + " made_at, due_at, tries) VALUES (1, 'whe_none', '', 1, 'm', 'k', '', 2000, 9000000000000000, 0)");
    JsonObject status = status();
    assertEquals(1, status.getJsonObject("mails").getInteger("waiting"));
    assertEquals("1970-01-01T00:00:01.000Z", status.getJsonObject("mails").getString("oldest_at"));
    assertEquals(1, status.getJsonObject("webhook_deliveries").getInteger("waiting"));
    assertEquals(0, status.getJsonObject("reviews").getInteger("waiting"));
    assertNull(status.getJsonObject("uploads").getString("oldest_at"));
  }

  @Test
  void organizationsOnHoldAreCountedByStageAndNamed() {
    TestMarket market = bourse.market();
    store(
        "INSERT INTO billing_org (org_id, hold_stage, hold_reason, hold_since, hold_enforced)"
            + " VALUES (?, 'GRACE', 'balance', 5000, 0) ON CONFLICT (org_id) DO UPDATE SET"
            + " hold_stage = 'GRACE', hold_reason = 'balance', hold_since = 5000,"
            + " hold_enforced = 0",
        market.blue());
    JsonObject status = status();
    assertEquals(1, status.getJsonObject("holds").getInteger("not_acted_upon"));
    JsonObject held = status.getJsonArray("held_longest").getJsonObject(0);
    assertEquals(market.blue(), held.getString("org_id"));
    assertEquals("balance", held.getString("reason"));
    assertEquals("grace", held.getString("stage"));
  }

  @Test
  void nodesWithFaultyHardwareAreCounted() {
    TestMarket market = bourse.market();
    store("UPDATE node SET health = 'FAILED' WHERE node_id = ?", node(market, 1));
    store("UPDATE node SET health = 'DEGRADED' WHERE node_id = ?", node(market, 2));
    store("UPDATE node SET health = 'OK' WHERE node_id = ?", node(market, 3));
    assertEquals(2, pool(market.name()).getInteger("unhealthy_nodes"));
  }

  @Test
  void theMonthsRevenueIsThePostedUsageOfAllOrganizations() {
    JsonObject before = status();
    long month =
        YearMonth.parse(before.getString("month"))
            .atDay(1)
            .atStartOfDay(ZoneOffset.UTC)
            .toInstant()
            .toEpochMilli();
    long earlier = month - 1;
    TestMarket market = bourse.market();
    String posted =
        "INSERT INTO billing_org (org_id, month_start, month_micros) VALUES (?, ?, ?)"
            + " ON CONFLICT (org_id) DO UPDATE SET month_start = excluded.month_start,"
            + " month_micros = excluded.month_micros";
    store(posted, market.red(), month, 1_750_000);
    store(posted, market.blue(), earlier, 7_000_000);
    assertEquals(
        before.getLong("month_revenue_micros") + 1_750_000,
        status().getLong("month_revenue_micros"));
  }

  @Test
  void nodesOfAllPoolsAreFoundByPoolSiteAndState() {
    TestMarket market = bourse.market();
    String pool = market.name();
    // One node in each state; the market has already read them and does not overwrite these
    // columns.
    store(
        "UPDATE node SET quarantined_at = 1000, unclean_after = 'alc_1' WHERE node_id = ?",
        node(market, 1));
    store("UPDATE node SET cordoned = 1 WHERE node_id = ?", node(market, 2));
    long soon = System.currentTimeMillis() + 60_000;
    store(
        "UPDATE node SET usable_after = ?, failures = 1 WHERE node_id = ?", soon, node(market, 3));
    Map<String, String> expected =
        Map.of(
            node(market, 1), "quarantined",
            node(market, 2), "cordoned",
            node(market, 3), "backing-off",
            node(market, 4), "free");
    expected.forEach(
        (id, state) -> {
          List<JsonObject> found = nodes("pool=" + pool + "&state=" + state);
          assertEquals(1, found.size(), state);
          assertEquals(id, found.get(0).getString("node_id"));
          assertEquals(state, found.get(0).getString("state"));
        });
    JsonObject counts = pool(pool).getJsonObject("nodes");
    for (String state : List.of("quarantined", "cordoned", "backing_off", "free")) {
      assertEquals(1, counts.getInteger(state), state);
    }
    assertEquals(
        "it could not be cleaned after allocation alc_1",
        nodes("pool=" + pool + "&state=quarantined").get(0).getString("quarantine_reason"));
    JsonObject longest = status().getJsonArray("quarantined_longest").getJsonObject(0);
    assertEquals(node(market, 1), longest.getString("node_id"));
    assertEquals(4, nodes("site=lab&pool=" + pool).size());
    assertEquals(List.of(), nodes("site=elsewhere"));
    assertEquals(List.of(), nodes("pool=" + pool + "&state=retired"));
  }

  @Test
  void nodesArePagedOverAllPools() {
    JsonObject first = bourse.operator().get("/api/operator/nodes?limit=3").ok();
    assertTrue(first.getBoolean("more"));
    assertEquals(3, first.getJsonArray("nodes").size());
    JsonObject second =
        bourse.operator().get("/api/operator/nodes?limit=3&after=" + first.getString("next")).ok();
    String last = first.getJsonArray("nodes").getJsonObject(2).getString("node_id");
    String next = second.getJsonArray("nodes").getJsonObject(0).getString("node_id");
    assertTrue(next.compareTo(last) > 0, last + " " + next);
  }
}
