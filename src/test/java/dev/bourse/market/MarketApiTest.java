package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.MarketApiFixture;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
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
    brief = RunningBourse.withMarkets(8, "market.protection=500ms");
  }

  @AfterAll
  static void stopBrief() {
    brief.close();
  }

  private static List<JsonObject> released(ClusterClient client, String reason) {
    return client.activity().stream().filter(e -> reason.equals(e.getString("reason"))).toList();
  }

  @Test
  void aSoleBuyerPaysTheReserve() {
    TestMarket market = bourse.market();
    market.redA().hold(2, 9);
    untilCleared(market);
    JsonObject quote = quote(market);
    assertEquals(1.0, quote.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
    assertEquals(2, quote.getInteger("free_nodes"));
    assertEquals(TestMarket.NODES, quote.getInteger("usable_nodes"));
  }

  @Test
  void theHighestLosingBidSetsThePrice() {
    TestMarket market = brief.market();
    market.redA().hold(TestMarket.NODES, 5);
    market.blueA().addKey();
    market.blueA().declare(1, 3);
    until(
        "blue's losing bid is the price",
        () -> Objects.equals(quote(market).getValue("clearing_price_per_gpu_hour"), 3.0));
    JsonObject quote = quote(market);
    assertTrue(quote.getDouble("admission_price_per_gpu_hour") > 5, quote.encode());
    assertEquals(0, quote.getInteger("free_nodes"));
    untilTold(market.blueA(), true, false);
  }

  @Test
  void aHigherBidTakesANodeOnlyWhenItsProtectionHasEnded() {
    TestMarket market = brief.market();
    ClusterClient red = market.redA();
    ClusterClient blue = market.blueA();
    List<String> held = red.hold(TestMarket.NODES, 2);
    Instant protectedUntil = Instant.MAX;
    for (String node : held) {
      Instant until = Instant.parse(red.allocation(node).getString("protected_until"));
      protectedUntil = until.isBefore(protectedUntil) ? until : protectedUntil;
    }
    blue.hold(1, 5);
    assertEquals(TestMarket.NODES - 1, red.active().size());
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
    TestMarket market = bourse.market();
    List<String> held = market.redA().hold(TestMarket.NODES, 2);
    market.blueA().addKey();
    market.blueA().declare(1, 10);
    untilCleared(market);
    assertEquals(held, market.redA().active());
    assertEquals(1, market.blueA().state().getInteger("pending"));
    untilTold(market.blueA(), false, true);
    assertNull(quote(market).getValue("admission_price_per_gpu_hour"));
  }

  @Test
  void loweringTheCeilingEndsTheProtection() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(TestMarket.NODES, 4);
    market.blueA().addKey();
    market.blueA().declare(1, 3);
    untilCleared(market);
    assertEquals(TestMarket.NODES, red.active().size());
    red.declare(TestMarket.NODES, 2);
    market.blueA().untilHeld(1);
    assertEquals(1, released(red, "outbid").size());
  }

  @Test
  void raisingTheCeilingWinsTheNextFreeNode() {
    TestMarket market = brief.market();
    market.redA().hold(TestMarket.NODES, 3);
    ClusterClient blue = market.blueA();
    blue.addKey();
    blue.declare(2, 2);
    until(
        "blue is too low", () -> blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    blue.declare(2, 4);
    blue.untilHeld(2);
    until(
        "its bid is high enough",
        () -> !blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(2, market.redA().untilHeld(2).size());
  }

  @Test
  void clustersOfOneOrganizationDoNotRaiseItsPrice() {
    TestMarket market = brief.market();
    market.redA().hold(TestMarket.NODES, 5);
    market.redB().declare(2, 3);
    untilCleared(market);
    assertEquals(1.0, quote(market).getDouble("clearing_price_per_gpu_hour"));
  }

  @Test
  void equalBidsShareWhatComesFree() {
    TestMarket market = bourse.market();
    market.redB().hold(TestMarket.NODES, 2);
    market.blueA().addKey();
    market.redA().declare(TestMarket.NODES, 2);
    market.blueA().declare(TestMarket.NODES, 2);
    market.redB().declare(0, 2);
    market.redA().untilHeld(2);
    market.blueA().untilHeld(2);
  }

  @Test
  void aHoldsNoticeStopsNewCapacityAndKeepsTheOld() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(1, 2);
    bourse.steer(
        red.cluster(),
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "balance", 1_900_000_000_000L)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("hold", hold.getString("state"));
    assertEquals("notice", hold.getString("stage"));
    assertEquals("balance", hold.getString("reason"));
    long left = 1_900_000_000_000L - System.currentTimeMillis();
    long shown = hold.getLong("enforce_after_ms");
    assertTrue(shown >= left && shown < left + 60_000, "it counts down: " + shown);
    red.declare(3, 2);
    untilCleared(market);
    assertEquals(held, red.active());
    assertEquals(2, red.state().getInteger("pending"));
    bourse.steer(red.cluster(), DirectChange.hold(null));
    red.untilHeld(3);
    assertNull(red.state().getValue("billing_hold"));
  }

  @Test
  void anEnforcedHoldReclaimsAllAndLeavesTheDeclaration() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(2, 2);
    bourse.steer(red.cluster(), DirectChange.hold(new Hold(Hold.Stage.ENFORCE, "balance", null)));
    red.untilHeld(0);
    assertEquals(2, released(red, "hold").size());
    JsonObject state = red.state();
    assertEquals("enforce", state.getJsonObject("billing_hold").getString("stage"));
    assertEquals(16, state.getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(1L, state.getLong("version"));
  }

  @Test
  void aGracePeriodChangesNothing() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(1, 2);
    bourse.steer(red.cluster(), DirectChange.hold(new Hold(Hold.Stage.GRACE, "balance", null)));
    JsonObject hold = red.state().getJsonObject("billing_hold");
    assertEquals("grace", hold.getString("state"));
    assertNull(hold.getValue("stage"));
    red.declare(2, 2);
    red.untilHeld(2);
  }

  @Test
  void aPinnedNodeIsNotLostToAnyBid() {
    TestMarket market = brief.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 2);
    for (String node : held.subList(0, 3)) {
      brief.steer(red.cluster(), OperatorCommands.pin(node, true));
    }
    market.blueA().addKey();
    market.blueA().declare(TestMarket.NODES, 5);
    market.blueA().untilHeld(1);
    untilCleared(market);
    assertEquals(held.subList(0, 3), red.active());
  }

  @Test
  void aGrantThatCannotBePreparedIsUnwoundAndItsMachineSetAside() {
    try (RunningBourse failing = RunningBourse.withMarkets(1, "nodes.simulated.failure-rate=1")) {
      TestMarket market = failing.market();
      ClusterClient red = market.redA();
      red.addKey();
      red.declare(1, 2);
      until("every machine was tried", () -> unwound(red).size() >= TestMarket.NODES);
      until("none is usable", () -> quote(market).getInteger("usable_nodes") == 0);
      List<JsonObject> unwound = unwound(red);
      assertEquals(TestMarket.NODES, unwound.size());
      assertEquals(
          TestMarket.NODES,
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

  /** Waits until a cluster has its market's verdict, which comes just after the tick's prices. */
  private static void untilTold(
      ClusterClient client, boolean bidTooLow, boolean capacityUnavailable) {
    until(
        "bid_too_low=%s capacity_unavailable=%s".formatted(bidTooLow, capacityUnavailable),
        () -> {
          JsonObject declared = client.state().getJsonObject("declared");
          return Objects.equals(declared.getValue("bid_too_low"), bidTooLow)
              && Objects.equals(declared.getValue("capacity_unavailable"), capacityUnavailable);
        });
  }

  private static List<JsonObject> unwound(ClusterClient client) {
    return client.activity().stream()
        .filter(e -> e.getString("kind").equals("action"))
        .filter(e -> e.getString("note").contains("unwound"))
        .toList();
  }
}
