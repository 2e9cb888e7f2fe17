package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The write cadence separates accepted writes of a cluster; rejected ones do not count. */
@ReplayedOnPostgres
class WriteCadenceTest {
  /** Longer than a test takes on a slow machine; the clock skips it in one step. */
  private static final int CADENCE_SECONDS = 60;

  private static final SteppingClock CLOCK = SteppingClock.midMonth();

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(6, CLOCK, "capacity.write-cadence=" + CADENCE_SECONDS + "s");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static void letTheCadencePass() {
    CLOCK.step(CADENCE_SECONDS * 1_000);
  }

  @Test
  void anAcceptedWriteMakesTheNextOneWait() {
    ClusterClient client = bourse.market().redA();
    client.declare(0, 2);
    JsonObject next = client.order(0, 3);
    JsonObject refusal = client.put(next).refused(ErrorCode.RATE_LIMITED);
    assertEquals("cadence", refusal.getString("reason"));
    long wait = refusal.getLong("retry_after_s");
    assertTrue(wait >= 1 && wait <= CADENCE_SECONDS, "retry_after_s " + wait);
    assertEquals(1L, client.version());
    letTheCadencePass();
    client.put(next).ok();
    assertEquals(2L, client.version());
  }

  @Test
  void eachClusterHasItsOwnClock() {
    TestMarket market = bourse.market();
    market.redA().declare(0, 2);
    market.redB().declare(0, 2);
  }
}
