package dev.bourse.capacity;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Bids and nodes of Kubernetes clusters. */
@ReplayedOnPostgres
class K8sApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(24);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String name(TestMarket market) {
    return market.red() + "-k8s";
  }

  private static JsonObject bid(TestMarket market) {
    return market.red("orgwide").get("/api/k8s/bid").ok();
  }

  /** A bid based on the current version. */
  private static JsonObject order(TestMarket market, int nodes, double limit) {
    return new JsonObject()
        .put("limit_price_per_gpu_hour", limit)
        .put("max_gpus", nodes * ClusterClient.NODE)
        .put("expected_version", bid(market).getLong("version"));
  }

  private static HttpAnswer put(TestMarket market, JsonObject order) {
    return market.red("orgwide").put("/api/k8s/bid", order);
  }

  private static JsonObject read(TestMarket market) {
    return market.red("orgwide").get("/api/k8s/clusters/" + name(market)).ok();
  }

  private static JsonObject metrics(TestMarket market) {
    return market.red("orgwide").get("/api/k8s/metrics").ok();
  }

  private static void untilActive(TestMarket market, int nodes) {
    until(
        "so many are active",
        () ->
            metrics(market).getInteger("nodes_active") == nodes
                && read(market).getJsonArray("nodes").size() == nodes);
  }

  @Test
  void aBidIsGrantedNodesByNameAndNoKeyIsDemanded() {
    TestMarket market = bourse.market();
    JsonObject standing = put(market, order(market, 2, 3.5)).ok();
    assertEquals(1L, standing.getLong("version"));
    assertEquals(3.5, standing.getJsonObject("bid").getDouble("limit_price_per_gpu_hour"));
    assertEquals(16, standing.getJsonObject("bid").getInteger("max_gpus"));
    untilActive(market, 2);
    List<JsonObject> nodes = ClusterClient.objects(read(market).getJsonArray("nodes"));
    for (JsonObject node : nodes) {
      assertTrue(node.getString("name").startsWith(market.name() + "-0000"), node.encode());
      assertEquals("active", node.getString("state"));
      assertEquals(
          new JsonObject()
              .put("state", "unknown")
              .put("since", node.getString("granted_at"))
              .put("reasons", new JsonArray()),
          node.getJsonObject("health"));
      assertFalse(node.encode().contains("198.18."), "no address");
    }
    assertEquals(2L, nodes.stream().map(n -> n.getString("name")).distinct().count());
    assertEquals(
        nodes.stream().map(n -> n.getString("name")).collect(Collectors.toSet()),
        read(market).getJsonArray("planned_release").stream().collect(Collectors.toSet()));
    until(
        "it is priced",
        () -> read(market).getJsonObject("pool").getValue("clearing_price_per_gpu_hour") != null);
    assertEquals(1.0, read(market).getJsonObject("pool").getDouble("clearing_price_per_gpu_hour"));
  }

  @Test
  void itsNodesArePreparedWithoutTheOrganizationsKeys() {
    TestMarket market = bourse.market();
    market.redA().addKey();
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    market.redA().hold(1, 2);
    assertEquals(
        List.of(), held(name(market)).allocations().get(0).keyIds(), "nobody logs in to its node");
    assertFalse(held(market.redA().cluster()).allocations().get(0).keyIds().isEmpty());
  }

  private static Cluster held(String name) {
    return bourse.service().clusters().find(name).orElseThrow().cluster();
  }

  @Test
  void theFiguresSayWhatIsHeldAndAwaited() {
    TestMarket market = bourse.market();
    JsonObject before = metrics(market);
    assertEquals(
        new JsonObject()
            .put("cluster", name(market))
            .put("nodes_held", 0)
            .put("nodes_active", 0)
            .put("nodes_pending", 0)
            .put("gpus", 0)
            .put("utilisation", null),
        before);
    put(market, order(market, TestMarket.NODES + 1, 2)).ok();
    untilActive(market, TestMarket.NODES);
    JsonObject full = metrics(market);
    assertEquals(TestMarket.NODES, full.getInteger("nodes_held"));
    assertEquals(1, full.getInteger("nodes_pending"));
    assertEquals(TestMarket.NODES * ClusterClient.NODE, full.getInteger("gpus"));
    assertNull(full.getValue("utilisation"));
    bourse
        .with(bourse.nodeCredential(name(market)))
        .post(
            "/api/node/metrics",
            new JsonObject("{\"gpus\":[{\"index\":0,\"utilization_percent\":50},{\"index\":1}]}"))
        .ok();
    assertEquals(0.5, metrics(market).getDouble("utilisation"));
  }

  @Test
  void aLimitPriceAloneKeepsTheSize() {
    TestMarket market = bourse.market();
    put(market, order(market, 1, 2)).ok();
    JsonObject order = order(market, 0, 3);
    order.remove("max_gpus");
    JsonObject standing = put(market, order).ok().getJsonObject("bid");
    assertEquals(8, standing.getInteger("max_gpus"));
    assertEquals(3.0, standing.getDouble("limit_price_per_gpu_hour"));
  }

  @Test
  void aFirstLimitPriceAloneBidsForNothing() {
    TestMarket market = bourse.market();
    assertNull(bid(market).getValue("bid"));
    JsonObject order = order(market, 0, 3);
    order.remove("max_gpus");
    assertEquals(0, put(market, order).ok().getJsonObject("bid").getInteger("max_gpus"));
  }

  @Test
  void aLowerSizeTakesNodesAtOnce() {
    TestMarket market = bourse.market();
    put(market, order(market, 2, 2)).ok();
    untilActive(market, 2);
    put(market, order(market, 1, 2)).ok();
    assertEquals(1, metrics(market).getInteger("nodes_held"));
    untilActive(market, 1);
  }

  @Test
  void aBidIsRefusedAsADeclarationIs() {
    TestMarket market = bourse.market();
    put(market, order(market, 1, 2).put("max_gpus", 7)).refused(ErrorCode.BAD_REQUEST);
    JsonObject precise =
        put(market, order(market, 1, 2).put("limit_price_per_gpu_hour", 2.001))
            .refused(ErrorCode.PRICE_PRECISION);
    assertTrue(precise.getString("detail").startsWith("limit_price_per_gpu_hour"));
    assertEquals(
        10.0,
        put(market, order(market, 1, 10.01))
            .refused(ErrorCode.PRICE_ABOVE_MAXIMUM)
            .getDouble("maximum"));
    put(market, order(market, 1, 2).put("expected_version", 9)).refused(ErrorCode.VERSION_MISMATCH);
    assertEquals(
        1.0,
        put(market, order(market, 1, 0.99)).refused(ErrorCode.BID_TOO_LOW).getDouble("minimum"));
    assertEquals(
        "release[0]: 'other' is not the name of a node that cluster %s holds; nothing was written"
            .formatted(name(market)),
        put(market, order(market, 1, 2).put("release", new JsonArray().add("other")))
            .refused(ErrorCode.UNKNOWN_NODE)
            .getString("detail"));
    put(market, order(market, 1, 2).put("min_gpus", 16)).refused(ErrorCode.BAD_REQUEST);
    bourse.steer(name(market), DirectChange.posture(Cluster.Posture.STATIC));
    put(market, order(market, 1, 2)).refused(ErrorCode.STATIC_POSTURE);
    bourse.steer(name(market), DirectChange.armWrites(false));
    put(market, order(market, 1, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    assertEquals(0L, bid(market).getLong("version"), "nothing of it was written");
    assertEquals(List.of(), bids(market));
  }

  private static JsonObject preview(TestMarket market, JsonObject order) {
    return market.red("orgwide").post("/api/k8s/bid/preview", order).ok();
  }

  @Test
  void aPreviewNamesTheNodesThatABidLosesAndWritesNothing() {
    TestMarket market = bourse.market();
    assertEquals(2, preview(market, order(market, 2, 3)).getInteger("nodes_won"));
    put(market, order(market, 2, 3)).ok();
    untilActive(market, 2);
    JsonObject shrunk = preview(market, order(market, 1, 2));
    String first = read(market).getJsonArray("planned_release").getString(0);
    assertEquals(new JsonArray().add(first), shrunk.getJsonArray("victims"));
    JsonObject loss = shrunk.getJsonArray("losses").getJsonObject(0);
    assertEquals(first, loss.getString("name"));
    assertEquals("write", loss.getString("by"));
    assertEquals(1, shrunk.getJsonArray("unprotected").size(), "the other loses its protection");
    assertEquals(8, shrunk.getJsonObject("state").getJsonObject("bid").getInteger("max_gpus"));
    assertFalse(shrunk.encode().contains("198.18."), "no address");
    JsonObject stale = preview(market, order(market, 1, 2).put("expected_version", 7));
    assertEquals("version-mismatch", stale.getJsonObject("would_refuse").getString("error"));
    assertNull(stale.getValue("state"));
    assertEquals(1L, bid(market).getLong("version"), "nothing is written");
    assertEquals(2, metrics(market).getInteger("nodes_held"));
    assertEquals(1, bids(market).size());
    market
        .blue("orgwide")
        .post("/api/k8s/bid/preview", order(market, 1, 2).put("cluster", name(market)))
        .refused(ErrorCode.NOT_FOUND);
  }

  /** A browser in which a new member of an organization is signed in. */
  private static ApiClient signedIn(String org) {
    JsonObject member =
        new JsonObject()
            .put("username", "ann")
            .put("email", "ann@" + org + ".example")
            .put("name", "Ann");
    assertEquals(
        201, bourse.operator().post("/api/operator/orgs/" + org + "/members", member).status());
    return bourse.inSession(org, "ann");
  }

  @Test
  void aSessionOfTheConsoleReachesTheClustersOfItsOrganizationAlone() {
    TestMarket market = bourse.market();
    ApiClient own = signedIn(market.red());
    own.put("/api/k8s/bid", order(market, 1, 3).put("cluster", name(market))).ok();
    untilActive(market, 1);
    String node = read(market).getJsonArray("planned_release").getString(0);
    JsonObject fewer = order(market, 0, 3).put("cluster", name(market));
    JsonObject swap = new JsonObject().put("cluster", name(market)).put("node", node);
    JsonObject alerts = new JsonObject().put("cluster", name(market)).put("supply_under_nodes", 2);
    ApiClient other = signedIn(market.blue());
    other.put("/api/k8s/bid", fewer).refused(ErrorCode.NOT_FOUND);
    other.post("/api/k8s/bid/preview", fewer).refused(ErrorCode.NOT_FOUND);
    other.post("/api/k8s/bid/swap", swap).refused(ErrorCode.NOT_FOUND);
    other.put("/api/k8s/alerts", alerts).refused(ErrorCode.NOT_FOUND);
    for (String read : List.of("bid/outlook", "alerts", "activity", "history", "events")) {
      other.get("/api/k8s/" + read + "?cluster=" + name(market)).refused(ErrorCode.NOT_FOUND);
    }
    assertEquals(1L, bid(market).getLong("version"), "nothing was written");
    assertEquals(
        new JsonArray().add(node),
        own.post("/api/k8s/bid/preview", fewer).ok().getJsonArray("victims"));
    assertEquals("member:ann", bids(market).get(0).actor());
  }

  @Test
  void aShrinkTakesTheNamedNodeFirst() {
    TestMarket market = bourse.market();
    put(market, order(market, 2, 2)).ok();
    untilActive(market, 2);
    List<String> planned = ClusterClient.texts(read(market).getJsonArray("planned_release"));
    JsonArray last = new JsonArray().add(planned.get(1));
    put(market, order(market, 2, 2).put("release", last)).ok();
    assertEquals(last, read(market).getJsonArray("nominations"));
    assertEquals(
        List.of(planned.get(1), planned.get(0)),
        ClusterClient.texts(read(market).getJsonArray("planned_release")));
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    assertEquals(planned.get(0), node(market, 0).getString("name"));
    market
        .blue("orgwide")
        .put("/api/k8s/bid", order(market, 0, 2).put("cluster", name(market)))
        .refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aMinimumIsWonWholeOrNotAtAllAndClearedByNull() {
    TestMarket market = bourse.market();
    int more = (TestMarket.NODES + 1) * ClusterClient.NODE;
    JsonObject gang = order(market, TestMarket.NODES + 1, 2).put("min_gpus", more);
    assertEquals("size", preview(market, gang).getString("minimum_missed"));
    JsonObject standing = put(market, gang).ok().getJsonObject("bid");
    assertEquals(more, standing.getInteger("min_gpus"));
    assertEquals(0, metrics(market).getInteger("nodes_held"));
    put(market, order(market, 2, 2).put("min_gpus", 16).put("auto_swap", true)).ok();
    untilActive(market, 2);
    put(market, order(market, 1, 2)).refused(ErrorCode.BAD_REQUEST);
    JsonObject cleared = put(market, order(market, 1, 2).putNull("min_gpus")).ok();
    assertNull(cleared.getJsonObject("bid").getValue("min_gpus"));
    assertTrue(cleared.getJsonObject("bid").getBoolean("auto_swap"), "it stays");
  }

  @Test
  void aSwapGrantsAnotherNodeAndThenTakesTheNamedOne() {
    TestMarket market = bourse.market();
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    String old = node(market, 0).getString("name");
    JsonObject request = new JsonObject().put("node", old).put("cluster", name(market));
    market.blue("orgwide").post("/api/k8s/bid/swap", request).refused(ErrorCode.NOT_FOUND);
    market.red("orgwide").post("/api/vm/capacity/swap", request).refused(ErrorCode.NOT_FOUND);
    swap(market, request.copy().put("node", "10.0.0.1")).refused(ErrorCode.UNKNOWN_NODE);
    JsonObject swap = swap(market, request).ok();
    assertEquals(old, swap.getString("node"));
    assertEquals("swapping", swap.getString("state"));
    assertEquals(swap, swap(market, request).ok(), "repeated");
    assertEquals(2L, swap.getLong("version"));
    until(
        "another node is in its place",
        () -> {
          JsonArray nodes = read(market).getJsonArray("nodes");
          return nodes.size() == 1 && !node(market, 0).getString("name").equals(old);
        });
    assertEquals(
        List.of("node=" + old + " version=2"),
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().equals("k8s_bid_swap"))
            .map(AuditRow::detail)
            .toList());
  }

  private static HttpAnswer swap(TestMarket market, JsonObject request) {
    return market.red("orgwide").post("/api/k8s/bid/swap", request);
  }

  private static JsonObject node(TestMarket market, int index) {
    return read(market).getJsonArray("nodes").getJsonObject(index);
  }

  private static EventReader follow(TestMarket market, @Nullable Long lastEventId) {
    return EventReader.onK8s(
        bourse.service().baseUrl(),
        bourse.secret(market.red(), "orgwide"),
        name(market),
        lastEventId);
  }

  private static List<String> named(EventReader reader, String event) {
    return reader.of(event).stream().map(e -> e.data().getString("name")).sorted().toList();
  }

  @Test
  void theStreamAndTheActivityNameNodes() {
    TestMarket market = bourse.market();
    try (EventReader reader = follow(market, null)) {
      until("the state came", () -> !reader.all().isEmpty());
      long begun = reader.latest().id();
      put(market, order(market, 2, 2)).ok();
      untilActive(market, 2);
      List<String> held =
          ClusterClient.texts(read(market).getJsonArray("planned_release")).stream()
              .sorted()
              .toList();
      until("both are granted", () -> named(reader, "grant").equals(held));
      put(market, order(market, 0, 2)).ok();
      until("both are reclaimed", () -> named(reader, "reclaim").equals(held));
      until("the state follows", () -> reader.state().getInteger("nodes_held", -1) == 0);
      reader.all().forEach(e -> assertFalse(e.data().encode().contains("198.18."), "no address"));
      try (EventReader again = follow(market, begun)) {
        until("the missed ones are sent", () -> named(again, "reclaim").equals(held));
        assertEquals(held, named(again, "grant"));
      }
      List<String> notes =
          ClusterClient.objects(activity(market)).stream()
              .map(entry -> entry.getString("note"))
              .filter(note -> note != null && note.startsWith("granted "))
              .sorted()
              .toList();
      assertEquals(held.stream().map(node -> "granted " + node).toList(), notes);
    }
    for (String path : List.of("events", "activity", "history", "alerts")) {
      String query = "/" + path + "?cluster=" + name(market);
      market.blue("orgwide").get("/api/k8s" + query).refused(ErrorCode.NOT_FOUND);
      market.red("orgwide").get("/api/vm" + query).refused(ErrorCode.NOT_FOUND);
      market
          .red("orgwide")
          .get("/api/k8s/" + path + "?cluster=" + market.redA().cluster())
          .refused(ErrorCode.NOT_FOUND);
    }
    JsonObject history = market.red("orgwide").get("/api/k8s/history?hours=0.5").ok();
    assertEquals(name(market), history.getString("cluster"));
    assertEquals(30, history.getJsonArray("max_nodes").size(), history.encode());
    assertEquals(List.of(), bourse.audit(market.red(), true), "no read of it is recorded");
  }

  private static JsonArray activity(TestMarket market) {
    return market.red("orgwide").get("/api/k8s/activity").ok().getJsonArray("entries");
  }

  @Test
  void anAlertIsRaisedAndListed() {
    TestMarket market = bourse.market();
    JsonObject thresholds =
        new JsonObject().put("supply_under_nodes", 1_000).put("cluster", name(market));
    market.blue("orgwide").put("/api/k8s/alerts", thresholds).refused(ErrorCode.NOT_FOUND);
    market.red("orgwide").put("/api/vm/alerts", thresholds).refused(ErrorCode.NOT_FOUND);
    JsonObject set = market.red("orgwide").put("/api/k8s/alerts", thresholds).ok();
    assertEquals(1_000, set.getInteger("supply_under_nodes"));
    assertEquals(new JsonArray(), set.getJsonArray("raised"));
    put(market, order(market, 1, 2)).ok();
    until(
        "it is raised",
        () ->
            market
                .red("orgwide")
                .get("/api/k8s/alerts")
                .ok()
                .getJsonArray("raised")
                .equals(new JsonArray().add("supply")));
    assertTrue(activity(market).encode().contains("alert supply: "), activity(market).encode());
    assertEquals(
        List.of("{\"supply_under_nodes\":1000}"),
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().equals("k8s_alerts_put"))
            .map(AuditRow::detail)
            .toList());
  }

  @Test
  void anOutlookNamesTheNodesThatRivalsTakeAndThePriceThatKeepsThem() {
    TestMarket market = bourse.market();
    put(market, order(market, 2, 2)).ok();
    untilActive(market, 2);
    market.blueA().addKey();
    market.blueA().declare(10, 5);
    until("the rival's bid is seen", () -> outlook(market).getJsonArray("losses").size() > 0);
    JsonObject outlook = outlook(market);
    JsonObject loss = outlook.getJsonArray("losses").getJsonObject(0);
    assertTrue(loss.getString("name").startsWith(market.name()), loss.encode());
    assertEquals("market", loss.getString("by"));
    assertEquals(5.0, outlook.getDouble("keep_price_per_gpu_hour"));
    market
        .red("orgwide")
        .get("/api/vm/capacity/outlook?cluster=" + name(market))
        .refused(ErrorCode.NOT_FOUND);
    assertEquals(List.of(), bourse.audit(market.red(), true), "no read of it is recorded");
  }

  private static JsonObject outlook(TestMarket market) {
    return market.red("orgwide").get("/api/k8s/bid/outlook").ok();
  }

  private static List<AuditRow> bids(TestMarket market) {
    return bourse.audit(market.red(), false).stream()
        .filter(row -> row.action().equals("k8s_bid_put"))
        .toList();
  }

  @Test
  void anAcceptedBidIsInTheTrailAndReadsAreNot() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    put(market, order(market, 1, 2.5)).ok();
    AuditRow row = bids(market).get(0);
    assertEquals(caller.actor(), row.actor());
    assertEquals(name(market), row.subject());
    assertEquals("max_gpus=8 limit_price_per_gpu_hour=2.50 version=1", row.detail());
    assertEquals(List.of(), bourse.audit(market.red(), true));
  }

  @Test
  void bothKindsBidInOneMarket() {
    TestMarket market = bourse.market();
    market.blueA().hold(1, 2);
    put(market, order(market, TestMarket.NODES, 3)).ok();
    untilActive(market, TestMarket.NODES - 1);
    assertEquals(1, market.blueA().active().size());
    assertEquals(1, metrics(market).getInteger("nodes_pending"));
  }

  @Test
  void aHoldIsShownAndKeepsNewNodesAway() {
    TestMarket market = bourse.market();
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    assertNull(read(market).getValue("billing_hold"));
    assertTrue(read(market).containsKey("billing_hold"));
    bourse.steer(name(market), DirectChange.hold(new Hold(Hold.Stage.NOTICE, "balance", null)));
    JsonObject shown =
        new JsonObject()
            .put("state", "hold")
            .put("reason", "balance")
            .put("stage", "notice")
            .put("enforce_after_ms", 0);

    assertEquals(shown, read(market).getValue("billing_hold"));
    assertEquals(shown, bid(market).getValue("billing_hold"));
    JsonObject raised = put(market, order(market, 2, 2)).ok();
    assertEquals(16, raised.getJsonObject("bid").getInteger("max_gpus"), "bids are accepted");
    bourse.steer(name(market), DirectChange.hold(new Hold(Hold.Stage.ENFORCE, "balance", null)));
    until("all is reclaimed", () -> metrics(market).getInteger("nodes_held") == 0);
    assertEquals(16, bid(market).getJsonObject("bid").getInteger("max_gpus"));
    bourse.steer(name(market), DirectChange.hold(null));
    untilActive(market, 2);
  }

  @Test
  void itsNodesAreBilledAsThoseOfVmClustersAre() {
    TestMarket market = bourse.market();
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    String usage = "/api/billing/usage?cluster=" + name(market);
    until(
        "a line says so",
        () ->
            ClusterClient.objects(market.red("orgwide").get(usage).ok().getJsonArray("lines"))
                .stream()
                .anyMatch(line -> line.getLong("amount_micros") > 0));
  }

  @Test
  void aSurfaceDoesNotKnowTheOthersClusters() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    caller.get("/api/vm/capacity?cluster=" + name(market)).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/vm/activity?cluster=" + name(market)).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/vm/history?cluster=" + name(market)).refused(ErrorCode.NOT_FOUND);
    String vm = market.redA().cluster();
    caller.get("/api/k8s/bid?cluster=" + vm).refused(ErrorCode.NOT_FOUND);
    caller.get("/api/k8s/clusters/" + vm).refused(ErrorCode.NOT_FOUND);
    put(market, order(market, 1, 2).put("cluster", vm)).refused(ErrorCode.NOT_FOUND);
    market.blue("orgwide").get("/api/k8s/bid").refused(ErrorCode.NOT_FOUND);
    assertEquals(
        List.of(name(market)),
        ClusterClient.objects(caller.get("/api/k8s/clusters").ok().getJsonArray("clusters"))
            .stream()
            .map(c -> c.getString("cluster"))
            .toList());
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    assertTrue(
        ClusterClient.objects(caller.get("/api/vm/activity").ok().getJsonArray("entries")).stream()
            .noneMatch(e -> e.getString("cluster").equals(name(market))),
        "merged activity is of VM clusters");
  }

  @Test
  void listsGoOnAfterAName() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    JsonObject first = caller.get("/api/k8s/clusters?limit=1").ok();
    assertFalse(first.getBoolean("more"));
    assertEquals(1, first.getJsonArray("clusters").size());
    JsonObject rest = caller.get("/api/k8s/clusters?after=" + name(market)).ok();
    assertEquals(new JsonArray(), rest.getJsonArray("clusters"));
    caller.get("/api/k8s/clusters?limit=0").refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void anUnchangedBidIsNotSentAgain() {
    TestMarket market = bourse.market();
    ApiClient caller = market.red("orgwide");
    put(market, order(market, 1, 2)).ok();
    untilActive(market, 1);
    until(
        "304 while nothing changes",
        () -> {
          String etag = caller.get("/api/k8s/bid").header("etag");
          return caller.get("/api/k8s/bid", "If-None-Match", etag).status() == 304;
        });
    String before = caller.get("/api/k8s/bid").header("etag");
    put(market, order(market, 1, 3)).ok();
    assertNotEquals(before, caller.get("/api/k8s/bid").header("etag"));
  }

  @Test
  void aTokenBoundToAVmClusterReachesNone() {
    try (RunningBourse demo = RunningBourse.demo()) {
      ApiClient bound = demo.as("acme", "bound");
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
      ApiClient own = demo.as("acme", "orgwide");
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
