package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that loses its database reports it, and after some time refuses all callers. */
@OneEngine("only a server can go away while the service stays")
class StoreAwayTest {
  @Test
  @Slow("a server of its own starts, stops and starts again")
  void withoutItsDatabaseItIsNotReadyAndThenTrustsNoTokenUntilItIsBack(@TempDir Path folder)
      throws Exception {
    try (PostgresServer server = PostgresServer.start(folder.resolve("pg"), Map.of());
        RunningBourse bourse =
            RunningBourse.withMarkets(
                1,
                "store.url=" + server.newDatabase(),
                "store.query-timeout=1s",
                "store.probe-interval=50ms",
                "store.away-after=500ms",
                "store.stale-after=1s")) {
      ClusterClient client = bourse.market().redA();
      until("it is ready at first", () -> bourse.unready().isEmpty());
      server.stop();
      until("it is not ready", () -> !bourse.unready().isEmpty());
      String why = bourse.unready();
      assertTrue(why.startsWith("not ready: the store cannot be "), why);
      until("nobody is let in", () -> client.caller().get("/api/whoami").status() == 503);
      assertTrue(
          client.caller().get("/api/whoami").refused(ErrorCode.OVERLOADED).getLong("retry_after_s")
              >= 1);
      assertEquals(200, bourse.with(null).get("/api/vm/openapi.json").status());
      assertEquals(401, bourse.with(null).get("/api/whoami").status());
      server.startAgain();
      until("it is ready", () -> bourse.unready().isEmpty());
      until("everybody is let in", () -> client.caller().get("/api/whoami").status() == 200);
      until("it takes writes", () -> isWritten(client));
    }
  }

  /**
   * Returns whether a write of the current version succeeds. A machine that stands still for a
   * second makes the store stale once more, and then the version cannot be read either.
   */
  private static boolean isWritten(ClusterClient client) {
    HttpAnswer state = client.caller().get("/api/vm/capacity?cluster=" + client.cluster());
    return state.status() == 200
        && client
                .put(
                    new JsonObject()
                        .put("cluster", client.cluster())
                        .put("max_gpus", 0)
                        .put("max_price_per_gpu_hour", 2)
                        .put("expected_version", state.json().getLong("version")))
                .status()
            == 200;
  }
}
