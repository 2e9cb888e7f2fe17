package dev.bourse.capacity;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
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
    bourse = RunningBourse.withMarkets(6, "capacity.write-cadence=" + CADENCE_SECONDS + "s");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void anAcceptedWriteMakesTheNextOneWait() {
    ClusterClient client = bourse.market().redA();
    JsonObject refusal = inTheCadence(client, () -> client.put(client.order(0, 3)));
    assertEquals("cadence", refusal.getString("reason"));
    long wait = refusal.getLong("retry_after_s");
    assertTrue(wait >= 1 && wait <= CADENCE_SECONDS, "retry_after_s " + wait);
    long version = client.version();
    JsonObject next = client.order(0, 3);
    until("the same request is accepted", () -> client.put(next).status() == 200);
    assertEquals(version + 1, client.version());
  }

  @Test
  void aRefusedWriteStartsNoCadence() {
    ClusterClient client = bourse.market().redA();
    client.put(client.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    client.put(client.order(0, 0.5)).refused(ErrorCode.BID_TOO_LOW);
    client.declare(0, 2);
  }

  @Test
  void everyOtherRefusalComesBeforeTheCadence() {
    ClusterClient client = bourse.market().redA();
    inTheCadence(
        client,
        () -> {
          client.put(client.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
          client.put(client.order(0, 0.5)).refused(ErrorCode.BID_TOO_LOW);
          client
              .put(client.order(0, 2).put("expected_version", 700))
              .refused(ErrorCode.VERSION_MISMATCH);
          client
              .put(client.order(0, 2).put("release", new JsonArray().add("192.0.2.1")))
              .refused(ErrorCode.UNKNOWN_NODE);
          client.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
          return client.put(client.order(0, 2));
        });
  }

  /**
   * Declares something and does something else after it, until what it does last is refused: a slow
   * machine may take longer for that than the cadence.
   */
  private static JsonObject inTheCadence(ClusterClient client, Supplier<HttpAnswer> then) {
    AtomicReference<HttpAnswer> answer = new AtomicReference<>();
    until(
        "it comes before the cadence is over",
        () -> {
          client.put(client.order(0, 2));
          answer.set(then.get());
          return answer.get().status() != 200;
        });
    return answer.get().refused(ErrorCode.RATE_LIMITED);
  }

  @Test
  void swapsAndDeclarationsShareOneClock() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    // The grant may have taken any part of the cadence: the first swap goes in when it is over.
    until("the first swap", () -> client.swap(held.get(0)).status() == 200);
    until(
        "both come before its cadence is over",
        () -> {
          List<HttpAnswer> answers =
              List.of(client.swap(client.active().get(0)), client.put(client.order(2, 2)));
          return answers.stream().allMatch(one -> one.status() == ErrorCode.RATE_LIMITED.status());
        });
  }

  @Test
  void eachClusterHasItsOwnClock() {
    TestMarket market = bourse.market();
    market.redA().declare(0, 2);
    market.redB().declare(0, 2);
  }

  @Test
  void theMarketsOwnChangesStartNoCadence() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    until(
        "the declaration's own cadence is over",
        () -> client.put(client.order(1, 3)).status() == 200);
    assertEquals(2L, client.version());
  }
}
