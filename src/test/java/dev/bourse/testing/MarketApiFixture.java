package dev.bourse.testing;

import static dev.bourse.testing.RunningBourse.until;

import io.vertx.core.json.JsonObject;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A pool of its own for each test of the market over HTTP. */
public abstract class MarketApiFixture {
  protected static RunningBourse bourse;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.withMarkets(16);
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }

  /** The market's pool as the feed shows it. */
  protected static JsonObject quote(TestMarket market) {
    return ClusterClient.objects(
            market.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(market.name()))
        .findFirst()
        .orElseThrow();
  }

  /** Waits for a clearing that began after this call, and for its orders: the third from now. */
  protected static void untilCleared(TestMarket market) {
    for (int tick = 0; tick < 3; tick++) {
      String before = quote(market).getString("tick_at");
      until("a tick", () -> !Objects.equals(before, quote(market).getString("tick_at")));
    }
  }
}
