package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** The market's grants, reclaims and prices. */
@EachEngine
class MarketApiTest extends MarketApiFixture {
  /** Starts a service whose grants are protected for a moment only. */
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
  void theHighestLosingBidSetsThePrice() {
    TestMarket market = brief.market();
    market.redA().hold(TestMarket.NODES, 5);
    market.blueA().addKey();
    market.blueA().declare(1, 3);
    until(
        "blue's losing bid is the price",
        () -> Objects.equals(quote(market).getValue("clearing_price_per_gpu_hour"), 3.0));
    until(
        "the protection is over",
        () -> quote(market).getValue("admission_price_per_gpu_hour") != null);
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

  /** Waits until a cluster has the market's verdict, which comes just after the tick's prices. */
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
}
