package dev.bourse.pools.settings;

import static dev.bourse.testing.OperatorRequests.newPool;
import static dev.bourse.testing.OperatorRequests.refused;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What operators do to pools, and what the market makes of it. */
@ReplayedOnPostgres
class PoolAdminApiTest {
  private static final String POOLS = "/api/operator/pools";
  private static final String RESERVE = "reserve_price_per_gpu_hour";
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(14);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer patch(String pool, JsonObject change) {
    return operator.patch(POOLS + "/" + pool, change);
  }

  private static JsonObject set(TestMarket market, String field, Object value) {
    return patch(market.name(), new JsonObject().put(field, value)).ok();
  }

  private static JsonObject feed(TestMarket market) {
    return ClusterClient.objects(
            market.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(market.name()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aNewPoolWithNodesAndAClusterGrantsAtOnce() {
    TestMarket market = bourse.market();
    String pool = market.name() + "-annex";
    HttpAnswer made = operator.post(POOLS, newPool(pool));
    assertEquals(201, made.status());
    assertEquals(8, made.json().getInteger("gpus_per_node"));
    assertEquals(made.json(), operator.get(POOLS + "/" + pool).ok());
    for (int i = 1; i <= 2; i++) {
      JsonObject node = new JsonObject().put("node_id", pool + "-" + i);
      assertEquals(201, operator.post(POOLS + "/" + pool + "/nodes", node).status());
    }
    String cluster = market.name() + "-annexed";
    operator.post(
        "/api/operator/clusters",
        new JsonObject().put("name", cluster).put("org", market.red()).put("pool", pool));
    ClusterClient client = new ClusterClient(market.red("orgwide"), market.red(), cluster);
    assertEquals(2, client.hold(2, 2).size());
    assertEquals(20.0, client.state().getDouble(CAP));
  }

  @Test
  void aRaisedReservePriceBoundsBidsAndIsWhatHoldersPay() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 3);
    until(
        "priced",
        () -> Double.valueOf(1).equals(feed(market).getDouble("clearing_price_per_gpu_hour")));
    set(market, RESERVE, 2);
    JsonObject refusal =
        market.redB().put(market.redB().order(1, 1.99)).refused(ErrorCode.BID_TOO_LOW);
    assertEquals(2.0, refusal.getDouble("minimum"));
    until(
        "the market clears at it",
        () -> Double.valueOf(2).equals(feed(market).getDouble("clearing_price_per_gpu_hour")));
  }

  @Test
  void aLoweredCapBoundsTheNextWriteAndLeavesStandingOnes() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 5);
    set(market, CAP, 4);
    assertEquals(4.0, market.redA().state().getDouble(CAP));
    JsonObject refusal =
        market.redA().put(market.redA().order(2, 5)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    assertEquals(4.0, refusal.getDouble("maximum"));
    assertEquals(1, market.redA().untilHeld(1).size());
    market.redA().declare(0, 5);
  }

  @Test
  void swapsAreSwitchedOffForAPool() {
    TestMarket market = bourse.market();
    String node = market.redA().hold(1, 2).get(0);
    set(market, "swaps_enabled", false);
    market.redA().swap(node).refused(ErrorCode.SWAP_DISABLED);
    set(market, "swaps_enabled", true);
    market.redA().swap(node).ok();
  }

  @Test
  void aDisarmedDetectorJudgesNothing() {
    TestMarket market = bourse.market();
    market.redA().hold(1, 2);
    until("judged", () -> Boolean.FALSE.equals(judged(market)));
    set(market, "detector_armed", false);
    until("not judged", () -> judged(market) == null);
  }

  private static Boolean judged(TestMarket market) {
    return market.redA().state().getJsonObject("declared").getBoolean("capacity_unavailable");
  }

