package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;

import io.vertx.core.json.JsonObject;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A pool of its own for each test of the market over HTTP. */
abstract class MarketApiFixture {
  static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(16);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** The stage's pool as the feed shows it. */
  static JsonObject quote(Stage stage) {
    return Desk.objects(stage.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(stage.name()))
        .findFirst()
        .orElseThrow();
  }

  /** Waits for a clearing that began after this call, and for its orders: the third from now. */
  static void untilCleared(Stage stage) {
    for (int tick = 0; tick < 3; tick++) {
      String before = quote(stage).getString("tick_at");
      until("a tick", () -> !Objects.equals(before, quote(stage).getString("tick_at")));
    }
  }
}
