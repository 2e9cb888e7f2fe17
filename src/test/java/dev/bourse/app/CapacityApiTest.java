package dev.bourse.app;

import static dev.bourse.app.Desk.NODE;
import static dev.bourse.app.Desk.texts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Steering;
import dev.bourse.capacity.Switches;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reading and declaring a cluster's capacity. */
@EachEngine
class CapacityApiTest extends CapacityApiFixture {
  @Test
  void aClusterNobodyDeclaredForHoldsNothing() {
    JsonObject state = bourse.stage().redA().state();
    assertEquals(0L, state.getLong("version"));
    assertTrue(state.getBoolean("writes_armed"));
    assertEquals(NODE, state.getInteger("gpus_per_node"));
    assertEquals("NVIDIA", state.getString("gpu_vendor"));
    assertEquals("H100", state.getString("gpu_model"));
    assertEquals(10.0, state.getDouble("max_price_cap_per_gpu_hour"));
    assertNull(state.getValue("declared"));
    assertEquals(0, state.getInteger("pending"));
    assertEquals(new JsonArray(), state.getJsonArray("allocations"));
    assertNull(state.getValue("billing_hold"));
    assertEquals(
        new JsonObject()
            .put("ssh_user", "tenant")
            .put("ssh_port", 22)
            .put("site", "lab")
            .put("env", new JsonObject().put("REGION", "north"))
            .put("storage", new JsonObject().put("scratch", "/scratch")),
        state.getJsonObject("environment"));
  }

  @Test
  void aDeclarationAnswersTheNewStateAndIsGranted() {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    JsonObject state = desk.declare(2, 3.5);
    assertEquals(1L, state.getLong("version"));
    assertEquals(2, state.getInteger("pending"));
    JsonObject declared = state.getJsonObject("declared");
    assertEquals(16, declared.getInteger("max_gpus"));
    assertEquals(3.5, declared.getDouble("max_price_per_gpu_hour"));
    assertFalse(declared.getBoolean("bid_too_low"));
    assertEquals(desk.caller().actor(), declared.getString("updated_by"));
    List<String> held = desk.untilHeld(2);
    JsonObject granted = desk.state();
    assertEquals(1L, granted.getLong("version"), "the market leaves the version alone");
    assertEquals(0, granted.getInteger("pending"));
    assertEquals(
        new HashSet<>(held), new HashSet<>(texts(granted.getJsonArray("planned_release"))));
    JsonObject allocation = desk.allocation(held.get(0));
    assertEquals(0, allocation.getInteger("slot"));
    assertFalse(allocation.getBoolean("swap"));
    Instant grantedAt = Instant.parse(allocation.getString("granted_at"));
    assertTrue(
        Instant.parse(allocation.getString("protected_until"))
            .isAfter(grantedAt.plusSeconds(3599)));
  }

  @Test
  void anUnchangedStateIsNotSentAgain() {
    Desk desk = bourse.stage().redA();
    String path = CAPACITY + "?cluster=" + desk.cluster();
    HttpAnswer first = desk.caller().get(path);
    String etag = first.header("etag");
    assertTrue(etag.matches("\"[^\"]+\""), etag);
    HttpAnswer same = desk.caller().get(path, "If-None-Match", etag);
    assertEquals(304, same.status());
    assertEquals(etag, same.header("etag"));
    assertEquals(304, desk.caller().get(path, "If-None-Match", "\"x\", " + etag).status());
    assertEquals(200, desk.caller().get(path, "If-None-Match", "\"x\"").status());
  }

  @Test
  void aGrantChangesTheEtagButNotTheVersion() {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    String path = CAPACITY + "?cluster=" + desk.cluster();
    HttpAnswer declared = desk.put(desk.order(1, 2));
    desk.untilHeld(1);
    HttpAnswer granted = desk.caller().get(path);
    assertNotEquals(declared.header("etag"), granted.header("etag"));
    assertEquals(declared.ok().getLong("version"), granted.ok().getLong("version"));
  }

  @Test
  void headAnswersAsGetWithoutABody() {
    Desk desk = bourse.stage().redA();
    String path = CAPACITY + "?cluster=" + desk.cluster();
    HttpAnswer head = desk.caller().send("HEAD", path, null);
    assertEquals(200, head.status());
    assertEquals(desk.caller().get(path).header("etag"), head.header("etag"));
  }

