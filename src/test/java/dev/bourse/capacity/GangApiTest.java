package dev.bourse.capacity;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.CapacityApiFixture;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import dev.bourse.testing.SteppingClock;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Clusters with a minimum, all or nothing. */
@ReplayedOnPostgres
class GangApiTest extends CapacityApiFixture {
  private static final int NODE = 8;

  private static JsonObject order(ClusterClient client, int minimum, int nodes, double price) {
    return client.order(nodes, price).put("min_gpus", minimum * NODE);
  }

  private static void refused(ClusterClient client, JsonObject order, String... names) {
    String detail = client.put(order).refused(ErrorCode.BAD_REQUEST).getString("detail");
    for (String name : names) {
      assertTrue(detail.contains(name), detail);
    }
  }

  @Test
  void itsFirstNodesBecomeActiveAtTheSameMoment() {
    ClusterClient red = bourse.market().redA();
    red.addKey();
    JsonObject state = red.put(order(red, 3, 3, 5)).ok();
    assertEquals(3 * NODE, state.getJsonObject("declared").getInteger("min_gpus"));
    until(
        "all are active, and never some",
        () -> {
          int active = red.active().size();
          assertTrue(active == 0 || active == 3, active + " of 3 are active");
          return active == 3;
        });
    Set<String> protectedUntil =
        red.allocations().stream()
            .map(a -> a.getString("protected_until"))
            .collect(Collectors.toSet());
    assertEquals(1, protectedUntil.size(), protectedUntil.toString());
  }

