package dev.bourse.events;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A cluster's history in buckets. */
@ReplayedOnPostgres
class HistoryApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(6);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject history(ClusterClient client, String hours) {
    return client.caller().get("/api/vm/history?cluster=" + client.cluster() + hours).ok();
  }

  private static Object last(JsonObject history, String series) {
    JsonArray values = history.getJsonArray(series);
    return values.getValue(values.size() - 1);
  }

  @Test
  void aBucketIsA400thOfTheSpanButAtLeastAMinute() {
    ClusterClient client = bourse.market().redA();
    for (List<Integer> rule :
        List.of(List.of(1, 60, 60), List.of(24, 216, 400), List.of(8760, 78_840, 400))) {
      long before = System.currentTimeMillis() / 1000;
      JsonObject history = history(client, "&hours=" + rule.get(0));
      long after = System.currentTimeMillis() / 1000;
      assertEquals(rule.get(1), history.getInteger("step"));
      for (String series : List.of("max_nodes", "granted", "max_price", "price")) {
        assertEquals(rule.get(2), history.getJsonArray(series).size(), series);
      }
      long end = history.getLong("t0") + (long) rule.get(1) * rule.get(2);
      assertTrue(end >= before && end <= after, "the last bucket ends now");
    }
    for (String half : List.of("0.5", "5e-1", "0.05E1", "0.500000000000000000000", "5.0e%2D1")) {
      assertEquals(30, history(client, "&hours=" + half).getJsonArray("granted").size(), half);
    }
    assertEquals(216, history(client, "&hours=2.4e%2B1").getInteger("step"));
    for (String wrong :
        List.of("1e400", "-1e400", "1e-400", "1e5", "0x10", "NaN", ".5", "5.", "1e")) {
      client
          .caller()
          .get("/api/vm/history?cluster=" + client.cluster() + "&hours=" + wrong)
          .refused(ErrorCode.BAD_REQUEST);
    }
    assertEquals(216, history(client, "").getInteger("step"), "a day unless it is said");
  }

  @Test
  void beforeTheFirstDeclarationNothingIsDeclaredAndNothingHeld() {
    JsonObject history = history(bourse.market().redA(), "&hours=0.5");
    for (int i = 0; i < 30; i++) {
      assertNull(history.getJsonArray("max_nodes").getValue(i));
      assertNull(history.getJsonArray("max_price").getValue(i));
      assertNull(history.getJsonArray("price").getValue(i));
      assertEquals(0, history.getJsonArray("granted").getInteger(i));
    }
  }

  @Test
  void theLastBucketShowsWhatIsInForce() {
    ClusterClient client = bourse.market().redA();
    client.hold(2, 3.5);
    // Buckets end on whole seconds, so a declaration shows up to a second later.
    until(
        "the declaration shows",
        () -> Integer.valueOf(2).equals(last(history(client, "&hours=0.5"), "granted")));
    JsonObject history = history(client, "&hours=0.5");
    assertEquals(2, last(history, "max_nodes"));
    assertEquals(28.0, ((Number) last(history, "max_price")).doubleValue(), "per node-hour");
    until(
        "the price shows",
        () ->
            last(history(client, "&hours=0.5"), "price") instanceof Number price
                && price.doubleValue() == 8.0);
    assertNull(history.getJsonArray("max_nodes").getValue(0));
    assertEquals(0, history.getJsonArray("granted").getInteger(0));
    client.declare(0, 3.5);
    until(
        "it goes", () -> Integer.valueOf(0).equals(last(history(client, "&hours=0.5"), "granted")));
    assertEquals(0, last(history(client, "&hours=0.5"), "max_nodes"));
  }

  @Test
  void hoursHaveLimits() {
    ClusterClient client = bourse.market().redA();
    for (String hours : List.of("0.49", "8760.01", "0", "-1", "x", "", "1e4", "NaN")) {
      String detail =
          client
              .caller()
              .get("/api/vm/history?cluster=" + client.cluster() + "&hours=" + hours)
              .refused(ErrorCode.BAD_REQUEST)
              .getString("detail");
      assertTrue(detail.contains("hours"), detail);
    }
    history(client, "&hours=0.5");
    history(client, "&hours=8760");
    history(client, "&hours=8760.0");
  }
}
