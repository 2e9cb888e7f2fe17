package dev.bourse.app;

import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Steering;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What Kubernetes clusters bid and hold. */
@EachEngine
class K8sApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(16);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String name(Stage stage) {
    return stage.red() + "-k8s";
  }

  private static JsonObject bid(Stage stage) {
    return stage.red("orgwide").get("/api/k8s/bid").ok();
  }

  /** A bid upon the version in force. */
  private static JsonObject order(Stage stage, int nodes, double limit) {
    return new JsonObject()
        .put("limit_price_per_gpu_hour", limit)
        .put("max_gpus", nodes * Desk.NODE)
        .put("expected_version", bid(stage).getLong("version"));
  }

  private static HttpAnswer put(Stage stage, JsonObject order) {
    return stage.red("orgwide").put("/api/k8s/bid", order);
  }

  private static JsonObject read(Stage stage) {
    return stage.red("orgwide").get("/api/k8s/clusters/" + name(stage)).ok();
  }

  private static JsonObject metrics(Stage stage) {
    return stage.red("orgwide").get("/api/k8s/metrics").ok();
  }

  private static void untilActive(Stage stage, int nodes) {
    until(
        "so many are active",
        () ->
            metrics(stage).getInteger("nodes_active") == nodes
                && read(stage).getJsonArray("nodes").size() == nodes);
  }

  @Test
  void aBidIsGrantedNodesByNameAndNoKeyIsDemanded() {
    Stage stage = bourse.stage();
    JsonObject standing = put(stage, order(stage, 2, 3.5)).ok();
    assertEquals(1L, standing.getLong("version"));
    assertEquals(3.5, standing.getJsonObject("bid").getDouble("limit_price_per_gpu_hour"));
    assertEquals(16, standing.getJsonObject("bid").getInteger("max_gpus"));
    untilActive(stage, 2);
    List<JsonObject> nodes = Desk.objects(read(stage).getJsonArray("nodes"));
    for (JsonObject node : nodes) {
      assertTrue(node.getString("name").startsWith(stage.name() + "-0000"), node.encode());
      assertEquals("active", node.getString("state"));
      assertFalse(node.encode().contains("198.18."), "no address");
    }
    assertEquals(2L, nodes.stream().map(n -> n.getString("name")).distinct().count());
    until(
        "it is priced",
        () -> read(stage).getJsonObject("pool").getValue("clearing_price_per_gpu_hour") != null);
    assertEquals(1.0, read(stage).getJsonObject("pool").getDouble("clearing_price_per_gpu_hour"));
  }

  @Test
  void itsNodesArePreparedWithoutTheOrganizationsKeys() {
    Stage stage = bourse.stage();
    stage.redA().addKey();
    put(stage, order(stage, 1, 2)).ok();
    untilActive(stage, 1);
    stage.redA().hold(1, 2);
    assertEquals(
        List.of(), held(name(stage)).allocations().get(0).keyIds(), "nobody logs in to its node");
    assertFalse(held(stage.redA().cluster()).allocations().get(0).keyIds().isEmpty());
  }

  private static Cluster held(String name) {
    return bourse.service().clusters().find(name).orElseThrow().cluster();
  }

  @Test
  void theFiguresSayWhatIsHeldAndAwaited() {
    Stage stage = bourse.stage();
    JsonObject before = metrics(stage);
    assertEquals(
        new JsonObject()
            .put("cluster", name(stage))
            .put("nodes_held", 0)
            .put("nodes_active", 0)
            .put("nodes_pending", 0)
            .put("gpus", 0)
            .put("utilisation", null),
        before);
    put(stage, order(stage, Stage.NODES + 1, 2)).ok();
    untilActive(stage, Stage.NODES);
    JsonObject full = metrics(stage);
    assertEquals(Stage.NODES, full.getInteger("nodes_held"));
    assertEquals(1, full.getInteger("nodes_pending"));
    assertEquals(Stage.NODES * Desk.NODE, full.getInteger("gpus"));
    assertNull(full.getValue("utilisation"));
  }

  @Test
  void aLimitPriceAloneKeepsTheSize() {
    Stage stage = bourse.stage();
    put(stage, order(stage, 1, 2)).ok();
    JsonObject order = order(stage, 0, 3);
    order.remove("max_gpus");
    JsonObject standing = put(stage, order).ok().getJsonObject("bid");
    assertEquals(8, standing.getInteger("max_gpus"));
    assertEquals(3.0, standing.getDouble("limit_price_per_gpu_hour"));
  }

  @Test
  void aFirstLimitPriceAloneBidsForNothing() {
    Stage stage = bourse.stage();
    assertNull(bid(stage).getValue("bid"));
    JsonObject order = order(stage, 0, 3);
    order.remove("max_gpus");
    assertEquals(0, put(stage, order).ok().getJsonObject("bid").getInteger("max_gpus"));
  }

  @Test
  void aLowerSizeTakesNodesAtOnce() {
    Stage stage = bourse.stage();
    put(stage, order(stage, 2, 2)).ok();
    untilActive(stage, 2);
    put(stage, order(stage, 1, 2)).ok();
    assertEquals(1, metrics(stage).getInteger("nodes_held"));
    untilActive(stage, 1);
  }

  @Test
  void aBidIsRefusedAsADeclarationIs() {
    Stage stage = bourse.stage();
    put(stage, order(stage, 1, 2).put("max_gpus", 7)).refused(ErrorCode.BAD_REQUEST);
    JsonObject precise =
        put(stage, order(stage, 1, 2).put("limit_price_per_gpu_hour", 2.001))
            .refused(ErrorCode.PRICE_PRECISION);
    assertTrue(precise.getString("detail").startsWith("limit_price_per_gpu_hour"));
    assertEquals(
        10.0,
        put(stage, order(stage, 1, 10.01))
            .refused(ErrorCode.PRICE_ABOVE_MAXIMUM)
            .getDouble("maximum"));
    put(stage, order(stage, 1, 2).put("expected_version", 9)).refused(ErrorCode.VERSION_MISMATCH);
    assertEquals(
        1.0, put(stage, order(stage, 1, 0.99)).refused(ErrorCode.BID_TOO_LOW).getDouble("minimum"));
    put(stage, order(stage, 1, 2).put("release", new JsonArray())).refused(ErrorCode.BAD_REQUEST);
    bourse.steer(name(stage), Steering.posture(Cluster.Posture.STATIC));
    put(stage, order(stage, 1, 2)).refused(ErrorCode.STATIC_POSTURE);
    bourse.steer(name(stage), Steering.armWrites(false));
    put(stage, order(stage, 1, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    assertEquals(0L, bid(stage).getLong("version"), "nothing of it was written");
    assertEquals(List.of(), bids(stage));
  }

  private static List<AuditRow> bids(Stage stage) {
    return bourse.audit(stage.red(), false).stream()
        .filter(row -> row.action().equals("k8s_bid_put"))
        .toList();
  }

  @Test
  void anAcceptedBidIsInTheTrailAndReadsAreNot() {
    Stage stage = bourse.stage();
    Caller caller = stage.red("orgwide");
    put(stage, order(stage, 1, 2.5)).ok();
    AuditRow row = bids(stage).get(0);
    assertEquals(caller.actor(), row.actor());
    assertEquals(name(stage), row.subject());
    assertEquals("max_gpus=8 limit_price_per_gpu_hour=2.50 version=1", row.detail());
    assertEquals(List.of(), bourse.audit(stage.red(), true));
  }

  @Test
  void theCadenceIsThatOfDeclarations() {
    try (RunningBourse slow = RunningBourse.staged(1, "capacity.write-cadence=1h")) {
      Stage stage = slow.stage();
      put(stage, order(stage, 1, 2)).ok();
      put(stage, order(stage, 1, 3)).refused(ErrorCode.RATE_LIMITED);
      stage.redA().addKey();
      stage.redA().declare(1, 2);
    }
  }

  @Test
  void bothKindsBidInOneMarket() {
    Stage stage = bourse.stage();
    stage.blueA().hold(1, 2);
    put(stage, order(stage, Stage.NODES, 3)).ok();
    untilActive(stage, Stage.NODES - 1);
    assertEquals(1, stage.blueA().active().size());
    assertEquals(1, metrics(stage).getInteger("nodes_pending"));
  }

  @Test
  void aHoldIsShownAndKeepsNewNodesAway() {
    Stage stage = bourse.stage();
    put(stage, order(stage, 1, 2)).ok();
    untilActive(stage, 1);
    assertNull(read(stage).getValue("billing_hold"));
    assertTrue(read(stage).containsKey("billing_hold"));
    bourse.steer(name(stage), Steering.hold(new Hold(Hold.Stage.NOTICE, "balance", null)));
    JsonObject shown =
        new JsonObject()
            .put("state", "hold")
            .put("reason", "balance")
            .put("stage", "notice")
            .put("enforce_after_ms", null);

    assertEquals(shown, read(stage).getValue("billing_hold"));
    assertEquals(shown, bid(stage).getValue("billing_hold"));
    JsonObject raised = put(stage, order(stage, 2, 2)).ok();
    assertEquals(16, raised.getJsonObject("bid").getInteger("max_gpus"), "bids are accepted");
    bourse.steer(name(stage), Steering.hold(new Hold(Hold.Stage.ENFORCE, "balance", null)));
    until("all is reclaimed", () -> metrics(stage).getInteger("nodes_held") == 0);
    assertEquals(16, bid(stage).getJsonObject("bid").getInteger("max_gpus"));
    bourse.steer(name(stage), Steering.hold(null));
    untilActive(stage, 2);
  }

  @Test
  void itsNodesAreBilledAsThoseOfVmClustersAre() {
    Stage stage = bourse.stage();
    put(stage, order(stage, 1, 2)).ok();
    untilActive(stage, 1);
    String usage = "/api/billing/usage?cluster=" + name(stage);
    until(
        "a line says so",
        () ->
            Desk.objects(stage.red("orgwide").get(usage).ok().getJsonArray("lines")).stream()
                .anyMatch(line -> line.getLong("amount_micros") > 0));
  }

  @Test
  void aSurfaceDoesNotKnowTheOthersClusters() {
    Stage stage = bourse.stage();
    Caller caller = stage.red("orgwide");
    caller.get("/api/vm/capacity?cluster=" + name(stage)).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/vm/activity?cluster=" + name(stage)).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/vm/history?cluster=" + name(stage)).refused(ErrorCode.NOT_FOUND);
    String vm = stage.redA().cluster();
    caller.get("/api/k8s/bid?cluster=" + vm).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/k8s/clusters/" + vm).refused(ErrorCode.NOT_FOUND);
    put(stage, order(stage, 1, 2).put("cluster", vm)).refused(ErrorCode.NOT_FOUND);
    stage.blue("orgwide").get("/api/k8s/bid").refused(ErrorCode.NOT_FOUND);
    assertEquals(
        List.of(name(stage)),
        Desk.objects(caller.get("/api/k8s/clusters").ok().getJsonArray("clusters")).stream()
            .map(c -> c.getString("cluster"))
            .toList());
    put(stage, order(stage, 1, 2)).ok();
    untilActive(stage, 1);
    assertTrue(
        Desk.objects(caller.get("/api/vm/activity").ok().getJsonArray("entries")).stream()
            .noneMatch(e -> e.getString("cluster").equals(name(stage))),
        "merged activity is of VM clusters");
  }

  @Test
  void listsGoOnAfterAName() {
    Stage stage = bourse.stage();
    Caller caller = stage.red("orgwide");
    JsonObject first = caller.get("/api/k8s/clusters?limit=1").ok();
    assertFalse(first.getBoolean("more"));
    assertEquals(1, first.getJsonArray("clusters").size());
    JsonObject rest = caller.get("/api/k8s/clusters?after=" + name(stage)).ok();
    assertEquals(new JsonArray(), rest.getJsonArray("clusters"));
    caller.get("/api/k8s/clusters?limit=0").refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void anUnchangedBidIsNotSentAgain() {
    Stage stage = bourse.stage();
    Caller caller = stage.red("orgwide");
    put(stage, order(stage, 1, 2)).ok();
    untilActive(stage, 1);
    until(
        "304 while nothing changes",
        () -> {
          String etag = caller.get("/api/k8s/bid").header("etag");
          return caller.get("/api/k8s/bid", "If-None-Match", etag).status() == 304;
        });
    String before = caller.get("/api/k8s/bid").header("etag");
    put(stage, order(stage, 1, 3)).ok();
    assertNotEquals(before, caller.get("/api/k8s/bid").header("etag"));
  }

  @Test
  void aTokenBoundToAVmClusterReachesNone() {
    try (RunningBourse demo = RunningBourse.demo()) {
      Caller bound = demo.as("acme", "bound");
      assertEquals(new JsonArray(), bound.get("/api/k8s/clusters").ok().getJsonArray("clusters"));
      bound.get("/api/k8s/bid").refused(ErrorCode.NOT_FOUND);
      bound.get("/api/k8s/bid?cluster=acme-k8s").refused(ErrorCode.FORBIDDEN);
      assertEquals(
          "acme-k8s", demo.as("acme", "orgwide").get("/api/k8s/bid").ok().getString("cluster"));
      demo.as("acme", "readonly").get("/api/k8s/bid").refused(ErrorCode.FORBIDDEN);
    }
  }

  @Test
  void aClusterOfTheOtherKindIsSaidToBeOneToItsOwnOrganization() {
    try (RunningBourse demo = RunningBourse.demo()) {
      Caller own = demo.as("acme", "orgwide");
      assertEquals(
          "'acme-k8s' is a Kubernetes cluster, no VM cluster; read it at"
              + " /api/k8s/clusters/acme-k8s",
          detail(own.get("/api/vm/capacity?cluster=acme-k8s")));
      assertEquals(
          "'acme-train' is a VM cluster, no Kubernetes cluster; read it at"
              + " /api/vm/capacity?cluster=acme-train",
          detail(own.get("/api/k8s/bid?cluster=acme-train")));
      assertEquals(
          detail(own.get("/api/k8s/bid?cluster=acme-train")),
          detail(demo.as("acme", "bound").get("/api/k8s/bid")),
          "its token is bound to that one");
      assertEquals(
          "no VM cluster 'acme-k8s' here",
          detail(demo.as("acme", "bound").get("/api/vm/capacity?cluster=acme-k8s")));
      assertEquals(
          "no VM cluster 'acme-k8s' here",
          detail(demo.as("globex", "orgwide").get("/api/vm/capacity?cluster=acme-k8s")));
    }
  }

  private static String detail(HttpAnswer answer) {
    return answer.refused(ErrorCode.NOT_FOUND).getString("detail");
  }
}
