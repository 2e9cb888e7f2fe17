package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the audit trail records of each call. */
@EachEngine
class AuditRowsTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(12);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static void assertRow(
      AuditRow row, Caller actor, String action, String subject, String detail) {
    assertEquals(actor.actor(), row.actor());
    assertEquals(action, row.action());
    assertEquals(subject, row.subject());
    assertEquals(detail, row.detail());
    assertTrue(Math.abs(System.currentTimeMillis() - row.atMillis()) < 60_000);
  }

  @Test
  void aDeclarationLeavesItsArguments() {
    Desk desk = bourse.stage().redA();
    desk.declare(0, 2.5);
    List<AuditRow> rows = bourse.audit(desk.orgId(), false);
    assertEquals(1, rows.size());
    assertRow(
        rows.get(0),
        desk.caller(),
        "vm_capacity_put",
        desk.cluster(),
        "max_gpus=0 max_price_per_gpu_hour=2.50 version=1");
  }

  @Test
  void nominationsAndSwapsLeaveTheirAddresses() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    List<String> held = desk.hold(2, 2);
    stage.blueA().hold(2, 2);
    desk.put(desk.order(2, 2).put("release", new JsonArray(held))).ok();
    desk.swap(held.get(1)).ok();
    List<AuditRow> rows = bourse.audit(desk.orgId(), false);
    assertEquals(4, rows.size());
    assertRow(
        rows.get(2),
        desk.caller(),
        "vm_capacity_put",
        desk.cluster(),
        "max_gpus=16 max_price_per_gpu_hour=2.00 release=["
            + String.join(",", held)
            + "] version=2");
    assertRow(
        rows.get(3),
        desk.caller(),
        "vm_capacity_swap",
        desk.cluster(),
        "node=" + held.get(1) + " version=3");
  }

  @Test
  void keysAreAddedAndRevokedOnTheOrganization() {
    Stage stage = bourse.stage();
    Caller red = stage.red("bare");
    String path = "/api/vm/orgs/" + stage.red() + "/ssh-keys";
    JsonObject registration =
        new JsonObject()
            .put("name", "laptop")
            .put("public_key", RunningBourse.keyLine())
            .put("cluster", stage.redB().cluster());
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
            + stage.redB().cluster();
    List<AuditRow> rows = bourse.audit(stage.red(), false);
    assertEquals(2, rows.size(), "what changes nothing leaves no row");
    assertRow(rows.get(0), red, "vm_key_add", stage.red(), detail);
    assertRow(rows.get(1), red, "vm_key_revoke", stage.red(), detail);
  }

  @Test
  void refusedWritesLeaveNoRow() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    desk.put(desk.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.put(desk.order(0, 0.1)).refused(ErrorCode.BID_TOO_LOW);
    desk.put(desk.order(0, 2).put("expected_version", 5)).refused(ErrorCode.VERSION_MISMATCH);
    desk.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    stage.red("bare").put("/api/vm/capacity", desk.order(0, 2)).refused(ErrorCode.FORBIDDEN);
    assertEquals(List.of(), bourse.audit(desk.orgId(), false));
  }

  @Test
  void whatTheMarketDoesIsActivityAndNoAudit() {
    Desk desk = bourse.stage().redA();
    desk.hold(1, 2);
    assertEquals(
        List.of("vm_key_add", "vm_capacity_put"),
        bourse.audit(desk.orgId(), false).stream().map(AuditRow::action).toList());
  }

  @Test
  void aCapacityReadIsRecordedA304AndAHeadToo() {
    Stage stage = bourse.stage();
    Caller red = stage.red("readonly");
    String path = "/api/vm/capacity?cluster=" + stage.redB().cluster();
    String etag = red.get(path).header("etag");
    assertEquals(304, red.get(path, "If-None-Match", etag).status());
    assertEquals(200, red.send("HEAD", path, null).status());
    until("three rows", () -> bourse.audit(stage.red(), true).size() == 3);
    for (AuditRow row : bourse.audit(stage.red(), true)) {
      assertRow(row, red, "vm_capacity_get", stage.redB().cluster(), "");
    }
  }

  @Test
  void aKeyListIsRecorded() {
    Stage stage = bourse.stage();
    Caller red = stage.red("bare");
    red.get("/api/vm/orgs/" + stage.red() + "/ssh-keys").ok();
    until("the row", () -> bourse.audit(stage.red(), true).size() == 1);
    assertRow(bourse.audit(stage.red(), true).get(0), red, "vm_keys_get", stage.red(), "");
  }

  @Test
  void otherReadsAndRefusedReadsAreNotRecorded() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    red.get("/api/whoami").ok();
    red.get("/api/market/feed").ok();
    red.get("/api/vm/activity").ok();
    red.get("/api/vm/history?cluster=" + stage.redA().cluster()).ok();
    red.get("/api/vm/capacity").refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/capacity?cluster=" + stage.blue()).refused(ErrorCode.NOT_FOUND);
    red.get("/api/vm/orgs/" + stage.blue() + "/ssh-keys").refused(ErrorCode.NOT_FOUND);
    stage.redA().state();
    until("the one read that counts", () -> !bourse.audit(stage.red(), true).isEmpty());
    assertEquals(1, bourse.audit(stage.red(), true).size());
    assertEquals(List.of(), bourse.audit(stage.blue(), true));
  }

  @Test
  void aCleanStopKeepsEveryReadAndTheStateIsThereAfterwards() {
    RunningBourse first = RunningBourse.staged(1);
    Stage stage = first.stage();
    Desk desk = stage.redA();
    List<String> held = desk.hold(2, 2);
    int before = first.audit(stage.red(), true).size();
    for (int i = 0; i < 50; i++) {
      desk.state();
    }
    JsonObject state = desk.state();
    try (RunningBourse second = first.restarted()) {
      assertTrue(second.audit(stage.red(), true).size() >= before + 51);
      Desk after = new Desk(second.as(stage.red(), "orgwide"), stage.red(), desk.cluster());
      assertEquals(state, after.state());
      assertEquals(held, after.active());
      assertEquals(2, second.audit(stage.red(), false).size());
    }
  }
}