  @Test
  void aStaleVersionWritesNothing() {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    desk.declare(1, 2);
    desk.untilHeld(1);
    JsonObject before = desk.state();
    int rows = bourse.audit(desk.orgId(), false).size();
    desk.put(desk.order(0, 3).put("expected_version", 0)).refused(ErrorCode.VERSION_MISMATCH);
    desk.put(desk.order(0, 3).put("expected_version", 2)).refused(ErrorCode.VERSION_MISMATCH);
    assertEquals(before, desk.state());
    assertEquals(rows, bourse.audit(desk.orgId(), false).size());
  }

  @Test
  void eachFaultIsAnsweredBeforeTheNext() {
    // Each step mends the first fault and leaves all later ones in place.
    Stage stage = bourse.stage();
    Desk desk = stage.redFixed();
    JsonObject order =
        desk.order(0, 0)
            .put("max_gpus", 25)
            .put("max_price_per_gpu_hour", 20.001)
            .put("expected_version", 9)
            .put("release", new JsonArray().add("192.0.2.1"))
            .put("surplus", true);
    bourse.with(null).put(CAPACITY, order).refused(ErrorCode.UNAUTHORIZED);
    stage.red("readonly").put(CAPACITY, order).refused(ErrorCode.FORBIDDEN);
    desk.put(order).refused(ErrorCode.BAD_REQUEST);
    order.remove("surplus");
    desk.put(order.copy().put("cluster", stage.blue())).refused(ErrorCode.NOT_FOUND);
    bourse.steer(desk.cluster(), Steering.armWrites(false));
    desk.put(order).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    bourse.steer(desk.cluster(), Steering.armWrites(true));
    JsonObject multiple = desk.put(order).refused(ErrorCode.BAD_REQUEST);
    assertTrue(multiple.getString("detail").contains("max_gpus"), multiple.encode());
    order.put("max_gpus", 24);
    desk.put(order).refused(ErrorCode.PRICE_PRECISION);
    order.put("max_price_per_gpu_hour", 20);
    assertEquals(10.0, desk.put(order).refused(ErrorCode.PRICE_ABOVE_MAXIMUM).getDouble("maximum"));
    order.put("max_price_per_gpu_hour", 0.5);
    desk.put(order).refused(ErrorCode.VERSION_MISMATCH);
    order.put("expected_version", 0);
    desk.put(order).refused(ErrorCode.STATIC_POSTURE);
    bourse.steer(desk.cluster(), Steering.posture(Cluster.Posture.MARKET));
    desk.put(order).refused(ErrorCode.NO_SSH_KEYS);
    desk.addKey();
    desk.put(order).refused(ErrorCode.UNKNOWN_NODE);
    order.remove("release");
    assertEquals(1.0, desk.put(order).refused(ErrorCode.BID_TOO_LOW).getDouble("minimum"));
    order.put("max_price_per_gpu_hour", 1);
    assertEquals(1L, desk.put(order).ok().getLong("version"));
  }

  @Test
  void anyShapeFaultIsABadRequestThatNamesTheField() {
    Desk desk = bourse.stage().redA();
    for (String field : List.of("max_gpus", "max_price_per_gpu_hour", "expected_version")) {
      JsonObject order = desk.order(0, 1);
      order.remove(field);
      assertNames(field, desk.put(order));
      assertNames(field, desk.put(desk.order(0, 1).put(field, "8")));
      assertNames(field, desk.put(desk.order(0, 1).put(field, -1)));
      assertNames(field, desk.put(desk.order(0, 1).putNull(field)));
    }
    assertNames("max_gpus", desk.put(desk.order(0, 1).put("max_gpus", 8.5)));
    assertNames("release", desk.put(desk.order(0, 1).put("release", "192.0.2.1")));
    assertNames("maxGpus", desk.put(desk.order(0, 1).put("maxGpus", 8)));
    desk.caller()
        .send("PUT", CAPACITY, "{", "Content-Type", "application/json")
        .refused(ErrorCode.BAD_REQUEST);
    desk.caller()
        .send("PUT", CAPACITY, "[]", "Content-Type", "application/json")
        .refused(ErrorCode.BAD_REQUEST);
    desk.caller()
        .send("PUT", CAPACITY, "{}", "Content-Type", "text/plain")
        .refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    assertNames("clutser", desk.caller().get(CAPACITY + "?clutser=x"));
    assertEquals(0L, desk.version());
  }

