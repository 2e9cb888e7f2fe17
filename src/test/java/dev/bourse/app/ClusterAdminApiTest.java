package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What operators do to clusters, and what their tenants notice. */
@EachEngine
class ClusterAdminApiTest {
  private static final String CLUSTERS = "/api/operator/clusters";
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private static RunningBourse bourse;
  private static Caller operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(20);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject read(Desk desk) {
    return operator.get(CLUSTERS + "/" + desk.cluster()).ok();
  }

  private static HttpAnswer patch(Desk desk, JsonObject change) {
    return operator.patch(CLUSTERS + "/" + desk.cluster(), change);
  }

  private static JsonObject set(Desk desk, String field, Object value) {
    return patch(desk, new JsonObject().put(field, value)).ok();
  }

  private static HttpAnswer pin(String method, Desk desk, String node) {
    return operator.send(method, CLUSTERS + "/" + desk.cluster() + "/pins/" + node, null);
  }

  private static JsonObject env(Desk desk) {
    return desk.state().getJsonObject("environment").getJsonObject("env");
  }

  private static JsonObject variables(JsonObject env) {
    return new JsonObject().put("env", env);
  }

  private static JsonObject newCluster(String name, String org, String pool) {
    return new JsonObject().put("name", name).put("org", org).put("pool", pool);
  }

  /** What the platform's trail says was done to a cluster, oldest first. */
  private static List<AuditRow> platformRows(String cluster) {
    return bourse.audit("", false).stream().filter(r -> r.subject().equals(cluster)).toList();
  }

  @Test
  void aReadTellsWhatTheClusterHoldsAndOnWhichMachines() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String ip = desk.hold(1, 2.5).get(0);
    JsonObject state = read(desk);
    assertEquals(stage.red(), state.getString("org"));
    assertEquals(stage.name(), state.getString("pool"));
    assertEquals(2.5, state.getJsonObject("declared").getDouble("max_price_per_gpu_hour"));
    assertEquals(1, state.getInteger("held_nodes"));
    JsonObject node = state.getJsonArray("nodes").getJsonObject(0);
    assertEquals(ip, node.getString("public_ip"));
    assertTrue(node.getString("node_id").startsWith(stage.name() + "-"));
    operator.get(CLUSTERS + "/nobody").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aDisarmedClusterTakesNoDeclarationUntilItIsArmedAgain() {
    Desk desk = bourse.stage().redA();
    set(desk, "writes_armed", false);
    assertEquals(false, desk.state().getBoolean("writes_armed"));
    desk.put(desk.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    set(desk, "writes_armed", true);
    desk.declare(0, 2);
  }

  @Test
  void aClusterMadeStaticCanBeLoweredAndNotRaised() {
    Desk desk = bourse.stage().redA();
    desk.hold(2, 2);
    assertEquals("static", set(desk, "posture", "static").getString("posture"));
    desk.put(desk.order(3, 2)).refused(ErrorCode.STATIC_POSTURE);
    desk.declare(1, 2);
    desk.untilHeld(1);
    set(desk, "posture", "market");
    desk.declare(2, 2);
    desk.untilHeld(2);
  }

  @Test
  void aClusterInMaintenanceRefusesSwaps() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    set(desk, "maintenance", true);
    desk.swap(node).refused(ErrorCode.CLUSTER_GATED);
    set(desk, "maintenance", false);
    desk.swap(node).ok();
  }

