package dev.bourse.app;

import static dev.bourse.app.Desk.texts;
import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Steering;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Replacing a held node by another. */
@EachEngine
class SwapApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(20);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void aSwapTellsSinceWhenAndUntilWhenItWaits() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    JsonObject swap = desk.swap(node).ok();
    assertEquals(desk.cluster(), swap.getString("cluster"));
    assertEquals(node, swap.getString("node"));
    assertEquals("swapping", swap.getString("state"));
    assertEquals(2L, swap.getLong("version"));
    assertEquals(
        Duration.ofHours(1),
        Duration.between(
            Instant.parse(swap.getString("requested_at")),
            Instant.parse(swap.getString("lapses_at"))));
  }

  @Test
  void theOldNodeStaysUntilItsReplacementIsActive() {
    Desk desk = bourse.stage().redA();
    String old = desk.hold(1, 2).get(0);
    ConcurrentLinkedQueue<JsonArray> seen = new ConcurrentLinkedQueue<>();
    desk.swap(old).ok();
    until(
        "the swap lands",
        () -> {
          JsonArray allocations = desk.state().getJsonArray("allocations");
          seen.add(allocations);
          return allocations.size() == 1
              && !allocations.getJsonObject(0).getString("public_ip").equals(old);
        });
    for (JsonArray allocations : seen) {
      assertTrue(
          Desk.objects(allocations).stream().anyMatch(a -> a.getString("state").equals("active")),
          "no node was active: " + allocations.encode());
    }
    List<JsonObject> activity = desk.activity();
    JsonObject released =
        activity.stream()
            .filter(e -> "swap".equals(e.getString("reason")))
            .findFirst()
            .orElseThrow();
    assertTrue(released.getString("note").contains(old));
    assertEquals(0, desk.allocations().get(0).getInteger("slot"));
    assertEquals(0, desk.state().getInteger("pending"));
    assertEquals(new JsonArray(), desk.state().getJsonArray("swaps"));
    assertEquals(new JsonArray(), desk.state().getJsonArray("nominations"));
  }

  @Test
  void askingAgainChangesNothing() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    List<String> held = desk.hold(2, 2);
    stage.blueA().hold(2, 2);
    JsonObject first = desk.swap(held.get(0)).ok();
    JsonObject again = desk.swap(held.get(0)).ok();
    assertEquals(first, again);
    assertEquals(2L, desk.version());
    assertEquals(
        1,
        bourse.audit(desk.orgId(), false).stream()
            .filter(row -> row.action().equals("vm_capacity_swap"))
            .count());
    JsonObject state = desk.state();
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("swaps")));
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("nominations")));
    assertTrue(desk.allocation(held.get(0)).getBoolean("swap"));
    assertFalse(desk.allocation(held.get(1)).getBoolean("swap"));
  }

  @Test
  void swapsOfDifferentNodesStack() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    desk.swap(held.get(0)).ok();
    desk.swap(held.get(1)).ok();
    until(
        "both land",
        () -> desk.allocations().size() == 2 && desk.active().stream().noneMatch(held::contains));
    assertEquals(3L, desk.version());
  }

  @Test
  void theReplacementInheritsTheProtection() {
    Desk desk = bourse.stage().redA();
    String old = desk.hold(1, 2).get(0);
    String until = desk.allocation(old).getString("protected_until");
    desk.swap(old).ok();
    until("the swap lands", () -> desk.allocations().size() == 1 && !desk.active().contains(old));
    assertEquals(until, desk.allocations().get(0).getString("protected_until"));
  }

  @Test
  void aSwappedAwayMachineIsNotGrantedToItsOrganizationAgain() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String old = desk.hold(1, 2).get(0);
    desk.swap(old).ok();
    until("the swap lands", () -> desk.allocations().size() == 1 && !desk.active().contains(old));
    desk.declare(Stage.NODES, 2);
    List<String> rest = desk.untilHeld(Stage.NODES - 1);
    assertFalse(rest.contains(old));
    assertEquals(1, desk.state().getInteger("pending"));
    assertEquals(List.of(old), stage.blueA().hold(1, 2), "another organization may have it");
  }

  @Test
  void aNodeThatIsNotHeldIsUnknown() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    desk.hold(1, 2);
    String others = stage.blueA().hold(1, 2).get(0);
    desk.swap(others).refused(ErrorCode.UNKNOWN_NODE);
    JsonObject refusal = desk.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    assertTrue(refusal.getString("detail").contains("192.0.2.1"));
    assertEquals(1L, desk.version());
  }

  @Test
  void aStaticClustersNodesAreNotSwapped() {
    Desk desk = bourse.stage().redFixed();
    desk.swap(desk.untilHeld(2).get(0)).refused(ErrorCode.SWAP_DISABLED);
  }

  @Test
  void maintenanceAndBillingHoldsGateSwaps() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    bourse.steer(desk.cluster(), Steering.maintain(true));
    desk.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(desk.cluster(), Steering.maintain(false));
    bourse.steer(desk.cluster(), Steering.hold(new Hold(Hold.Stage.NOTICE, "balance", null)));
    desk.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(desk.cluster(), Steering.hold(new Hold(Hold.Stage.GRACE, "balance", null)));
    desk.swap(node).ok();
  }

  @Test
  void aPinnedNodeIsNotSwapped() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    bourse.steer(desk.cluster(), Steering.pin(held.get(0), true));
    desk.swap(held.get(0)).refused(ErrorCode.NODE_PINNED);
    desk.swap(held.get(1)).ok();
    bourse.steer(desk.cluster(), Steering.pin(held.get(0), false));
    desk.swap(held.get(0)).ok();
  }

  @Test
  void aPinThatComesDuringASwapSavesTheNode() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String saved = desk.hold(1, 2).get(0);
    // No machine is free, so that the swap waits.
    List<String> others = stage.blueA().hold(Stage.NODES - 1, 2);
    desk.swap(saved).ok();
    Caller operator = bourse.operator();
    String pin = "/api/operator/clusters/" + desk.cluster() + "/pins/" + saved;
    operator.send("PUT", pin, null).ok();
    JsonObject state = desk.state();
    assertEquals(new JsonArray(), state.getJsonArray("swaps"));
    assertEquals(new JsonArray(), state.getJsonArray("nominations"));
    stage.blueA().declare(0, 2);
    until(
        "machines are free again, which nobody is granted",
        () -> stage.blueA().allocations().isEmpty());
    assertFalse(others.contains(saved));
    desk.swap(saved).refused(ErrorCode.NODE_PINNED);
    assertEquals(List.of(saved), desk.active());
    assertTrue(
        desk.activity().stream()
            .anyMatch(
                e ->
                    ("swap of " + saved + " ended: an operator pinned it")
                        .equals(e.getString("note"))));
    // A swap whose replacement is on its way ends as well.
    operator.send("DELETE", pin, null).ok();
    desk.swap(saved).ok();
    until(
        "a replacement is on its way or has landed",
        () -> desk.allocations().size() > 1 || !desk.active().contains(saved));
    if (desk.active().contains(saved)) {
      HttpAnswer pinned = operator.send("PUT", pin, null);
      if (pinned.status() == 200) {
        until("the replacement is taken back", () -> desk.allocations().size() == 1);
        assertEquals(List.of(saved), desk.active());
      }
    }
  }

  @Test
  void theRefusalsComeInOrder() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    bourse.steer(desk.cluster(), Steering.pin(node, true));
    bourse.steer(desk.cluster(), Steering.maintain(true));
    bourse.steer(desk.cluster(), Steering.posture(Cluster.Posture.STATIC));
    bourse.steer(desk.cluster(), Steering.armWrites(false));
    desk.swap("192.0.2.1").refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    bourse.steer(desk.cluster(), Steering.armWrites(true));
    desk.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    desk.swap(node).refused(ErrorCode.SWAP_DISABLED);
    bourse.steer(desk.cluster(), Steering.posture(Cluster.Posture.MARKET));
    desk.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(desk.cluster(), Steering.maintain(false));
    desk.swap(node).refused(ErrorCode.NODE_PINNED);
  }

  @Test
  void aShrinkTakesTheSwappingNodeFirst() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    List<String> held = desk.hold(2, 2);
    stage.blueA().hold(2, 2);
    desk.swap(held.get(0)).ok();
    assertEquals(held, texts(desk.state().getJsonArray("planned_release")));
    JsonObject shrunk = desk.declare(1, 2);
    assertEquals(new JsonArray(), shrunk.getJsonArray("swaps"));
    assertEquals(List.of(held.get(1)), desk.untilHeld(1));
  }

  @Test
  void releasingEverythingTakesTheReplacementToo() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    desk.swap(held.get(0)).ok();
    desk.declare(0, 2);
    desk.untilHeld(0);
  }

  @Test
  void aSwapMayNameItsClusterAndNothingElse() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String node = desk.hold(1, 2).get(0);
    Caller bound = stage.red("bound");
    bound
        .post("/api/vm/capacity/swap", new JsonObject().put("node", node).put("why", "slow"))
        .refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject().put("node", node)).ok();
  }

  @Test
  void aSwapThatFindsNoReplacementLapsesAndTheNodeStaysHeld() {
    try (RunningBourse hasty = RunningBourse.staged(1, "market.swap-freshness=300ms")) {
      Stage stage = hasty.stage();
      Desk desk = stage.redA();
      List<String> held = desk.hold(2, 2);
      stage.blueA().hold(2, 2);
      JsonObject swap = desk.swap(held.get(0)).ok();
      until("the swap lapses", () -> desk.state().getJsonArray("swaps").isEmpty());
      Optional<JsonObject> lapsed =
          desk.activity().stream()
              .filter(e -> e.getString("kind").equals("action"))
              .filter(e -> e.getString("note").equals("swap of " + held.get(0) + " lapsed"))
              .findFirst();
      assertFalse(
          Instant.parse(lapsed.orElseThrow().getString("ts"))
              .isBefore(Instant.parse(swap.getString("lapses_at"))));
      assertEquals(held, desk.active());
      assertEquals(new JsonArray(), desk.state().getJsonArray("nominations"));
      assertEquals(2L, desk.version());
    }
  }
}
