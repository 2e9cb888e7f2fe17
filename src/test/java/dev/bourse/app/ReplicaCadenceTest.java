package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two services on one database keep one write cadence for each cluster. */
@OneEngine("only PostgreSQL is shared by several services")
class ReplicaCadenceTest {
  /** Passes only when the test moves the clock of both services. */
  private static final Duration CADENCE = Duration.ofHours(1);

  private static ClusterClient client(RunningBourse service, String token) {
    return new ClusterClient(service.with(token), "acme", "acme-train");
  }

  @Test
  void anAcceptedWriteDelaysTheNextOneThroughEitherService() throws Exception {
    SteppingClock clock = SteppingClock.midMonth();
    String url = "store.url=" + SharedPostgres.server().newStore();
    String cadence = "capacity.write-cadence=" + CADENCE.toSeconds() + "s";
    try (RunningBourse first = RunningBourse.demo(clock, url, cadence);
        RunningBourse second = RunningBourse.demo(clock, url, cadence)) {
      String token = first.secret("acme", "orgwide");
      List<ClusterClient> both = List.of(client(first, token), client(second, token));
      for (int version = 0; version < 4; version++) {
        ClusterClient writer = both.get(version % 2);
        JsonObject order =
            writer
                .order(0, 2)
                .put("max_price_per_gpu_hour", 2 + version)
                .put("expected_version", version);
        writer.put(order).ok();
        for (ClusterClient next : both) {
          JsonObject refusal =
              next.put(order.copy().put("expected_version", version + 1))
                  .refused(ErrorCode.RATE_LIMITED);
          assertEquals("cadence", refusal.getString("reason"));
        }
        clock.step(CADENCE.toMillis());
      }
    }
  }
}