  @Test
  void oneThatDoesNotFitIsPassedOverForTheNextBid() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    ClusterClient gang = market.blueA();
    red.hold(2, 5);
    gang.addKey();
    gang.put(order(gang, 3, 3, 4)).ok();
    market.redB().hold(2, 3);
    assertEquals(List.of(), gang.allocations());
    assertEquals(3, gang.state().getInteger("pending"));
    // The gang would fit if its organization did not hold two nodes.
    assertEquals(4.0, red.state().getJsonObject("pool").getDouble("clearing_price_per_gpu_hour"));
    until(
        "its verdict",
        () ->
            Boolean.TRUE.equals(
                gang.state().getJsonObject("declared").getBoolean("capacity_unavailable")));
  }

  @Test
  void oneLargerThanThePoolIsAcceptedAndToldSo() {
    ClusterClient gang = bourse.market().redA();
    gang.addKey();
    JsonObject order = order(gang, TestMarket.NODES + 1, TestMarket.NODES + 1, 5);
    JsonObject preview = gang.caller().post("/api/vm/capacity/preview", order).ok();
    assertEquals("size", preview.getString("minimum_missed"));
    assertEquals(TestMarket.NODES + 1, preview.getInteger("nodes_unfilled"));
    assertEquals(0, preview.getInteger("nodes_won"));
    gang.put(order).ok();
    until(
        "its verdict",
        () ->
            Boolean.TRUE.equals(
                gang.state().getJsonObject("declared").getBoolean("capacity_unavailable")));
    assertEquals(List.of(), gang.allocations());
    JsonObject fits = order(gang, TestMarket.NODES, TestMarket.NODES, 5);
    assertNull(
        gang.caller().post("/api/vm/capacity/preview", fits).ok().getString("minimum_missed"));
  }

  @Test
  void aMinimumThatIsNoneIsRefused() {
    ClusterClient red = bourse.market().redA();
    red.addKey();
    refused(red, red.order(2, 5).put("min_gpus", 12), "min_gpus", "12", "multiple", "8");
    refused(red, order(red, 3, 2, 5), "min_gpus", "24", "at most max_gpus", "16");
    red.put(order(red, 2, 2, 5)).ok();
    refused(red, red.order(1, 5), "min_gpus", "16", "at most max_gpus", "8");
    red.put(red.order(1, 5).putNull("min_gpus")).ok();
    red.put(order(red, 2, 2, 5)).ok();
    assertNull(red.declare(0, 5).getJsonObject("declared").getValue("min_gpus"));
    red.untilHeld(0);
  }

  @Test
  void whatCannotBeCompletedInTimeIsUnwoundAndNeverActive() {
    try (RunningBourse slow =
        RunningBourse.withMarkets(
            1, "market.gang-patience=300ms", "nodes.simulated.provision-delay=20s")) {
      ClusterClient red = slow.market().redA();
      red.addKey();
      red.put(order(red, 2, 2, 5)).ok();
      until(
          "its grants are unwound",
          () ->
              red.activity().stream()
                  .anyMatch(entry -> String.valueOf(entry.getString("note")).contains("min_gpus")));
      assertEquals(List.of(), red.active());
    }
  }

  /** Starts two services, so that the market learns of the gang from the store. */
  @Test
  void itsPatienceGoesOnOverARestart() {
    SteppingClock clock = SteppingClock.midMonth();
    RunningBourse first =
        RunningBourse.withMarkets(
            1, clock, "market.gang-patience=1h", "nodes.simulated.provision-delay=10m");
    ClusterClient red = first.market().redA();
    red.addKey();
    red.put(order(red, 2, 2, 5)).ok();
    until("it is granted", () -> red.allocations().size() == 2);
    long granted = Times.parse(red.allocations().get(0).getString("granted_at")).orElseThrow();
    first.stop();
    clock.step(40 * MINUTE);
    try (RunningBourse again = first.restarted()) {
      ClusterClient gang = TestMarket.of(again, 1).redA();
      assertEquals(2, gang.allocations().size());
      long wentOn = clock.millis();
      clock.step(20 * MINUTE);
      until("its grants are unwound", () -> !unwound(gang).isEmpty());
      Set<Long> at = Set.copyOf(unwound(gang));
      assertEquals(1, at.size(), "all active at the same moment: " + at);
      long unwoundAt = at.iterator().next();
      assertTrue(unwoundAt >= granted + 60 * MINUTE, unwoundAt + " after " + granted);
      assertTrue(unwoundAt < wentOn + 60 * MINUTE, "within the patience from the restart");
      assertEquals(List.of(), gang.active());
    }
  }

  /** Returns when grants were unwound because the minimum was not complete in time. */
  private static List<Long> unwound(ClusterClient gang) {
    return gang.activity().stream()
        .filter(e -> String.valueOf(e.getString("note")).contains("min_gpus"))
        .map(e -> Times.parse(e.getString("ts")).orElseThrow())
        .toList();
  }

  /**
   * A gang that waits for one of two nodes is granted none and pays nothing. The wipe of the other
   * takes 10 s, in which the test has to find the gang waiting.
   */
  @Test
  @Slow("a wipe takes 10 s, in which the test has to find the gang waiting")
  void itIsBilledFromTheMomentItsMinimumWasActive() {
    SteppingClock clock = SteppingClock.midMonth();
    try (RunningBourse slow =
        RunningBourse.withMarkets(
            1, clock, "market.gang-patience=1h", "nodes.simulated.reclaim-delay=10s")) {
      TestMarket market = slow.market();
      ClusterClient blue = market.blueA();
      ClusterClient red = market.redA();
      blue.hold(TestMarket.NODES - 1, 2);
      red.addKey();
      red.put(order(red, 2, 2, 5)).ok();
      // By now the gang has won another node, which is granted when its wipe ends.
      blue.declare(TestMarket.NODES - 2, 2);
      clock.step(10 * MINUTE);
      assertEquals(List.of(), red.allocations(), "the free node is reserved for the gang");
      assertEquals(0, gpuMillis(red));

      red.untilHeld(2);
      clock.step(20 * MINUTE);
      red.declare(0, 5);
      until("its nodes are given back", () -> red.active().isEmpty());

      List<long[]> billed =
          await(
              slow.database()
                  .read(
                      "SELECT active_at, reclaim_at FROM allocation WHERE cluster = ?",
                      List.of(red.cluster()),
                      row -> new long[] {row.integer("active_at"), row.integer("reclaim_at")}));
      assertEquals(2, billed.size());
      assertEquals(billed.get(0)[0], billed.get(1)[0], "active at the same moment");
      long millis = billed.get(0)[1] - billed.get(0)[0];
      assertTrue(millis >= 20 * MINUTE && millis < 25 * MINUTE, millis + " ms");
      assertEquals(2 * NODE * millis, gpuMillis(red));
    }
  }

  private static final long MINUTE = 60_000;

  /** Returns the billed GPU-milliseconds. */
  private static long gpuMillis(ClusterClient client) {
    return ClusterClient.objects(
            client.caller().get("/api/billing/usage").ok().getJsonArray("lines"))
        .stream()
        .filter(line -> line.getString("cluster").equals(client.cluster()))
        .mapToLong(line -> line.getLong("gpu_millis"))
        .sum();
  }

  @Test
  void aModelBidsForAMinimumToo() {
    try (RunningBourse demo = RunningBourse.demo()) {
      ClusterClient client = new ClusterClient(demo.as("acme", "orgwide"), "acme", "acme-train");
      client.addKey();
      McpClient alice = McpClient.of(demo, "acme", "alice");
      JsonObject bid = McpClient.bid("acme-train", 2 * NODE, 2.5);
      String detail =
          alice
              .refused("bid_write", bid.copy().put("min_gpus", 12), ErrorCode.BAD_REQUEST)
              .getString("detail");
      assertTrue(detail.contains("min_gpus") && detail.contains("12"), detail);
      JsonObject large = McpClient.bid("acme-train", 100 * NODE, 2.5).put("min_gpus", 100 * NODE);
      assertEquals("size", alice.ok("bid_write", large).getString("minimum_missed"));

      JsonObject arguments = bid.copy().put("min_gpus", 2 * NODE);
      JsonObject preview = alice.ok("bid_write", arguments);
      assertNull(preview.getValue("minimum_missed"));
      assertEquals(2, preview.getInteger("nodes_won"));
      JsonObject written = alice.ok("bid_write", McpClient.confirm(arguments, preview));

      assertEquals(
          2 * NODE,
          written.getJsonObject("state").getJsonObject("declared").getInteger("min_gpus"));
      client.untilHeld(2);
      assertEquals(
          1,
          client.allocations().stream()
              .map(a -> a.getString("protected_until"))
              .distinct()
              .count());
    }
  }
}