  @Test
  void aLoweredCapBoundsWritesAndIsToldToTenants() {
    Desk desk = bourse.stage().redA();
    JsonObject changed = set(desk, CAP, 4.5);
    assertEquals(4.5, changed.getDouble(CAP));
    assertEquals(4.5, changed.getDouble("effective_" + CAP));
    assertEquals(4.5, desk.state().getDouble(CAP));
    JsonObject refusal = desk.put(desk.order(0, 4.51)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    assertEquals(4.5, refusal.getDouble("maximum"));
    desk.declare(0, 4.5);
    JsonObject lifted = patch(desk, new JsonObject().putNull(CAP)).ok();
    assertNull(lifted.getDouble(CAP));
    assertEquals(10.0, desk.state().getDouble(CAP));
    desk.declare(0, 10);
  }

  @Test
  void aCapAboveThePoolsHasNoEffect() {
    Desk desk = bourse.stage().redA();
    JsonObject changed = set(desk, CAP, 50);
    assertEquals(50.0, changed.getDouble(CAP));
    assertEquals(10.0, changed.getDouble("effective_" + CAP));
    assertEquals(10.0, desk.state().getDouble(CAP));
  }

  @Test
  void aPriceAboveALoweredCapStaysAndCanBeReleasedWithButNotRaisedWith() {
    Desk desk = bourse.stage().redA();
    desk.hold(2, 3);
    set(desk, CAP, 2);
    assertEquals(2, desk.untilHeld(2).size());
    desk.put(desk.order(3, 3)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    desk.put(desk.order(1, 2.99)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    desk.declare(1, 3);
    desk.untilHeld(1);
    desk.put(desk.order(2, 3)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    desk.declare(2, 2);
    desk.untilHeld(2);
  }

  @Test
  void aClustersVariablesAreMergedOverThePools() {
    Desk desk = bourse.stage().redA();
    assertEquals(new JsonObject().put("REGION", "north"), env(desk));
    JsonObject own = new JsonObject().put("DEBUG", "1");
    JsonObject changed = set(desk, "environment", variables(own));
    assertEquals(new JsonObject().put("DEBUG", "1").put("REGION", "north"), env(desk));
    assertEquals(variables(own), changed.getJsonObject("environment"));
    assertEquals(variables(env(desk)), changed.getJsonObject("effective_environment"));

    set(desk, "environment", variables(new JsonObject().putNull("REGION")));
    assertEquals(new JsonObject(), env(desk), "a null takes the pool's away, and the set is new");

    JsonObject lifted = patch(desk, new JsonObject().putNull("environment")).ok();
    assertNull(lifted.getValue("environment"));
    assertEquals(new JsonObject().put("REGION", "north"), env(desk));
  }

  @Test
  void aPinnedNodeCannotBeSwappedUntilItIsUnpinned() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    assertEquals(new JsonArray().add(node), pin("PUT", desk, node).ok().getJsonArray("pins"));
    pin("PUT", desk, node).ok();
    desk.swap(node).refused(ErrorCode.NODE_PINNED);
    assertEquals(new JsonArray(), pin("DELETE", desk, node).ok().getJsonArray("pins"));
    desk.swap(node).ok();
    assertEquals(
        List.of("node_pin", "node_unpin"),
        platformRows(desk.cluster()).stream().map(AuditRow::action).toList(),
        "what changes nothing leaves no row");
  }

  @Test
  void onlyAHeldNodeCanBePinned() {
    Desk desk = bourse.stage().redA();
    pin("PUT", desk, "198.51.100.1").refused(ErrorCode.UNKNOWN_NODE);
    pin("DELETE", desk, "198.51.100.1").refused(ErrorCode.UNKNOWN_NODE);
    operator.send("PUT", CLUSTERS + "/nobody/pins/198.51.100.1", null).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aNewClusterCanBeBidForAtOnce() {
    Stage stage = bourse.stage();
    String name = stage.name() + "-new";
    HttpAnswer made = operator.post(CLUSTERS, newCluster(name, stage.red(), stage.name()));
    assertEquals(201, made.status());
    assertEquals("vm", made.json().getString("kind"));
    assertEquals("market", made.json().getString("posture"));
    assertEquals(0, made.json().getInteger("version"));
    new Desk(stage.red("orgwide"), stage.red(), name).hold(1, 2);
  }

  @Test
  void aNameIsTakenOnce() {
    Stage stage = bourse.stage();
    JsonObject refusal =
        operator
            .post(CLUSTERS, newCluster(stage.redA().cluster(), stage.blue(), stage.name()))
            .refused(ErrorCode.CONFLICT);
    assertEquals("exists", refusal.getString("reason"));
    assertEquals(stage.red(), read(stage.redA()).getString("org"));
    assertEquals(List.of(), platformRows(stage.redA().cluster()));
  }

  @Test
  void aRetiredOrganizationGetsNoCluster() {
    Stage stage = bourse.stage();
    RunningBourse.await(
        bourse
            .service()
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "UPDATE org SET retired_at = ? WHERE org_id = ?", 1L, stage.red()))));
    JsonObject refusal =
        operator
            .post(CLUSTERS, newCluster(stage.name() + "-late", stage.red(), stage.name()))
            .refused(ErrorCode.CONFLICT);
    assertEquals("retired", refusal.getString("reason"));
  }

  @Test
  void clustersAreListedByNameAPageAtATimeOfAnOrgOrAPool() {
    Stage stage = bourse.stage();
    assertEquals(
        List.of(
            stage.red() + "-a", stage.red() + "-b", stage.red() + "-fixed", stage.red() + "-k8s"),
        names("org=" + stage.red()));
    assertEquals(
        List.of(stage.blue(), stage.red() + "-a", stage.red() + "-b", stage.red() + "-k8s"),
        names("pool=" + stage.name()));
    assertEquals(
        List.of(stage.red() + "-a", stage.red() + "-b", stage.red() + "-k8s"),
        names("pool=" + stage.name() + "&org=" + stage.red()));
    assertEquals(List.of(), names("org=nobody"));
    List<String> paged = new ArrayList<>();
    JsonObject page;
    String after = "0";
    do {
      page = operator.get(CLUSTERS + "?limit=7&after=" + after).ok();
      Desk.objects(page.getJsonArray("clusters")).forEach(c -> paged.add(c.getString("name")));
      after = paged.get(paged.size() - 1);
    } while (page.getBoolean("more"));
    assertEquals(names("limit=500"), paged);
  }

  private static List<String> names(String query) {
    return Desk.objects(operator.get(CLUSTERS + "?" + query).ok().getJsonArray("clusters")).stream()
        .map(c -> c.getString("name"))
        .toList();
  }

  @Test
  void whatOperatorsDoToAClusterIsInThePlatformsTrailAndNotInItsOrganizations() {
    Stage stage = bourse.stage();
    String name = stage.name() + "-trail";
    operator.post(CLUSTERS, newCluster(name, stage.red(), stage.name()));
    Desk desk = new Desk(stage.red("orgwide"), stage.red(), name);
    patch(
            desk,
            new JsonObject()
                .put("posture", "static")
                .put("writes_armed", false)
                .put(CAP, 4.5)
                .put("environment", variables(new JsonObject().put("DEBUG", "1"))))
        .ok();
    List<AuditRow> rows = platformRows(name);
    assertEquals(
        List.of("cluster_create", "cluster_update"), rows.stream().map(AuditRow::action).toList());
    assertEquals(
        "org=" + stage.red() + " pool=" + stage.name() + " kind=vm posture=market",
        rows.get(0).detail());
    assertEquals(
        "posture=static writes_armed=false max_price_cap_per_gpu_hour=4.50 env=[DEBUG]",
        rows.get(1).detail());
    assertTrue(rows.stream().allMatch(row -> row.actor().startsWith("operator:")));
    assertEquals(List.of(), bourse.audit(stage.red(), false));
  }

  @Test
  void aClusterNamedLikeItsOrganizationIsStillThePlatformsAffair() {
    Stage stage = bourse.stage();
    String name = stage.name() + "-twin";
    operator
        .post(
            "/api/operator/orgs",
            new JsonObject().put("org_id", name).put("display", "Twin").put("kind", "standard"))
        .json();
    assertEquals(201, operator.post(CLUSTERS, newCluster(name, name, stage.name())).status());
    operator.patch(CLUSTERS + "/" + name, new JsonObject().put("maintenance", true)).ok();
    assertEquals(
        List.of("cluster_create", "cluster_update"),
        platformRows(name).stream().map(AuditRow::action).toList());
    assertEquals(
        List.of("org_create"), bourse.audit(name, false).stream().map(AuditRow::action).toList());
  }

  @Test
  void badInputIsRefusedNamingFieldValueAndWhatWouldDo() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    refused(
        patch(desk, new JsonObject().put("posture", "auto")), "posture: auto", "market, static");
    refused(patch(desk, new JsonObject().put(CAP, 1.234)), CAP + ": 1.234", "two decimals");
    refused(patch(desk, new JsonObject().put(CAP, 0.99)), CAP + ": 0.99", "reserve price", "1.00");
    refused(
        patch(desk, new JsonObject().put(CAP, "5")),
        CAP + ": \"5\" is a string",
        "a number",
        "or null");
    refused(patch(desk, new JsonObject()), "body");
    refused(patch(desk, new JsonObject().put("hold", true)), "hold", "writes_armed");
    refused(
        patch(
            desk, new JsonObject().put("environment", variables(new JsonObject().put("DEBUG", 1)))),
        "environment.env.DEBUG: 1",
        "a string");
    refused(
        patch(
            desk, new JsonObject().put("environment", variables(new JsonObject().put("A-B", "1")))),
        "environment.env",
        "A-B");
    refused(
        operator.post(CLUSTERS, newCluster("Upper", stage.red(), stage.name())),
        "name: Upper",
        "at either end");
    refused(
        operator.post(CLUSTERS, newCluster("lower", "nobody", stage.name())),
        "org: nobody",
        "exists");
    refused(
        operator.post(CLUSTERS, newCluster("lower", stage.red(), "nowhere")),
        "pool: nowhere",
        "exists");
    refused(operator.get(CLUSTERS + "?limit=501"), "limit: 501", "500");
    assertEquals(List.of(), platformRows(desk.cluster()));
  }

  static void refused(HttpAnswer answer, String... words) {
    String detail = answer.refused(ErrorCode.BAD_REQUEST).getString("detail");
    for (String word : words) {
      assertTrue(detail.contains(word), word + " in: " + detail);
    }
  }

  @Test
  void whatWasSetIsThereAfterARestart() {
    RunningBourse first = RunningBourse.staged(1);
    Stage stage = first.stage();
    String path = CLUSTERS + "/" + stage.redA().cluster();
    // What the market has to say of it is said by then, and is the same after a restart.
    RunningBourse.until(
        "the market has looked at the cluster",
        () -> first.operator().get(path).ok().getValue("capacity_unavailable") != null);
    JsonObject env = new JsonObject().put("DEBUG", "1").putNull("REGION");
    JsonObject set =
        first
            .operator()
            .patch(path, new JsonObject().put(CAP, 4.5).put("environment", variables(env)))
            .ok();
    try (RunningBourse second = first.restarted()) {
      assertEquals(set, second.operator().get(path).ok());
    }
  }
}
