package dev.bourse.edge;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Scrape;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The budget of a token over two whole services, and over one whose server refuses it. */
@OneEngine("Budgets are not kept in the store.")
class SharedBudgetApiTest {
  private static boolean isShared(RunningBourse service) {
    return Scrape.of(service.service().signals()).sum("bourse_shared_budget_up") == 1;
  }

  private static int read(RunningBourse service, String secret) {
    return service.with(secret).get("/api/vm/capacity").status();
  }

  /** Returns true if two services together accept four requests of a token and reject the fifth. */
  private static boolean isOneBudget(RunningBourse first, RunningBourse second, String secret) {
    for (RunningBourse each : List.of(first, second, first, second)) {
      if (read(each, secret) != 200) {
        return false;
      }
    }
    HttpAnswer refused = first.with(secret).get("/api/vm/capacity");
    return refused.status() == 429
        && refused.header("retry-after").matches("\\d+")
        && read(second, secret) == 429;
  }

  @Test
  void twoServicesOnOneStoreShareATokensBudgetAndGoOnWithoutTheServer(@TempDir Path folder)
      throws Exception {
    try (RedisServer redis = RedisServer.start();
        PostgresServer server = PostgresServer.start(folder.resolve("pg"), Map.of())) {
      String[] settings = {
        "store.url=" + server.newDatabase(),
        "limits.requests-per-minute=4",
        "limits.shared-url=" + redis.url(),
        "limits.shared-timeout=1s"
      };
      try (RunningBourse first = RunningBourse.demo(settings);
          RunningBourse second = RunningBourse.demo(settings)) {
        // The first attempt to connect, which loads the client's classes, may take too long.
        until("both share", () -> isShared(first) && isShared(second));
        // A delay of a second makes a service count alone, and a budget gains a request every 15
        // seconds, so one of three tokens must show the common budget.
        Optional<String> shared =
            List.of(
                    first.secret("acme", "bound"),
                    first.secret("globex", "bound"),
                    first.secret("globex", "orgwide"))
                .stream()
                .filter(each -> isOneBudget(first, second, each))
                .findFirst();
        assertTrue(shared.isPresent(), "each service counts for itself");
        String secret = shared.orElseThrow();
        redis.stop();
        until("the first counts for itself", () -> read(first, secret) == 200);
        until("the second counts for itself", () -> read(second, secret) == 200);
      }
    }
  }
}