  private static void assertNames(String field, HttpAnswer answer) {
    String detail = answer.refused(ErrorCode.BAD_REQUEST).getString("detail");
    assertTrue(detail.contains(field), detail);
  }

  @Test
  void pricesAreWholeCentsHoweverTheyAreWritten() {
    Desk desk = bourse.stage().redA();
    desk.put(desk.order(0, 1.005)).refused(ErrorCode.PRICE_PRECISION);
    desk.put(desk.order(0, 1.2)).ok();
    String written =
        desk.order(0, 1).encode().replaceAll("\"max_price_per_gpu_hour\":[0-9.]+", "%s");
    HttpAnswer answer =
        desk.caller()
            .send(
                "PUT",
                CAPACITY,
                written.replace("%s", "\"max_price_per_gpu_hour\":1.2300e0"),
                "Content-Type",
                "application/json");
    assertEquals(1.23, answer.ok().getJsonObject("declared").getDouble("max_price_per_gpu_hour"));
    desk.put(desk.order(0, 10)).ok();
    desk.put(desk.order(0, 10.01)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
  }

  @Test
  void aPriceThatCannotClearIsRefusedWhetherOneRaisesOrLowers() {
    Desk desk = bourse.stage().redA();
    desk.hold(2, 2);
    desk.put(desk.order(3, 0.99)).refused(ErrorCode.BID_TOO_LOW);
    desk.put(desk.order(1, 0.99)).refused(ErrorCode.BID_TOO_LOW);
    desk.put(desk.order(2, 0.99)).refused(ErrorCode.BID_TOO_LOW);
    assertEquals(1L, desk.version());
  }

  @Test
  void aStandingPriceUnderTheReserveStillShrinks() {
    Desk desk = bourse.stage().redFixed();
    assertEquals(1, desk.declare(1, 0.5).getJsonArray("planned_release").size());
    desk.put(desk.order(0, 0.6)).refused(ErrorCode.BID_TOO_LOW);
    desk.declare(0, 0.5);
    desk.untilHeld(0);
  }

  @Test
  void aStaticClusterIsLoweredButNotRaised() {
    Stage stage = bourse.stage();
    Desk desk = stage.redFixed();
    desk.addKey();
    assertEquals(2, desk.untilHeld(2).size());
    desk.put(desk.order(3, 2)).refused(ErrorCode.STATIC_POSTURE);
    List<String> planned = texts(desk.state().getJsonArray("planned_release"));
    desk.put(desk.order(1, 2).put("release", new JsonArray().add(planned.get(1)))).ok();
    assertEquals(List.of(planned.get(0)), desk.untilHeld(1));
    desk.put(desk.order(2, 2)).refused(ErrorCode.STATIC_POSTURE);
  }

  @Test
  void withoutAnSshKeyOnlyARaiseIsRefused() {
    Desk desk = bourse.stage().redA();
    desk.put(desk.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.put(desk.order(0, 2)).ok();
    JsonObject key = desk.addKey().json();
    desk.hold(2, 2);
    desk.caller()
        .get("/api/vm/orgs/" + desk.orgId() + "/ssh-keys")
        .ok()
        .getJsonArray("keys")
        .forEach(
            k ->
                desk.caller()
                    .delete(
                        "/api/vm/orgs/"
                            + desk.orgId()
                            + "/ssh-keys/"
                            + ((JsonObject) k).getString("key_id"))
                    .ok());
    assertTrue(key.getString("key_id").startsWith("key_"));
    desk.put(desk.order(3, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.put(desk.order(2, 3)).ok();
    desk.put(desk.order(1, 3)).ok();
  }

  @Test
  void aKeyOfAnyClusterMakesTheRegistryNotEmpty() {
    Stage stage = bourse.stage();
    stage
        .red("orgwide")
        .post(
            "/api/vm/orgs/" + stage.red() + "/ssh-keys",
            new JsonObject()
                .put("name", "b only")
                .put("public_key", RunningBourse.keyLine())
                .put("cluster", stage.redB().cluster()));
    stage.redA().put(stage.redA().order(1, 2)).ok();
  }

  @Test
  void anOrgWideTokenMustSayWhichOfSeveralClusters() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    JsonObject refusal = red.get(CAPACITY).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    assertTrue(refusal.getString("detail").contains(stage.redB().cluster()), refusal.encode());
    JsonObject order = stage.redA().order(0, 2);
    order.remove("cluster");
    red.put(CAPACITY, order).refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/history").refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.post(CAPACITY + "/swap", new JsonObject().put("node", "192.0.2.1"))
        .refused(ErrorCode.AMBIGUOUS_CLUSTER);
    red.get("/api/vm/activity").ok();
  }

  @Test
  void withOneClusterNobodyNeedsToNameIt() {
    Stage stage = bourse.stage();
    assertEquals(stage.blue(), stage.blue("orgwide").get(CAPACITY).ok().getString("cluster"));
    JsonObject order = stage.blueA().order(0, 2);
    order.remove("cluster");
    assertEquals(
        stage.blue(), stage.blue("orgwide").put(CAPACITY, order).ok().getString("cluster"));
  }

  @Test
  void aBoundTokenActsOnItsClusterAlone() {
    Stage stage = bourse.stage();
    Caller bound = stage.red("bound");
    assertEquals(stage.redA().cluster(), bound.get(CAPACITY).ok().getString("cluster"));
    bound.get(CAPACITY + "?cluster=" + stage.redA().cluster()).ok();
    bound.get(CAPACITY + "?cluster=" + stage.redB().cluster()).refused(ErrorCode.FORBIDDEN);
    bound.put(CAPACITY, stage.redB().order(0, 2)).refused(ErrorCode.FORBIDDEN);
    JsonObject order = stage.redA().order(0, 2);
    order.remove("cluster");
    assertEquals(1L, bound.put(CAPACITY, order).ok().getLong("version"));
  }

  @Test
  void foreignAndUnknownClustersLookAlike() {
    Stage stage = bourse.stage();
    for (String token : List.of("orgwide", "bound")) {
      Caller red = stage.red(token);
      String foreign =
          red.get(CAPACITY + "?cluster=" + stage.blue())
              .refused(ErrorCode.NOT_FOUND)
              .getString("detail");
      String unknown =
          red.get(CAPACITY + "?cluster=no-such").refused(ErrorCode.NOT_FOUND).getString("detail");
      assertEquals(foreign.replace(stage.blue(), "no-such"), unknown);
      JsonObject order = stage.redA().order(0, 2).put("cluster", stage.blue());
      red.put(CAPACITY, order).refused(ErrorCode.NOT_FOUND);
    }
  }

  @Test
  void disarmedWritesAnswer503WhileReadsGoOn() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(1, 2);
    bourse.steer(desk.cluster(), Steering.armWrites(false));
    JsonObject refusal = desk.put(desk.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    assertTrue(refusal.getLong("retry_after_s") >= 1);
    desk.swap(held.get(0)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    assertFalse(desk.state().getBoolean("writes_armed"));
    assertEquals(held, desk.active());
    bourse.steer(desk.cluster(), Steering.armWrites(true));
    assertTrue(desk.declare(0, 2).getBoolean("writes_armed"));
  }

  @Test
  void thePlatformsSwitchesShowOnEveryClusterAndOutliveARestart() {
    RunningBourse first =
        RunningBourse.staged(1, "billing.spend-limit-enforced=true", "billing.hold-enforced=true");
    first
        .operator()
        .patch("/api/operator/switches", new JsonObject().put("capacity_writes_armed", false))
        .ok();
    try (RunningBourse second = first.restarted()) {
      Desk desk = second.stage().redA();
      JsonObject state = desk.state();
      assertFalse(state.getBoolean("writes_armed"));
      assertTrue(state.getBoolean("spend_limit_enforced"));
      assertTrue(state.getBoolean("billing_hold_enforced"));
      desk.put(desk.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
      second.service().clusters().put(new Switches(true, false, false));
      assertTrue(desk.declare(0, 2).getBoolean("writes_armed"));
      assertFalse(desk.state().getBoolean("spend_limit_enforced"));
    }
  }
}