  @Test
  void rootRightsOfTenantsAreGivenAndNeverTakenBack() {
    String pool = bourse.market().name() + "-root";
    assertEquals("login", operator.post(POOLS, newPool(pool)).json().getString("tenants"));
    JsonObject root = new JsonObject().put("tenants", "root");
    JsonObject login = new JsonObject().put("tenants", "login");
    patch(pool, login).ok();
    assertEquals("root", patch(pool, root).ok().getString("tenants"));
    assertTrue(
        patch(pool, login)
            .refused(ErrorCode.BAD_REQUEST)
            .getString("detail")
            .contains("create another pool"));
    assertEquals("root", operator.get(POOLS + "/" + pool).ok().getString("tenants"));
  }

  @Test
  void aPoolIsOpenToSelfServiceOnlyWhileAnOperatorSaysSo() {
    String market = bourse.market().name();
    String pool = market + "-closed";
    assertEquals(false, operator.post(POOLS, newPool(pool)).json().getBoolean("self_service"));
    JsonObject open = new JsonObject().put("self_service", true);
    assertEquals(true, patch(pool, open).ok().getBoolean("self_service"));
    assertEquals(true, operator.get(POOLS + "/" + pool).ok().getBoolean("self_service"));
    String opened = market + "-open";
    JsonObject made = operator.post(POOLS, newPool(opened).put("self_service", true)).json();
    assertEquals(true, made.getBoolean("self_service"));
    assertEquals(
        List.of("self_service=true"),
        bourse.audit("", false).stream()
            .filter(r -> r.action().equals("pool_update") && r.subject().equals(pool))
            .map(AuditRow::detail)
            .toList());
  }

  @Test
  void tenantsReadTheNewModelVariablesAndPaths() {
    TestMarket market = bourse.market();
    JsonObject env = new JsonObject().put("REGION", "south");
    JsonObject storage = new JsonObject().put("data", "/data");
    JsonObject changed =
        patch(
                market.name(),
                new JsonObject().put("gpu_model", "B200").put("env", env).put("storage", storage))
            .ok();
    assertEquals(env, changed.getJsonObject("env"));
    JsonObject state = market.redA().state();
    assertEquals("B200", state.getString("gpu_model"));
    assertEquals(env, state.getJsonObject("environment").getJsonObject("env"));
    assertEquals(storage, state.getJsonObject("environment").getJsonObject("storage"));
  }

  @Test
  void aReservePriceAboveTheCapIsRefused() {
    TestMarket market = bourse.market();
    refused(
        patch(market.name(), new JsonObject().put(RESERVE, 10.01)), RESERVE + ": 10.01", "10.00");
    refused(patch(market.name(), new JsonObject().put(CAP, 0.99)), RESERVE + ": 1.00", "0.99");
    refused(operator.post(POOLS, newPool("dear").put(RESERVE, 21)), RESERVE + ": 21.00", "20.00");
    patch(market.name(), new JsonObject().put(RESERVE, 11).put(CAP, 12)).ok();
  }

  @Test
  void anOperatorDoesNotOverwriteAChangeThatTheyHaveNotSeen() {
    TestMarket market = bourse.market();
    JsonObject seen = new JsonObject().put("expected", new JsonObject().put(RESERVE, 1));
    assertEquals(2.0, patch(market.name(), seen.copy().put(RESERVE, 2)).ok().getDouble(RESERVE));
    JsonObject refusal =
        patch(market.name(), seen.copy().put(RESERVE, 3)).refused(ErrorCode.CONFLICT);
    assertEquals("changed", refusal.getString("reason"));
    assertEquals(2.0, operator.get(POOLS + "/" + market.name()).ok().getDouble(RESERVE));
    // What was not read is not compared.
    JsonObject other =
        new JsonObject().put("expected", new JsonObject().put("swaps_enabled", true));
    patch(market.name(), other.copy().put("swaps_enabled", false)).ok();
  }

  @Test
  void anExpectedNoticeMayBeThatOfTheService() {
    TestMarket market = bourse.market();
    JsonObject none = new JsonObject().put("expected", new JsonObject().putNull("notice_ms"));
    patch(market.name(), none.copy().put("notice_ms", 5_000)).ok();
    patch(market.name(), none.copy().put("notice_ms", 0)).refused(ErrorCode.CONFLICT);
    JsonObject five = new JsonObject().put("expected", new JsonObject().put("notice_ms", 5_000));
    assertNull(patch(market.name(), five.copy().putNull("notice_ms")).ok().getValue("notice_ms"));
  }

