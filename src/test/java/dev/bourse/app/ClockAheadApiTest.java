package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.bourse.core.Times;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * A process ran by a clock three days ahead, and the next one starts with the right clock: feed,
 * history and bill report the same price, before and after the clock is confirmed.
 */
@EachEngine
class ClockAheadApiTest {
  private static final long MINUTE = 60_000;
  private static final long DAYS = 72 * 60 * MINUTE;
  private static final String UNCONFIRMED = "time.confirm-after=24h";

  private final SteppingClock clock = SteppingClock.midMonth();

  private static JsonObject setPool(RunningBourse bourse, TestMarket market, JsonObject change) {
    return bourse.operator().patch("/api/operator/pools/" + market.name(), change).ok();
  }

  private static double feed(TestMarket market) {
    return ClusterClient.objects(
            market.blueA().caller().get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(pool -> pool.getString("pool").equals(market.name()))
        .map(pool -> Objects.requireNonNullElse(pool.getDouble("clearing_price_per_gpu_hour"), 0.0))
        .findFirst()
        .orElse(0.0);
  }

  /** The mean price of the history's last minute. */
  private static Double history(ClusterClient client, TestMarket market) {
    JsonArray means =
        client
            .caller()
            .get("/api/market/history?hours=0.5&pool=" + market.name())
            .ok()
            .getJsonArray("clearing_price");
    return means.getDouble(means.size() - 1);
  }

  /** The price of the hour's last part, at its time. */
  private Double bill(ClusterClient client) {
    List<JsonObject> spans =
        ClusterClient.objects(
            client
                .caller()
                .get(
                    "/api/billing/usage/working?cluster="
                        + client.cluster()
                        + "&hour="
                        + Times.rfc3339(clock.millis()))
                .ok()
                .getJsonArray("spans"));
    return spans.get(spans.size() - 1).getDouble("clearing_price_per_gpu_hour");
  }

  /** The number of prices later than any right clock. */
  private long pricesAhead(RunningBourse bourse) {
    return await(
        bourse
            .database()
            .readOne(
                "SELECT COUNT(*) AS ahead FROM price_point WHERE ts > ?",
                List.of(clock.millis() + MINUTE),
                row -> row.integer("ahead")));
  }

  private void assertAgree(RunningBourse bourse, double price) {
    TestMarket market = TestMarket.of(bourse, 1);
    ClusterClient client = market.blueA();
    until("the feed says " + price, () -> feed(market) == price);
    // Two minutes of that price, which contain the last bucket.
    clock.step(2 * MINUTE);
    assertEquals(price, history(client, market));
    assertEquals(price, bill(client));
    assertEquals(price, feed(market));
  }

  /** A market that clears at 1, and at 3 while its clock is three days ahead. */
  private TestMarket raisedThreeDaysAhead(RunningBourse ahead) {
    TestMarket market = ahead.market();
    market.blueA().hold(1, 5);
    assertAgree(ahead, 1);
    clock.step(DAYS);
    setPool(ahead, market, new JsonObject().put("reserve_price_per_gpu_hour", 3));
    until("it clears at 3", () -> feed(market) == 3);
    return market;
  }

  @Test
  void theFeedTheHistoryAndTheBillAgreeAfterAPriceOfThreeDaysAhead() {
    RunningBourse ahead = ClockApiTest.start(clock, UNCONFIRMED);
    TestMarket market = raisedThreeDaysAhead(ahead);
    ahead.stop();
    clock.step(-DAYS);

    RunningBourse unconfirmed = ahead.restarted();
    assertAgree(unconfirmed, 3);
    assertNotEquals(0, pricesAhead(unconfirmed), "nothing is decided yet");
    setPool(unconfirmed, market, new JsonObject().put("reserve_price_per_gpu_hour", 2));
    assertAgree(unconfirmed, 2);

    try (RunningBourse confirmed = confirmedAtOnce(unconfirmed)) {
      assertEquals(0, pricesAhead(confirmed), "corrected before it served");
      assertAgree(confirmed, 2);
    }
  }

  @Test
  void theyAgreeInAPausedMarket() {
    RunningBourse ahead = ClockApiTest.start(clock, UNCONFIRMED);
    TestMarket market = raisedThreeDaysAhead(ahead);
    setPool(ahead, market, new JsonObject().put("paused", true).put("pause_reason", "power"));
    ahead.stop();
    clock.step(-DAYS);

    RunningBourse unconfirmed = ahead.restarted();
    assertAgree(unconfirmed, 1);

    try (RunningBourse confirmed = confirmedAtOnce(unconfirmed)) {
      assertEquals(0, pricesAhead(confirmed), "corrected before it served");
      assertAgree(confirmed, 1);
    }
  }

  /** The next process on the same data, whose clock is confirmed when it starts. */
  private static RunningBourse confirmedAtOnce(RunningBourse before) {
    return before.restartedWith(
        "billing.check-interval=20ms",
        "billing.settle=1ms",
        "capacity.write-cadence=1s",
        "time.confirm-after=0");
  }
}
