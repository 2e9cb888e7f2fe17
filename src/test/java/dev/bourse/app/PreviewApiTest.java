package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Steering;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a declaration would do, without doing it. */
@EachEngine
class PreviewApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(8);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer send(Desk desk, JsonObject order) {
    return desk.caller().post("/api/vm/capacity/preview", order);
  }

  private static JsonObject preview(Desk desk, int nodes, double price) {
    JsonObject preview = send(desk, desk.order(nodes, price)).ok();
    assertNull(preview.getValue("would_refuse"), preview.encode());
    return preview;
  }

  @Test
  void aRaiseTellsWhatItWouldWinAndCostAndDoesNothing() {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    JsonObject preview = preview(desk, 3, 5);
    assertEquals(3, preview.getInteger("nodes_won"));
    assertEquals(3, preview.getInteger("nodes_granted"));
    assertEquals(0, preview.getInteger("nodes_unfilled"));
    assertEquals(new JsonArray(), preview.getJsonArray("victims"));
    assertEquals(1.0, preview.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(
        24.0, preview.getDouble("cost_per_hour"), "3 nodes of 8 GPUs at the reserve price");
    JsonObject would = preview.getJsonObject("state");
    assertEquals(1L, would.getLong("version"));
    assertEquals(24, would.getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(3, would.getInteger("pending"));
    assertEquals(0L, desk.version(), "nothing is written");
    assertNull(desk.state().getValue("declared"));
    assertEquals(List.of(), desk.activity());
    assertTrue(
        bourse.audit(desk.orgId(), false).stream()
            .noneMatch(row -> row.action().equals("vm_capacity_put")));
    desk.declare(3, 5);
    desk.untilHeld(3);
  }

  @Test
  void itIsRecordedAsARead() {
    Desk desk = bourse.stage().redA();
    preview(desk, 0, 5);
    RunningBourse.until(
        "the read is in the trail",
        () ->
            bourse.audit(desk.orgId(), true).stream()
                .anyMatch(
                    row ->
                        row.action().equals("vm_capacity_get") && row.detail().equals("preview")));
  }

  @Test
  void aShrinkNamesItsVictimsAndTakesNone() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(3, 5);
    JsonObject order = desk.order(1, 5).put("release", new JsonArray().add(held.get(1)));
    JsonObject preview = send(desk, order).ok();
    assertEquals(2, preview.getJsonArray("victims").size());
    assertTrue(preview.getJsonArray("victims").contains(held.get(1)), "the one to go first");
    assertEquals(8.0, preview.getDouble("cost_per_hour"));
    assertEquals(held, desk.active());
  }

  @Test
  void aLowerCeilingTellsWhatARivalWouldTake() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    List<String> held = red.hold(Stage.NODES, 4);
    stage.blueA().addKey();
    stage.blueA().declare(1, 3);
    JsonObject preview = preview(red, Stage.NODES, 2);
    assertEquals(1, preview.getJsonArray("victims").size());
    assertTrue(held.contains(preview.getJsonArray("victims").getString(0)));
    assertEquals(1, preview.getInteger("nodes_unfilled"));
    JsonObject blue = preview(stage.blueA(), 2, 3);
    assertEquals(0, blue.getInteger("nodes_won"), "red's nodes are protected");
    assertEquals(2, blue.getInteger("nodes_unfilled"));
    assertEquals(held, red.active());
  }

  @Test
  void whatTheWriteWouldRefuseThePreviewTells() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    refusedAlike(desk, desk.order(1, 2), ErrorCode.NO_SSH_KEYS);
    desk.addKey();
    refusedAlike(desk, desk.order(1, 2).put("max_gpus", 7), ErrorCode.BAD_REQUEST);
    refusedAlike(
        desk, desk.order(1, 2).put("max_price_per_gpu_hour", 2.001), ErrorCode.PRICE_PRECISION);
    refusedAlike(desk, desk.order(1, 10.01), ErrorCode.PRICE_ABOVE_MAXIMUM);
    refusedAlike(desk, desk.order(1, 2).put("expected_version", 9), ErrorCode.VERSION_MISMATCH);
    refusedAlike(
        desk,
        desk.order(1, 2).put("release", new JsonArray().add("192.0.2.1")),
        ErrorCode.UNKNOWN_NODE);
    refusedAlike(desk, desk.order(1, 0.99), ErrorCode.BID_TOO_LOW);
    refusedAlike(stage.redFixed(), stage.redFixed().order(3, 2), ErrorCode.STATIC_POSTURE);
    bourse.steer(desk.cluster(), Steering.armWrites(false));
    refusedAlike(desk, desk.order(1, 2), ErrorCode.CAPACITY_WRITES_DISABLED);
  }

  private static void refusedAlike(Desk desk, JsonObject order, ErrorCode code) {
    JsonObject preview = send(desk, order).ok();
    assertEquals(desk.put(order).refused(code), preview.getJsonObject("would_refuse"));
    assertNull(preview.getValue("state"));
    assertNull(preview.getValue("nodes_won"));
  }

  @Test
  void itsShapeIsThatOfTheWrite() {
    Desk desk = bourse.stage().redA();
    send(desk, desk.order(1, 2).put("surprise", 1)).refused(ErrorCode.BAD_REQUEST);
    JsonObject lacking = desk.order(1, 2);
    lacking.remove("expected_version");
    send(desk, lacking).refused(ErrorCode.BAD_REQUEST);
    JsonObject unnamed = desk.order(1, 2);
    unnamed.remove("cluster");
    send(desk, unnamed).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    desk.caller()
        .post("/api/vm/capacity/preview", desk.order(1, 2).put("cluster", desk.orgId() + "-k8s"))
        .refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void theCadenceIsNeitherStartedNorLookedAt() {
    try (RunningBourse slow = RunningBourse.staged(1, "capacity.write-cadence=1h")) {
      Desk desk = slow.stage().redA();
      desk.addKey();
      preview(desk, 1, 2);
      preview(desk, 2, 2);
      desk.declare(1, 2);
      desk.put(desk.order(2, 2)).refused(ErrorCode.RATE_LIMITED);
      preview(desk, 2, 2);
    }
  }

  @Test
  void anOperatorManagedClusterKeepsWhatItHolds() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    desk.hold(1, 2);
    bourse.steer(desk.cluster(), Steering.posture(Cluster.Posture.STATIC));
    JsonObject preview = preview(desk, 1, 2);
    assertEquals(0, preview.getInteger("nodes_won"));
    assertEquals(8.0, preview.getDouble("cost_per_hour"));
  }
}