  @Test
  void anExpectedGpuModelMayBeNone() {
    String pool = bourse.market().name() + "-unnamed";
    JsonObject unnamed = newPool(pool);
    unnamed.remove("gpu_model");
    operator.post(POOLS, unnamed);
    JsonObject none = new JsonObject().put("expected", new JsonObject().putNull("gpu_model"));
    patch(pool, none.copy().put("gpu_model", "B200")).ok();
    patch(pool, none.copy().put("gpu_model", "B300")).refused(ErrorCode.CONFLICT);
    // Null among the changes counts as omitted.
    JsonObject kept = patch(pool, new JsonObject().putNull("gpu_model").put(RESERVE, 2)).ok();
    assertEquals("B200", kept.getString("gpu_model"));
  }

  @Test
  void anExpectationWithoutAChangeIsRefused() {
    JsonObject alone = new JsonObject().put("expected", new JsonObject().put(RESERVE, 1));
    refused(patch(bourse.market().name(), alone), "expected: ", "a term to change");
  }

  @Test
  void poolsAreListedByNameAPageAtATime() {
    JsonObject all = operator.get(POOLS + "?limit=500").ok();
    JsonObject head = operator.get(POOLS + "?limit=2").ok();
    assertEquals(true, head.getBoolean("more"));
    JsonObject second = head.getJsonArray("pools").getJsonObject(1);
    JsonObject tail = operator.get(POOLS + "?limit=500&after=" + second.getString("name")).ok();
    assertTrue(tail.getJsonArray("pools").size() >= all.getJsonArray("pools").size() - 2);
    assertEquals(
        all.getJsonArray("pools").getJsonObject(2).getString("name"),
        tail.getJsonArray("pools").getJsonObject(0).getString("name"));
    assertEquals(false, tail.getBoolean("more"));
  }

  @Test
  void whatOperatorsDoToAPoolIsInThePlatformsTrail() {
    String pool = bourse.market().name() + "-trail";
    operator.post(POOLS, newPool(pool));
    patch(pool, new JsonObject().put(CAP, 30).put("env", new JsonObject().put("A", "b"))).ok();
    patch(pool, new JsonObject().put(RESERVE, 31));
    List<AuditRow> rows =
        bourse.audit("", false).stream().filter(r -> r.subject().equals(pool)).toList();
    assertEquals(
        List.of("pool_create", "pool_update"), rows.stream().map(AuditRow::action).toList());
    assertTrue(rows.get(0).detail().contains("provider=simulated"));
    assertEquals("env=[A] max_price_cap_per_gpu_hour=30.00", rows.get(1).detail());
  }

  @Test
  void badInputIsRefusedNamingFieldValueAndWhatWouldDo() {
    refused(
        operator.post(POOLS, newPool("p").put("provider", "ssh")), "provider: ssh", "simulated");
    refused(operator.post(POOLS, newPool("p").put("provider", "cloud")), "provider: cloud", "ssh");
    refused(operator.post(POOLS, newPool("p").put(CAP, 20.005)), CAP + ": 20.005", "two decimals");
    refused(operator.post(POOLS, newPool("-p")), "name: -p", "at either end");
    refused(operator.post(POOLS, newPool("p").put("gpus_per_node", 0)), "gpus_per_node: 0", "1024");
    JsonObject lacking = newPool("p");
    lacking.remove("ssh_user");
    refused(operator.post(POOLS, lacking), "ssh_user is missing");
    patch("nowhere", new JsonObject().put(CAP, 5)).refused(ErrorCode.NOT_FOUND);
    operator.get(POOLS + "/nowhere").refused(ErrorCode.NOT_FOUND);
    operator.get(POOLS + "/p").refused(ErrorCode.NOT_FOUND);
  }
}
