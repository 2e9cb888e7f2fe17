package dev.bourse.capacity;

import static dev.bourse.testing.ClusterClient.texts;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Replacing a held node by another. */
@ReplayedOnPostgres
class SwapApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(20);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void aSwapTellsSinceWhenAndUntilWhenItWaits() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    JsonObject swap = client.swap(node).ok();
    assertEquals(client.cluster(), swap.getString("cluster"));
    assertEquals(node, swap.getString("node"));
    assertEquals("swapping", swap.getString("state"));
    assertEquals(2L, swap.getLong("version"));
    assertEquals(
        Duration.ofHours(1),
        Duration.between(
            Instant.parse(swap.getString("requested_at")),
            Instant.parse(swap.getString("lapses_at"))));
  }

  @Test
  void theOldNodeStaysUntilItsReplacementIsActive() {
    ClusterClient client = bourse.market().redA();
    String old = client.hold(1, 2).get(0);
    ConcurrentLinkedQueue<JsonArray> seen = new ConcurrentLinkedQueue<>();
    client.swap(old).ok();
    until(
        "the swap lands",
        () -> {
          JsonArray allocations = client.state().getJsonArray("allocations");
          seen.add(allocations);
          return allocations.size() == 1
              && !allocations.getJsonObject(0).getString("public_ip").equals(old);
        });
    for (JsonArray allocations : seen) {
      assertTrue(
          ClusterClient.objects(allocations).stream()
              .anyMatch(a -> a.getString("state").equals("active")),
          "no node was active: " + allocations.encode());
    }
    List<JsonObject> activity = client.activity();
    JsonObject released =
        activity.stream()
            .filter(e -> "swap".equals(e.getString("reason")))
            .findFirst()
            .orElseThrow();
    assertTrue(released.getString("note").contains(old));
    assertEquals(0, client.allocations().get(0).getInteger("slot"));
    assertEquals(0, client.state().getInteger("pending"));
    assertEquals(new JsonArray(), client.state().getJsonArray("swaps"));
    assertEquals(new JsonArray(), client.state().getJsonArray("nominations"));
  }

  @Test
  void askingAgainChangesNothing() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    List<String> held = client.hold(2, 2);
    market.blueA().hold(2, 2);
    JsonObject first = client.swap(held.get(0)).ok();
    JsonObject again = client.swap(held.get(0)).ok();
    assertEquals(ClusterClient.withoutPrices(first), ClusterClient.withoutPrices(again));
    assertEquals(2L, client.version());
    assertEquals(
        1,
        bourse.audit(client.orgId(), false).stream()
            .filter(row -> row.action().equals("vm_capacity_swap"))
            .count());
    JsonObject state = client.state();
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("swaps")));
    assertEquals(List.of(held.get(0)), texts(state.getJsonArray("nominations")));
    assertTrue(client.allocation(held.get(0)).getBoolean("swap"));
    assertFalse(client.allocation(held.get(1)).getBoolean("swap"));
  }

  @Test
  void swapsOfDifferentNodesStack() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    client.swap(held.get(0)).ok();
    client.swap(held.get(1)).ok();
    until(
        "both land",
        () ->
            client.allocations().size() == 2 && client.active().stream().noneMatch(held::contains));
    assertEquals(3L, client.version());
  }

  @Test
  void theReplacementInheritsTheProtection() {
    ClusterClient client = bourse.market().redA();
    String old = client.hold(1, 2).get(0);
    String until = client.allocation(old).getString("protected_until");
    client.swap(old).ok();
    until(
        "the swap lands", () -> client.allocations().size() == 1 && !client.active().contains(old));
    assertEquals(until, client.allocations().get(0).getString("protected_until"));
  }

  @Test
  void aSwappedAwayMachineIsNotGrantedToItsOrganizationAgain() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String old = client.hold(1, 2).get(0);
    client.swap(old).ok();
    until(
        "the swap lands", () -> client.allocations().size() == 1 && !client.active().contains(old));
    client.declare(TestMarket.NODES, 2);
    List<String> rest = client.untilHeld(TestMarket.NODES - 1);
    assertFalse(rest.contains(old));
    assertEquals(1, client.state().getInteger("pending"));
    assertEquals(List.of(old), market.blueA().hold(1, 2), "another organization may have it");
  }

  @Test
  void aNodeThatIsNotHeldIsUnknown() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    client.hold(1, 2);
    String others = market.blueA().hold(1, 2).get(0);
    client.swap(others).refused(ErrorCode.UNKNOWN_NODE);
    JsonObject refusal = client.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    assertTrue(refusal.getString("detail").contains("192.0.2.1"));
    assertEquals(1L, client.version());
  }

  @Test
  void aStaticClustersNodesAreNotSwapped() {
    ClusterClient client = bourse.market().redFixed();
    client.swap(client.untilHeld(2).get(0)).refused(ErrorCode.SWAP_DISABLED);
  }

  @Test
  void maintenanceAndBillingHoldsGateSwaps() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    bourse.steer(client.cluster(), DirectChange.maintain(true));
    client.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(client.cluster(), DirectChange.maintain(false));
    bourse.steer(client.cluster(), DirectChange.hold(new Hold(Hold.Stage.NOTICE, "balance", null)));
    client.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(client.cluster(), DirectChange.hold(new Hold(Hold.Stage.GRACE, "balance", null)));
    client.swap(node).ok();
  }

  @Test
  void aPinnedNodeIsNotSwapped() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    bourse.steer(client.cluster(), OperatorCommands.pin(held.get(0), true));
    client.swap(held.get(0)).refused(ErrorCode.NODE_PINNED);
    client.swap(held.get(1)).ok();
    bourse.steer(client.cluster(), OperatorCommands.pin(held.get(0), false));
    client.swap(held.get(0)).ok();
  }

  @Test
  void aPinThatComesDuringASwapSavesTheNode() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String saved = client.hold(1, 2).get(0);
    // No machine is free, so that the swap waits.
    List<String> others = market.blueA().hold(TestMarket.NODES - 1, 2);
    client.swap(saved).ok();
    ApiClient operator = bourse.operator();
    String pin = "/api/operator/clusters/" + client.cluster() + "/pins/" + saved;
    operator.send("PUT", pin, null).ok();
    JsonObject state = client.state();
    assertEquals(new JsonArray(), state.getJsonArray("swaps"));
    assertEquals(new JsonArray(), state.getJsonArray("nominations"));
    market.blueA().declare(0, 2);
    until(
        "machines are free again, which nobody is granted",
        () -> market.blueA().allocations().isEmpty());
    assertFalse(others.contains(saved));
    client.swap(saved).refused(ErrorCode.NODE_PINNED);
    assertEquals(List.of(saved), client.active());
    assertTrue(
        client.activity().stream()
            .anyMatch(
                e ->
                    ("swap of " + saved + " ended: an operator pinned it")
                        .equals(e.getString("note"))));
    // A swap whose replacement is on its way ends as well.
    operator.send("DELETE", pin, null).ok();
    client.swap(saved).ok();
    until(
        "a replacement is on its way or has landed",
        () -> client.allocations().size() > 1 || !client.active().contains(saved));
    if (client.active().contains(saved)) {
      HttpAnswer pinned = operator.send("PUT", pin, null);
      if (pinned.status() == 200) {
        until("the replacement is taken back", () -> client.allocations().size() == 1);
        assertEquals(List.of(saved), client.active());
      }
    }
  }

  @Test
  void theRefusalsComeInOrder() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    bourse.steer(client.cluster(), OperatorCommands.pin(node, true));
    bourse.steer(client.cluster(), DirectChange.maintain(true));
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.STATIC));
    bourse.steer(client.cluster(), DirectChange.armWrites(false));
    client.swap("192.0.2.1").refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    bourse.steer(client.cluster(), DirectChange.armWrites(true));
    client.swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    client.swap(node).refused(ErrorCode.SWAP_DISABLED);
    bourse.steer(client.cluster(), DirectChange.posture(Cluster.Posture.MARKET));
    client.swap(node).refused(ErrorCode.CLUSTER_GATED);
    bourse.steer(client.cluster(), DirectChange.maintain(false));
    client.swap(node).refused(ErrorCode.NODE_PINNED);
  }

  @Test
  void aShrinkTakesTheSwappingNodeFirst() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    List<String> held = client.hold(2, 2);
    market.blueA().hold(2, 2);
    client.swap(held.get(0)).ok();
    assertEquals(held, texts(client.state().getJsonArray("planned_release")));
    JsonObject shrunk = client.declare(1, 2);
    assertEquals(new JsonArray(), shrunk.getJsonArray("swaps"));
    assertEquals(List.of(held.get(1)), client.untilHeld(1));
  }

  @Test
  void releasingEverythingTakesTheReplacementToo() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    client.swap(held.get(0)).ok();
    client.declare(0, 2);
    client.untilHeld(0);
  }

  @Test
  void aSwapMayNameItsClusterAndNothingElse() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String node = client.hold(1, 2).get(0);
    ApiClient bound = market.red("bound");
    bound
        .post("/api/vm/capacity/swap", new JsonObject().put("node", node).put("why", "slow"))
        .refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    bound.post("/api/vm/capacity/swap", new JsonObject().put("node", node)).ok();
  }

  @Test
  void aSwapThatFindsNoReplacementLapsesAndTheNodeStaysHeld() {
    try (RunningBourse hasty = RunningBourse.withMarkets(1, "market.swap-freshness=300ms")) {
      TestMarket market = hasty.market();
      ClusterClient client = market.redA();
      List<String> held = client.hold(2, 2);
      market.blueA().hold(2, 2);
      JsonObject swap = client.swap(held.get(0)).ok();
      until("the swap lapses", () -> client.state().getJsonArray("swaps").isEmpty());
      Optional<JsonObject> lapsed =
          client.activity().stream()
              .filter(e -> e.getString("kind").equals("action"))
              .filter(e -> e.getString("note").equals("swap of " + held.get(0) + " lapsed"))
              .findFirst();
      assertFalse(
          Instant.parse(lapsed.orElseThrow().getString("ts"))
              .isBefore(Instant.parse(swap.getString("lapses_at"))));
      assertEquals(held, client.active());
      assertEquals(new JsonArray(), client.state().getJsonArray("nominations"));
      assertEquals(2L, client.version());
    }
  }
}
