package dev.bourse.audit;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The audit rows of each call. */
@EachEngine
class AuditRowsTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(12);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static void assertRow(
      AuditRow row, ApiClient actor, String action, String subject, String detail) {
    assertEquals(actor.actor(), row.actor());
    assertEquals(action, row.action());
    assertEquals(subject, row.subject());
    assertEquals(detail, row.detail());
    assertTrue(Math.abs(System.currentTimeMillis() - row.atMillis()) < 60_000);
  }

  @Test
  void aDeclarationLeavesItsArguments() {
    ClusterClient client = bourse.market().redA();
    client.declare(0, 2.5);
    List<AuditRow> rows = bourse.audit(client.orgId(), false);
    assertEquals(1, rows.size());
    assertRow(
        rows.get(0),
        client.caller(),
        "vm_capacity_put",
        client.cluster(),
        "max_gpus=0 max_price_per_gpu_hour=2.50 version=1");
  }

  @Test
  void nominationsAndSwapsLeaveTheirAddresses() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    List<String> held = client.hold(2, 2);
    market.blueA().hold(2, 2);
    client.put(client.order(2, 2).put("release", new JsonArray(held))).ok();
    client.swap(held.get(1)).ok();
    List<AuditRow> rows = bourse.audit(client.orgId(), false);
    assertEquals(4, rows.size());
    assertRow(
        rows.get(2),
        client.caller(),
        "vm_capacity_put",
        client.cluster(),
        "max_gpus=16 max_price_per_gpu_hour=2.00 release=["
            + String.join(",", held)
            + "] version=2");
    assertRow(
        rows.get(3),
        client.caller(),
        "vm_capacity_swap",
        client.cluster(),
        "node=" + held.get(1) + " version=3");
  }

  @Test
  void keysAreAddedAndRevokedOnTheOrganization() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("bare");
    String path = "/api/vm/orgs/" + market.red() + "/ssh-keys";
    JsonObject registration =
        new JsonObject()
            .put("name", "laptop")
            .put("public_key", RunningBourse.keyLine())
            .put("cluster", market.redB().cluster());
    JsonObject key = red.post(path, registration).json();
    red.post(path, registration).ok();
    red.delete(path + "/" + key.getString("key_id")).ok();
    red.delete(path + "/" + key.getString("key_id")).refused(ErrorCode.NOT_FOUND);
    String detail =
        "key_id="
            + key.getString("key_id")
            + " name=laptop fingerprint="
            + key.getString("fingerprint")
            + " cluster="
            + market.redB().cluster();
    List<AuditRow> rows = bourse.audit(market.red(), false);
    assertEquals(2, rows.size(), "what changes nothing leaves no row");
    assertRow(rows.get(0), red, "vm_key_add", market.red(), detail);
    assertRow(rows.get(1), red, "vm_key_revoke", market.red(), detail);
  }

  @Test
  void refusedWritesLeaveNoRow() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.put(client.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    client.put(client.order(0, 0.1)).refused(ErrorCode.BID_TOO_LOW);
    client.put(client.order(0, 2).put("expected_version", 5)).refused(ErrorCode.VERSION_MISMATCH);
    client.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    market.red("bare").put("/api/vm/capacity", client.order(0, 2)).refused(ErrorCode.FORBIDDEN);
    assertEquals(List.of(), bourse.audit(client.orgId(), false));
  }

  @Test
  void whatTheMarketDoesIsActivityAndNoAudit() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    assertEquals(
        List.of("vm_key_add", "vm_capacity_put"),
        bourse.audit(client.orgId(), false).stream().map(AuditRow::action).toList());
  }

  @Test
  void aCapacityReadIsRecordedA304AndAHeadToo() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("readonly");
    String path = "/api/vm/capacity?cluster=" + market.redB().cluster();
    AtomicInteger reads = new AtomicInteger();
    until(
        "304 while no tick moves a price",
        () -> {
          reads.addAndGet(2);
          String etag = red.get(path).header("etag");
          return red.get(path, "If-None-Match", etag).status() == 304;
        });
    assertEquals(200, red.send("HEAD", path, null).status());
    until("a row for each", () -> bourse.audit(market.red(), true).size() == reads.get() + 1);
    for (AuditRow row : bourse.audit(market.red(), true)) {
      assertRow(row, red, "vm_capacity_get", market.redB().cluster(), "");
    }
  }

  @Test
  void aKeyListIsRecorded() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("bare");
    red.get("/api/vm/orgs/" + market.red() + "/ssh-keys").ok();
    until("the row", () -> bourse.audit(market.red(), true).size() == 1);
    assertRow(bourse.audit(market.red(), true).get(0), red, "vm_keys_get", market.red(), "");
  }

  @Test
  void otherReadsAndRefusedReadsAreNotRecorded() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    red.get("/api/whoami").ok();
    red.get("/api/market/feed").ok();
    red.get("/api/vm/activity").ok();
    red.get("/api/vm/history?cluster=" + market.redA().cluster()).ok();
    red.get("/api/vm/capacity").refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/capacity?cluster=" + market.blue()).refused(ErrorCode.NOT_FOUND);
    red.get("/api/vm/orgs/" + market.blue() + "/ssh-keys").refused(ErrorCode.NOT_FOUND);
    market.redA().state();
    until("the one read that counts", () -> !bourse.audit(market.red(), true).isEmpty());
    assertEquals(1, bourse.audit(market.red(), true).size());
    assertEquals(List.of(), bourse.audit(market.blue(), true));
  }
}
