package dev.bourse.billing;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One spend limit over clusters in two pools, which are cleared separately. */
@ReplayedOnPostgres
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SpendLimitPoolsTest {
  private static final List<String> POOLS = List.of("p1", "p2");
  private static final long DOLLAR = 1_000_000;

  /** At this ceiling a node's ten minutes of protection commit $13.33. */
  private static final double CEILING = 10;

  /** Enough for two nodes, and not for three. */
  private static final long LIMIT_USD = 30;

  private RunningBourse bourse;
  private ApiClient caller;

  @BeforeEach
  void start() {
    StringBuilder world = new StringBuilder("pools:\n");
    for (String pool : POOLS) {
      world.append(
          """
            - name: %s
              site: lab
              provider: simulated
              gpu_vendor: NVIDIA
              gpu_model: H100
              gpus_per_node: 8
              reserve_price_per_gpu_hour: 1.00
              max_price_cap_per_gpu_hour: 10.00
              ssh_user: tenant
              simulated_nodes: 4
          """
              .formatted(pool));
    }
    world.append(
        """
        orgs:
          - id: acme
            display: Acme
            kind: standard
            credit: 1000000
            clusters:
              - {name: acme-p1, pool: p1}
              - {name: acme-p2, pool: p2}
            tokens:
              - {name: orgwide, scopes: ["capacity:read", "capacity:write", "billing:read"]}
        """);
    bourse =
        RunningBourse.world(
            world.toString(),
            SteppingClock.midMonth(),
            "billing.spend-limit-enforced=true",
            "market.protection=10m");
    caller = bourse.as("acme", "orgwide");
    client("p1").addKey();
  }

  @AfterEach
  void stop() {
    bourse.close();
  }

  private ClusterClient client(String pool) {
    return new ClusterClient(caller, "acme", "acme-" + pool);
  }

  private void limit(double usd) {
    bourse
        .operator()
        .put("/api/operator/orgs/acme/billing/spend-limit", new JsonObject().put("limit_usd", usd))
        .ok();
  }

  private int held(String pool) {
    return client(pool).allocations().size();
  }

  private long spentOrCommittedMicros() {
    JsonObject balance = caller.get("/api/billing/balance").ok();
    return balance.getLong("month_usage_micros") + balance.getLong("committed_micros");
  }

  /** Waits for three clearings of each pool, one of which began after this call and is complete. */
  private void untilTicked() {
    for (String pool : POOLS) {
      for (int i = 0; i < 3; i++) {
        String before = tick(pool);
        until("a tick of " + pool, () -> !before.equals(tick(pool)));
      }
    }
  }

  private String tick(String pool) {
    return ClusterClient.objects(caller.get("/api/market/feed").ok().getJsonArray("pools")).stream()
        .filter(p -> p.getString("pool").equals(pool))
        .findFirst()
        .orElseThrow()
        .getString("tick_at");
  }

  @Test
  void whatIsLeftCanBeGrantedOnceInEachPoolAndNeverMore() {
    limit(0);
    POOLS.forEach(pool -> client(pool).declare(4, CEILING));
    untilTicked();
    POOLS.forEach(pool -> assertEquals(0, held(pool), "nothing is left to spend"));

    limit(LIMIT_USD);
    until("what is left is granted", () -> held("p1") + held("p2") >= 2);
    untilTicked();
    // Each pool may have used the whole limit before it saw the other's grants.
    int total = held("p1") + held("p2");
    for (String pool : POOLS) {
      assertTrue(held(pool) <= 2, pool + " holds " + held(pool));
    }
    assertTrue(
        spentOrCommittedMicros() <= POOLS.size() * LIMIT_USD * DOLLAR,
        "limit + (P - 1) x what was left: " + spentOrCommittedMicros());

    untilTicked();
    assertEquals(total, held("p1") + held("p2"), "the excess is granted once");
  }

  @Test
  void whatOnePoolHasGrantedIsCommittedInTheOther() {
    limit(LIMIT_USD);
    client("p1").declare(4, CEILING);
    until("two are active", () -> client("p1").active().size() == 2);
    client("p2").declare(4, CEILING);
    untilTicked();
    assertEquals(2, held("p1"));
    assertEquals(0, held("p2"), "$3.33 are left");
    assertTrue(spentOrCommittedMicros() <= LIMIT_USD * DOLLAR);

    client("p1").declare(0, CEILING);
    client("p2").untilHeld(2);
    untilTicked();
    assertEquals(2, held("p2"));
    assertTrue(spentOrCommittedMicros() <= LIMIT_USD * DOLLAR);
  }
}
