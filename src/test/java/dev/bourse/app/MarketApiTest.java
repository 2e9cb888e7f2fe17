package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Steering;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the market grants and takes, and at which price. */
@EachEngine
class MarketApiTest extends MarketApiFixture {
  /** One whose grants are protected for a moment only. */
  private static RunningBourse brief;

  @BeforeAll
  static void startBrief() {
    brief = RunningBourse.staged(8, "market.protection=500ms");
  }

  @AfterAll
  static void stopBrief() {
    brief.close();
  }

  private static List<JsonObject> released(Desk desk, String reason) {
    return desk.activity().stream().filter(e -> reason.equals(e.getString("reason"))).toList();
  }

  @Test
  void aSoleBuyerPaysTheReserve() {
    Stage stage = bourse.stage();
    stage.redA().hold(2, 9);
    untilCleared(stage);
    JsonObject quote = quote(stage);
    assertEquals(1.0, quote.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
    assertEquals(2, quote.getInteger("free_nodes"));
    assertEquals(Stage.NODES, quote.getInteger("usable_nodes"));
  }

  @Test
  void theHighestLosingBidSetsThePrice() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 5);
    stage.blueA().addKey();
    stage.blueA().declare(1, 3);
    until(
        "blue's losing bid is the price",
        () -> Objects.equals(quote(stage).getValue("clearing_price_per_gpu_hour"), 3.0));
    JsonObject quote = quote(stage);
    assertTrue(quote.getDouble("admission_price_per_gpu_hour") > 5, quote.encode());
    assertEquals(0, quote.getInteger("free_nodes"));
    JsonObject declared = stage.blueA().state().getJsonObject("declared");
    assertTrue(declared.getBoolean("bid_too_low"));
    assertFalse(declared.getBoolean("capacity_unavailable"));
  }

  @Test
  void aHigherBidTakesANodeOnlyWhenItsProtectionHasEnded() {
    Stage stage = brief.stage();
    Desk red = stage.redA();
    Desk blue = stage.blueA();
    List<String> held = red.hold(Stage.NODES, 2);
    Instant protectedUntil = Instant.MAX;
    for (String node : held) {
      Instant until = Instant.parse(red.allocation(node).getString("protected_until"));
      protectedUntil = until.isBefore(protectedUntil) ? until : protectedUntil;
    }
    blue.hold(1, 5);
    assertEquals(Stage.NODES - 1, red.active().size());
    List<JsonObject> outbid = released(red, "outbid");
    assertEquals(1, outbid.size());
    assertEquals("system:market", outbid.get(0).getString("actor"));
    assertFalse(Instant.parse(outbid.get(0).getString("ts")).isBefore(protectedUntil));
    assertTrue(held.containsAll(blue.active()), "it is red's node that blue got");
    assertEquals(1, red.state().getInteger("pending"));
    until(
        "red is told that its bid is too low",
        () -> red.state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(1L, red.version(), "the market leaves the version alone");
  }

  @Test
  void aProtectedNodeIsNotLostToAnyBid() {
    Stage stage = bourse.stage();
    List<String> held = stage.redA().hold(Stage.NODES, 2);
    stage.blueA().addKey();
    stage.blueA().declare(1, 10);
    untilCleared(stage);
    assertEquals(held, stage.redA().active());
    assertEquals(1, stage.blueA().state().getInteger("pending"));
    assertTrue(stage.blueA().state().getJsonObject("declared").getBoolean("capacity_unavailable"));
    assertFalse(stage.blueA().state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertNull(quote(stage).getValue("admission_price_per_gpu_hour"));
  }

  @Test
  void loweringTheCeilingEndsTheProtection() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(Stage.NODES, 4);
    stage.blueA().addKey();
    stage.blueA().declare(1, 3);
    untilCleared(stage);
    assertEquals(Stage.NODES, red.active().size());
    red.declare(Stage.NODES, 2);
    stage.blueA().untilHeld(1);
    assertEquals(1, released(red, "outbid").size());
  }

  @Test
  void raisingTheCeilingWinsTheNextFreeNode() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 3);
    Desk blue = stage.blueA();
    blue.addKey();
    blue.declare(2, 2);
    until(
        "blue is too low", () -> blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    blue.declare(2, 4);
    blue.untilHeld(2);
    assertFalse(blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(2, stage.redA().untilHeld(2).size());
  }

  @Test
  void clustersOfOneOrganizationDoNotRaiseItsPrice() {
    Stage stage = brief.stage();
    stage.redA().hold(Stage.NODES, 5);
    stage.redB().declare(2, 3);
    untilCleared(stage);
    assertEquals(1.0, quote(stage).getDouble("clearing_price_per_gpu_hour"));
  }

  @Test
  void equalBidsShareWhatComesFree() {
    Stage stage = bourse.stage();
    stage.redB().hold(Stage.NODES, 2);
    stage.blueA().addKey();
    stage.redA().declare(Stage.NODES, 2);
    stage.blueA().declare(Stage.NODES, 2);
    stage.redB().declare(0, 2);
    stage.redA().untilHeld(2);
    stage.blueA().untilHeld(2);
  }

  @Test
  void aHoldsNoticeStopsNewCapacityAndKeepsTheOld() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    List<String> held = red.hold(1, 2);
    bourse.steer(
        red.cluster(), Steering.hold(new Hold(Hold.Stage.NOTICE, "balance", 1_900_000_000_000L)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("hold", hold.getString("state"));
    assertEquals("notice", hold.getString("stage"));
    assertEquals("balance", hold.getString("reason"));
    long left = 1_900_000_000_000L - System.currentTimeMillis();
    long shown = hold.getLong("enforce_after_ms");
    assertTrue(shown >= left && shown < left + 60_000, "it counts down: " + shown);
    red.declare(3, 2);
    untilCleared(stage);
    assertEquals(held, red.active());
    assertEquals(2, red.state().getInteger("pending"));
    bourse.steer(red.cluster(), Steering.hold(null));
    red.untilHeld(3);
    assertNull(red.state().getValue("billing_hold"));
  }

  @Test
  void anEnforcedHoldReclaimsAllAndLeavesTheDeclaration() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(2, 2);
    bourse.steer(red.cluster(), Steering.hold(new Hold(Hold.Stage.ENFORCE, "balance", null)));
    red.untilHeld(0);
    assertEquals(2, released(red, "hold").size());
    JsonObject state = red.state();
    assertEquals("enforce", state.getJsonObject("billing_hold").getString("stage"));
    assertEquals(16, state.getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(1L, state.getLong("version"));
  }

  @Test
  void aGracePeriodChangesNothing() {
    Stage stage = bourse.stage();
    Desk red = stage.redA();
    red.hold(1, 2);
    bourse.steer(red.cluster(), Steering.hold(new Hold(Hold.Stage.GRACE, "balance", null)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("grace", hold.getString("state"));
    assertNull(hold.getValue("stage"));
    red.declare(2, 2);
    red.untilHeld(2);
  }

  @Test
  void aPinnedNodeIsNotLostToAnyBid() {
    Stage stage = brief.stage();
    Desk red = stage.redA();
    List<String> held = red.hold(Stage.NODES, 2);
    for (String node : held.subList(0, 3)) {
      brief.steer(red.cluster(), Steering.pin(node, true));
    }
    stage.blueA().addKey();
    stage.blueA().declare(Stage.NODES, 5);
    stage.blueA().untilHeld(1);
    untilCleared(stage);
    assertEquals(held.subList(0, 3), red.active());
  }

  @Test
  void aGrantThatCannotBePreparedIsUnwoundAndItsMachineSetAside() {
    try (RunningBourse failing = RunningBourse.staged(1, "nodes.simulated.failure-rate=1")) {
      Stage stage = failing.stage();
      Desk red = stage.redA();
      red.addKey();
      red.declare(1, 2);
      until("every machine was tried", () -> unwound(red).size() >= Stage.NODES);
      until("none is usable", () -> quote(stage).getInteger("usable_nodes") == 0);
      List<JsonObject> unwound = unwound(red);
      assertEquals(Stage.NODES, unwound.size());
      assertEquals(
          Stage.NODES,
          unwound.stream().map(e -> e.getString("note")).distinct().count(),
          "each machine was tried once: it backs off");
      assertEquals(1, red.state().getInteger("pending"));
      until(
          "capacity is what red lacks",
          () ->
              Boolean.TRUE.equals(
                  red.state().getJsonObject("declared").getValue("capacity_unavailable")));
      assertFalse(red.state().getJsonObject("declared").getBoolean("bid_too_low"));
      assertEquals(List.of(), red.active());
    }
  }

  private static List<JsonObject> unwound(Desk desk) {
    return desk.activity().stream()
        .filter(e -> e.getString("kind").equals("action"))
        .filter(e -> e.getString("note").contains("unwound"))
        .toList();
  }
}
