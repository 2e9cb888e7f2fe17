package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Times;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a clock that was ahead and was believed has done is put right once it is set back. */
@OneEngine("the embedded store has no other clock than this machine's; ClockApiTest has the rest")
class ClockCorrectionApiTest {
  /** No hour ends by itself meanwhile, and none is posted that has happened. */
  private final SteppingClock clock = SteppingClock.midMonth();

  private static long millis(String time) {
    return Times.parse(time).orElseThrow();
  }

  @Test
  void whatAClockAheadHasPostedAndLeftIsPutRight() {
    try (RunningBourse bourse = ClockApiTest.start(clock, "store.url=sqlite")) {
      ClusterClient client = bourse.market().blueA();
      client.hold(1, 2);
      clock.step(ClockApiTest.DAYS);
      until(
          "hours are posted that have not happened",
          () -> ClockApiTest.usage(client.caller()).size() >= 72);
      until("written in the time to come", () -> client.put(client.order(2, 2)).status() == 200);
      client.untilHeld(2);

      until(
          "the time to come is on record",
          () -> newest(bourse) > clock.millis() - ClockApiTest.HOUR);

      clock.step(-ClockApiTest.DAYS);
      until(
          "all of it is reversed",
          () -> {
            List<JsonObject> all = ClockApiTest.usage(client.caller());
            return all.stream().mapToLong(t -> t.getLong("amount_micros")).sum() == 0
                && all.stream().anyMatch(t -> t.getLong("reverses") != null);
          });
      JsonObject balance = client.caller().get("/api/billing/balance").ok();
      assertEquals(ClockApiTest.CREDIT, balance.getLong("posted_micros"));
      assertTrue(
          ClusterClient.objects(
                  client.caller().get("/api/billing/usage").ok().getJsonArray("lines"))
              .stream()
              .noneMatch(line -> line.getBoolean("posted")));
      assertTrue(bourse.operator().get("/api/operator/ledger").ok().getBoolean("sound"));

      until(
          "no protection lasts for days",
          () ->
              client.allocations().stream()
                  .allMatch(
                      a ->
                          millis(a.getString("granted_at")) <= clock.millis() + 60_000
                              && millis(a.getString("protected_until"))
                                  <= clock.millis() + ClockApiTest.HOUR + 60_000));
      until(
          "the cadence waits no longer than ever",
          () -> client.put(client.order(1, 2)).status() == 200);
      client.untilHeld(1);
      assertTrue(
          newest(bourse) > clock.millis() + ClockApiTest.DAYS / 2, "the newest stays on record");
    }
  }

  private static long newest(RunningBourse bourse) {
    String told = ClockApiTest.clocks(bourse).getString("newest_confirmed_at");
    return told == null ? 0 : millis(told);
  }
}
