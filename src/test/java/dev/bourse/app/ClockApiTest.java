package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The effects, on a running service, of a clock that is set ahead or back. */
@EachEngine
class ClockApiTest {
  static final long HOUR = 3_600_000;
  static final long DAYS = 72 * HOUR;
  static final long CREDIT = 1_000_000_000_000L;

  private final SteppingClock clock = new SteppingClock();

  static RunningBourse start(SteppingClock clock, String... settings) {
    String[] all = new String[settings.length + 3];
    all[0] = "billing.check-interval=20ms";
    all[1] = "billing.settle=1ms";
    all[2] = "capacity.write-cadence=1s";
    System.arraycopy(settings, 0, all, 3, settings.length);
    return RunningBourse.withMarkets(1, clock, all);
  }

  static JsonObject clocks(RunningBourse bourse) {
    return bourse.operator().get("/api/operator/clock").ok();
  }

  static List<JsonObject> usage(ApiClient caller) {
    return ClusterClient.objects(
            caller.get("/api/billing/ledger?limit=500").ok().getJsonArray("transactions"))
        .stream()
        .filter(t -> t.getString("kind").equals("usage"))
        .toList();
  }

  @Test
  void aClockAheadForAWhileBillsNothingThatHasNotHappened() {
    try (RunningBourse bourse = start(clock, "time.confirm-after=1h")) {
      ClusterClient client = bourse.market().blueA();
      client.hold(1, 2);
      clock.step(DAYS);
      until("the step is seen", () -> clocks(bourse).getInteger("steps_ahead") > 0);
      JsonObject seen = clocks(bourse).getJsonObject("last_step");
      assertTrue(Math.abs(seen.getLong("by_ms") - DAYS) < HOUR, () -> "three days: " + seen);
      // Checked several times, because usage is posted within some rounds.
      for (int i = 0; i < 20; i++) {
        assertEquals(List.of(), usage(client.caller()));
      }
      clock.step(-DAYS);
      until("it is set back", () -> clocks(bourse).getInteger("steps_back") > 0);
      assertEquals(List.of(), usage(client.caller()));
      JsonObject balance = client.caller().get("/api/billing/balance").ok();
      assertEquals(CREDIT, balance.getLong("posted_micros"));
      assertTrue(balance.getLong("accrued_micros") < 8_000_000, balance::encode);
    }
  }

  @Test
  @Slow("two cadences of 3 s: a shorter one ends before a busy machine sends the next write")
  void aClockSetBackMakesNoWriteWaitLongerThanTheCadence() {
    try (RunningBourse bourse =
        start(clock, "time.confirm-after=1h", "capacity.write-cadence=3s")) {
      ClusterClient client = bourse.market().redA();
      clock.step(DAYS);
      client.declare(0, 2);
      clock.step(-DAYS);
      JsonObject next = client.order(0, 3);
      until("a cadence is over", () -> client.put(next).status() == 200);
      // The cadence still applies: the next write waits, and not longer.
      until(
          "one comes before it is over",
          () -> client.put(client.order(0, 4)).status() == ErrorCode.RATE_LIMITED.status());
      JsonObject last = client.order(0, 4);
      until("another is over", () -> client.put(last).status() == 200);
    }
  }

  @Test
  void aClockThatGoesOnIsConfirmedAndOneThatWasSetIsNotForAWhile() {
    try (RunningBourse bourse = start(clock, "time.confirm-after=1s")) {
      until("confirmed", () -> clocks(bourse).getString("confirmed_at") != null);
      JsonObject steady = clocks(bourse);
      assertEquals(0, steady.getInteger("steps_ahead"));
      assertEquals(0, steady.getInteger("steps_back"));
      assertNull(steady.getJsonObject("last_step"));
      assertEquals(0, steady.getLong("confirmed_in_ms"));

      clock.step(-DAYS);
      until("the step is seen", () -> clocks(bourse).getInteger("steps_back") > 0);
      until("it is confirmed again", () -> clocks(bourse).getString("confirmed_at") != null);
      assertFalse(clocks(bourse).getJsonObject("last_step").isEmpty());
    }
  }
}
