package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Accepted writes of one cluster keep their distance; refused ones do not count. */
@EachEngine
class WriteCadenceTest {
  private static final int CADENCE_SECONDS = 3;

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(6, "capacity.write-cadence=" + CADENCE_SECONDS + "s");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void anAcceptedWriteMakesTheNextOneWait() {
    Desk desk = bourse.stage().redA();
    desk.declare(0, 2);
    JsonObject next = desk.order(0, 3);
    JsonObject refusal = desk.put(next).refused(ErrorCode.RATE_LIMITED);
    assertEquals("cadence", refusal.getString("reason"));
    long wait = refusal.getLong("retry_after_s");
    assertTrue(wait >= 1 && wait <= CADENCE_SECONDS, "retry_after_s " + wait);
    assertEquals(1L, desk.version());
    until("the same request is accepted", () -> desk.put(next).status() == 200);
    assertEquals(2L, desk.version());
  }

  @Test
  void aRefusedWriteStartsNoCadence() {
    Desk desk = bourse.stage().redA();
    desk.put(desk.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.put(desk.order(0, 0.5)).refused(ErrorCode.BID_TOO_LOW);
    desk.declare(0, 2);
  }

  @Test
  void everyOtherRefusalComesBeforeTheCadence() {
    Desk desk = bourse.stage().redA();
    desk.declare(0, 2);
    desk.put(desk.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.put(desk.order(0, 0.5)).refused(ErrorCode.BID_TOO_LOW);
    desk.put(desk.order(0, 2).put("expected_version", 7)).refused(ErrorCode.VERSION_MISMATCH);
    desk.put(desk.order(0, 2).put("release", new JsonArray().add("192.0.2.1")))
        .refused(ErrorCode.UNKNOWN_NODE);
    desk.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    desk.put(desk.order(0, 2)).refused(ErrorCode.RATE_LIMITED);
  }

  @Test
  void swapsAndDeclarationsShareOneClock() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    // The grant may have taken any part of the cadence: the first swap goes in when it is over.
    until("the first swap", () -> desk.swap(held.get(0)).status() == 200);
    desk.swap(held.get(1)).refused(ErrorCode.RATE_LIMITED);
    desk.put(desk.order(0, 2)).refused(ErrorCode.RATE_LIMITED);
  }

  @Test
  void eachClusterHasItsOwnClock() {
    Stage stage = bourse.stage();
    stage.redA().declare(0, 2);
    stage.redB().declare(0, 2);
  }

  @Test
  void theMarketsOwnChangesStartNoCadence() {
    Desk desk = bourse.stage().redA();
    desk.hold(1, 2);
    until(
        "the declaration's own cadence is over", () -> desk.put(desk.order(1, 3)).status() == 200);
    assertEquals(2L, desk.version());
  }
}
