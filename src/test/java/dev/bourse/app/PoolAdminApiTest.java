package dev.bourse.app;

import static dev.bourse.app.ClusterAdminApiTest.refused;
import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What operators do to pools, and what the market makes of it. */
@EachEngine
class PoolAdminApiTest {
  private static final String POOLS = "/api/operator/pools";
  private static final String RESERVE = "reserve_price_per_gpu_hour";
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private static RunningBourse bourse;
  private static Caller operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(12);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  static JsonObject newPool(String name) {
    return new JsonObject()
        .put("name", name)
        .put("site", "annex")
        .put("provider", "simulated")
        .put("gpu_vendor", "NVIDIA")
        .put(RESERVE, 1.5)
        .put(CAP, 20)
        .put("ssh_user", "tenant");
  }

  private static HttpAnswer patch(String pool, JsonObject change) {
    return operator.patch(POOLS + "/" + pool, change);
  }

  private static JsonObject set(Stage stage, String field, Object value) {
    return patch(stage.name(), new JsonObject().put(field, value)).ok();
  }

  private static JsonObject feed(Stage stage) {
    return Desk.objects(stage.red("bare").get("/api/market/feed").ok().getJsonArray("pools"))
        .stream()
        .filter(p -> p.getString("pool").equals(stage.name()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aNewPoolWithNodesAndAClusterGrantsAtOnce() {
    Stage stage = bourse.stage();
    String pool = stage.name() + "-annex";
    HttpAnswer made = operator.post(POOLS, newPool(pool));
    assertEquals(201, made.status());
    assertEquals(8, made.json().getInteger("gpus_per_node"));
    assertEquals(made.json(), operator.get(POOLS + "/" + pool).ok());
    for (int i = 1; i <= 2; i++) {
      JsonObject node = new JsonObject().put("node_id", pool + "-" + i);
      assertEquals(201, operator.post(POOLS + "/" + pool + "/nodes", node).status());
    }
    String cluster = stage.name() + "-annexed";
    operator.post(
        "/api/operator/clusters",
        new JsonObject().put("name", cluster).put("org", stage.red()).put("pool", pool));
    Desk desk = new Desk(stage.red("orgwide"), stage.red(), cluster);
    assertEquals(2, desk.hold(2, 2).size());
    assertEquals(20.0, desk.state().getDouble(CAP));
  }

  @Test
  void aRaisedReservePriceBoundsBidsAndIsWhatHoldersPay() {
    Stage stage = bourse.stage();
    stage.redA().hold(1, 3);
    until(
        "priced",
        () -> Double.valueOf(1).equals(feed(stage).getDouble("clearing_price_per_gpu_hour")));
    set(stage, RESERVE, 2);
    JsonObject refusal =
        stage.redB().put(stage.redB().order(1, 1.99)).refused(ErrorCode.BID_TOO_LOW);
    assertEquals(2.0, refusal.getDouble("minimum"));
    until(
        "the market clears at it",
        () -> Double.valueOf(2).equals(feed(stage).getDouble("clearing_price_per_gpu_hour")));
  }

  @Test
  void aLoweredCapBoundsTheNextWriteAndLeavesStandingOnes() {
    Stage stage = bourse.stage();
    stage.redA().hold(1, 5);
    set(stage, CAP, 4);
    assertEquals(4.0, stage.redA().state().getDouble(CAP));
    JsonObject refusal =
        stage.redA().put(stage.redA().order(2, 5)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    assertEquals(4.0, refusal.getDouble("maximum"));
    assertEquals(1, stage.redA().untilHeld(1).size());
    stage.redA().declare(0, 5);
  }

  @Test
  void swapsAreSwitchedOffForAPool() {
    Stage stage = bourse.stage();
    String node = stage.redA().hold(1, 2).get(0);
    set(stage, "swaps_enabled", false);
    stage.redA().swap(node).refused(ErrorCode.SWAP_DISABLED);
    set(stage, "swaps_enabled", true);
    stage.redA().swap(node).ok();
  }

  @Test
  void aDisarmedDetectorJudgesNothing() {
    Stage stage = bourse.stage();
    stage.redA().hold(1, 2);
    until("judged", () -> Boolean.FALSE.equals(judged(stage)));
    set(stage, "detector_armed", false);
    until("not judged", () -> judged(stage) == null);
  }

  private static Boolean judged(Stage stage) {
    return stage.redA().state().getJsonObject("declared").getBoolean("capacity_unavailable");
  }

  @Test
  void tenantsReadTheNewModelVariablesAndPaths() {
    Stage stage = bourse.stage();
    JsonObject env = new JsonObject().put("REGION", "south");
    JsonObject storage = new JsonObject().put("data", "/data");
    JsonObject changed =
        patch(
                stage.name(),
                new JsonObject().put("gpu_model", "B200").put("env", env).put("storage", storage))
            .ok();
    assertEquals(env, changed.getJsonObject("env"));
    JsonObject state = stage.redA().state();
    assertEquals("B200", state.getString("gpu_model"));
    assertEquals(env, state.getJsonObject("environment").getJsonObject("env"));
    assertEquals(storage, state.getJsonObject("environment").getJsonObject("storage"));
  }

  @Test
  void aReservePriceAboveTheCapIsRefused() {
    Stage stage = bourse.stage();
    refused(
        patch(stage.name(), new JsonObject().put(RESERVE, 10.01)), RESERVE + ": 10.01", "10.00");
    refused(patch(stage.name(), new JsonObject().put(CAP, 0.99)), RESERVE + ": 1.00", "0.99");
    refused(operator.post(POOLS, newPool("dear").put(RESERVE, 21)), RESERVE + ": 21.00", "20.00");
    patch(stage.name(), new JsonObject().put(RESERVE, 11).put(CAP, 12)).ok();
  }

  @Test
  void aNameIsTakenOnce() {
    Stage stage = bourse.stage();
    JsonObject refusal = operator.post(POOLS, newPool(stage.name())).refused(ErrorCode.CONFLICT);
    assertEquals("exists", refusal.getString("reason"));
    assertEquals("lab", operator.get(POOLS + "/" + stage.name()).ok().getString("site"));
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
    String pool = bourse.stage().name() + "-trail";
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
