package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplicaPair;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A token's limits hold across processes that share one database. */
@OneEngine("only PostgreSQL is shared by several processes")
class ReplicaTokenLimitTest {
  private static final int ROUNDS = 15;

  @Test
  @Slow("starts two processes")
  void twoWritesAtTwoProcessesDoNotPassOnTheSameMoney() throws Exception {
    try (ReplicaPair pair = new ReplicaPair()) {
      pair.addKeys();
      JsonObject minted =
          pair.operator(pair.first())
              .post(
                  "/api/operator/orgs/acme/tokens",
                  new JsonObject()
                      .put("name", "agent")
                      .put("scopes", new JsonArray().add("capacity:read").add("capacity:write"))
                      .put("limits", new JsonObject().put("max_hourly_usd", 24)))
              .json();
      String secret = minted.getString("token");
      ClusterClient here =
          new ClusterClient(new ApiClient(pair.first().baseUrl(), secret), "acme", "acme-train");
      ClusterClient there =
          new ClusterClient(new ApiClient(pair.second().baseUrl(), secret), "acme", "acme-batch");
      RunningBourse.until(
          "the second knows the token", () -> there.caller().get("/api/whoami").status() == 200);
      int passed = 0;
      for (int round = 0; round < ROUNDS; round++) {
        List.of(here, there)
            .forEach(
                client ->
                    RunningBourse.until(
                        "it is released", () -> client.put(client.order(0, 2)).status() == 200));
        JsonObject first = here.order(1, 2);
        JsonObject second = there.order(1, 2);
        CompletableFuture<HttpAnswer> one = CompletableFuture.supplyAsync(() -> here.put(first));
        CompletableFuture<HttpAnswer> two = CompletableFuture.supplyAsync(() -> there.put(second));
        for (HttpAnswer answer : List.of(one.join(), two.join())) {
          if (answer.status() == 200) {
            passed++;
          } else {
            answer.refused(ErrorCode.TOKEN_LIMIT);
          }
        }
        assertTrue(
            pair.number(
                    "SELECT SUM(max_gpus * ceiling_cents) FROM cluster WHERE declared_by = 'token:"
                        + minted.getString("token_id")
                        + "'")
                <= 2_400,
            "round " + round);
      }
      assertTrue(passed > 0 && passed <= ROUNDS);
    }
  }
}
