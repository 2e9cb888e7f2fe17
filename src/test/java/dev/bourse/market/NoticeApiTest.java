package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Notice before a rival takes a node, in the answers for clusters, organizations and operators. */
@ReplayedOnPostgres
class NoticeApiTest {
  private static final Duration NOTICE = Duration.ofHours(1);
  private static final Duration TICK = Duration.ofMillis(50);

  /** The time that a busy machine may add to a tick. */
  private static final Duration SLACK = Duration.ofSeconds(20);

  /** Starts a service whose notices end while a test waits. */
  private static RunningBourse hasty;

  /** Starts a service whose notices outlast every test. */
  private static RunningBourse patient;

  @BeforeAll
  static void start() {
    hasty = RunningBourse.withMarkets(1, "market.protection=0", "market.notice=500ms");
    patient = RunningBourse.withMarkets(7, "market.protection=0", "market.notice=1h");
  }

  @AfterAll
  static void stop() {
    hasty.close();
    patient.close();
  }

  @Test
  void whoRaisesItsCeilingInTimeKeepsTheNode() {
    TestMarket market = patient.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 2);
    try (EventReader reader = follow(patient, red)) {
      bid(market.blueA(), 5);
      until("red is given notice", () -> !reader.of("notice").isEmpty());
      JsonObject notice = reader.of("notice").get(0).data();
      assertTrue(held.contains(notice.getString("public_ip")));
      assertEquals("outbid", notice.getString("reason"));
      Duration given = Duration.between(time(notice, "noticed_at"), time(notice, "reclaim_at"));
      assertTrue(given.compareTo(NOTICE.minus(SLACK)) > 0 && given.compareTo(NOTICE) <= 0);
      red.declare(TestMarket.NODES, 6);
      until("it is withdrawn", () -> !reader.of("notice-withdrawn").isEmpty());
      assertEquals(
          notice.getString("public_ip"),
          reader.of("notice-withdrawn").get(0).data().getString("public_ip"));
      // NoticesTest and the simulation, which run in virtual time, test that the end of a withdrawn
      // notice takes no node.
      assertTrue(noticed(red).isEmpty());
      assertEquals(held, red.active());
      assertEquals(List.of(), reader.of("reclaim"));
      assertEquals(1, reader.of("notice").size());
      assertEquals(0, market.blueA().active().size());
    }
  }

  @Test
  void whoLetsItRunLosesTheNodeWhenItIsOverAndTheRivalGetsIt() {
    TestMarket market = hasty.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 2);
    try (EventReader reader = follow(hasty, red)) {
      ClusterClient blue = bid(market.blueA(), 5);
      until("red is given notice", () -> !reader.of("notice").isEmpty());
      JsonObject notice = reader.of("notice").get(0).data();
      blue.untilHeld(1);
      until("red was told", () -> !reader.of("reclaim").isEmpty());
      JsonObject reclaim = reader.of("reclaim").get(0).data();
      assertEquals(notice.getString("public_ip"), reclaim.getString("public_ip"));
      assertEquals("outbid", reclaim.getString("reason"));
      Instant due = time(notice, "reclaim_at");
      Instant at = time(reclaim, "reclaimed_at");
      assertFalse(at.isBefore(due), at + " is before " + due);
      assertTrue(at.isBefore(due.plus(TICK).plus(SLACK)), at + " is long after " + due);
      assertEquals(List.of(notice.getString("public_ip")), blue.active());
      assertEquals(TestMarket.NODES - 1, red.active().size());
      assertTrue(held.containsAll(red.active()));
      assertEquals(1, red.state().getInteger("pending"));
      assertEquals(List.of(), reader.of("notice-withdrawn"));
    }
  }

  @Test
  void anAllocationUnderNoticeIsActiveAndSaysSoEverywhere() {
    TestMarket market = patient.market();
    ClusterClient red = market.redA();
    red.hold(TestMarket.NODES, 2);
    red.allocations().forEach(a -> assertNull(a.getValue("reclaim_at")));
    ClusterClient blue = bid(market.blueA(), 5);
    String node = untilNoticed(red).getString("public_ip");

    JsonObject allocation = red.allocation(node);
    assertEquals("active", allocation.getString("state"));
    assertEquals("outbid", allocation.getString("reclaim_reason"));
    JsonObject state = red.state();
    assertEquals(0, state.getInteger("pending"));
    assertFalse(state.getJsonObject("declared").getBoolean("bid_too_low"));
    assertEquals(1, blue.state().getInteger("pending"));
    assertFalse(blue.state().getJsonObject("declared").getBoolean("bid_too_low"));
    JsonObject entry = red.activity().get(0);
    assertEquals("system:market", entry.getString("actor"));
    assertEquals("outbid", entry.getString("reason"));
    assertEquals(
        "notice for " + node + ", until " + allocation.getString("reclaim_at"),
        entry.getString("note"));
    JsonObject depth = market.red("bare").get("/api/market/depth?pool=" + market.name()).ok();
    assertEquals(TestMarket.NODES + 1, depth.getInteger("demand_nodes"));
    // The cluster's lost bid sets the price of the rival's node, and not of its own.
    assertEquals(1.0, price(state));
    assertEquals(2.0, price(blue.state()));
  }

  private static double price(JsonObject state) {
    return state.getJsonObject("pool").getDouble("clearing_price_per_gpu_hour");
  }

  @Test
  void aKubernetesNodeUnderNoticeSaysSo() {
    TestMarket market = patient.market();
    String cluster = market.red() + "-k8s";
    market
        .red("orgwide")
        .put(
            "/api/k8s/bid",
            new JsonObject()
                .put("cluster", cluster)
                .put("limit_price_per_gpu_hour", 2)
                .put("max_gpus", TestMarket.NODES * ClusterClient.NODE)
                .put("expected_version", 0))
        .ok();
    until(
        "all are active",
        () ->
            nodes(market, cluster).stream()
                    .filter(n -> n.getString("state").equals("active"))
                    .count()
                == TestMarket.NODES);
    bid(market.blueA(), 5);
    until(
        "one is under notice",
        () ->
            nodes(market, cluster).stream()
                    .filter(n -> "outbid".equals(n.getString("reclaim_reason")))
                    .filter(n -> n.getString("reclaim_at") != null)
                    .count()
                == 1);
  }

  @Test
  void aPreviewTellsWhoWouldBeGivenNotice() {
    TestMarket market = patient.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(TestMarket.NODES, 3);
    market.blueA().addKey();
    market.blueA().declare(1, 3.5);
    JsonObject preview =
        red.caller().post("/api/vm/capacity/preview", red.order(TestMarket.NODES, 3)).ok();
    assertEquals(new JsonArray(), preview.getJsonArray("victims"));
    assertEquals(1, preview.getJsonArray("noticed").size());
    assertTrue(held.contains(preview.getJsonArray("noticed").getString(0)));
    assertEquals(0, preview.getInteger("nodes_won"));
    assertEquals(1, preview.getInteger("nodes_unfilled"));
    JsonObject lowered =
        red.caller().post("/api/vm/capacity/preview", red.order(TestMarket.NODES, 2)).ok();
    assertEquals(1, lowered.getJsonArray("victims").size());
    assertEquals(new JsonArray(), lowered.getJsonArray("noticed"));
    JsonObject shrunk =
        red.caller().post("/api/vm/capacity/preview", red.order(TestMarket.NODES - 1, 3)).ok();
    assertEquals(1, shrunk.getJsonArray("victims").size());
    assertEquals(new JsonArray(), shrunk.getJsonArray("noticed"));
    JsonObject refused =
        red.caller().post("/api/vm/capacity/preview", red.order(TestMarket.NODES, 99)).ok();
    assertEquals(new JsonArray(), refused.getJsonArray("noticed"));
  }

  @Test
  void aPoolMayHaveANoticeOfItsOwn() {
    TestMarket market = patient.market();
    String pool = "/api/operator/pools/" + market.name();
    assertNull(patient.operator().get(pool).ok().getValue("notice_ms"));
    JsonObject none = new JsonObject().put("notice_ms", 0);
    assertEquals(0, patient.operator().patch(pool, none).ok().getInteger("notice_ms"));
    ClusterClient red = market.redA();
    red.hold(TestMarket.NODES, 2);
    bid(market.blueA(), 5).untilHeld(1);
    assertTrue(
        red.activity().stream()
            .noneMatch(e -> String.valueOf(e.getString("note")).contains("until")),
        "it was taken at once");
    JsonObject service = new JsonObject().putNull("notice_ms");
    assertNull(patient.operator().patch(pool, service).ok().getValue("notice_ms"));
    patient
        .operator()
        .patch(pool, new JsonObject().put("notice_ms", 3_600_001))
        .refused(ErrorCode.BAD_REQUEST);
    assertEquals(
        List.of("notice_ms=0", "notice_ms=null"),
        patient.audit(Trails.PLATFORM, false).stream()
            .filter(row -> row.subject().equals(market.name()))
            .map(AuditRow::detail)
            .toList());
  }

  /** Declares one node at this price for a cluster without nodes. */
  private static ClusterClient bid(ClusterClient client, double price) {
    client.addKey();
    client.declare(1, price);
    return client;
  }

  private static EventReader follow(RunningBourse service, ClusterClient client) {
    EventReader reader =
        new EventReader(
            service.service().baseUrl(),
            service.secret(client.orgId(), "orgwide"),
            client.cluster(),
            null);
    until("the state came", () -> !reader.all().isEmpty());
    return reader;
  }

  private static Optional<JsonObject> noticed(ClusterClient client) {
    return client.allocations().stream().filter(a -> a.getString("reclaim_at") != null).findFirst();
  }

  private static JsonObject untilNoticed(ClusterClient client) {
    until("it is given notice", () -> noticed(client).isPresent());
    return noticed(client).orElseThrow();
  }

  private static List<JsonObject> nodes(TestMarket market, String cluster) {
    return ClusterClient.objects(
        market.red("orgwide").get("/api/k8s/clusters/" + cluster).ok().getJsonArray("nodes"));
  }

  private static Instant time(JsonObject json, String field) {
    return Instant.parse(json.getString(field));
  }
}
