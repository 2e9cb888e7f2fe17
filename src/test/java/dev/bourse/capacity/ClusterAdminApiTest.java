package dev.bourse.capacity;

import static dev.bourse.testing.OperatorRequests.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Operators' changes of clusters, and their effects for tenants. */
@ReplayedOnPostgres
class ClusterAdminApiTest {
  private static final String CLUSTERS = "/api/operator/clusters";
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(20);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject read(ClusterClient client) {
    return operator.get(CLUSTERS + "/" + client.cluster()).ok();
  }

  private static HttpAnswer patch(ClusterClient client, JsonObject change) {
    return operator.patch(CLUSTERS + "/" + client.cluster(), change);
  }

  private static JsonObject set(ClusterClient client, String field, Object value) {
    return patch(client, new JsonObject().put(field, value)).ok();
  }

  private static HttpAnswer pin(String method, ClusterClient client, String node) {
    return operator.send(method, CLUSTERS + "/" + client.cluster() + "/pins/" + node, null);
  }

  private static JsonObject env(ClusterClient client) {
    return client.state().getJsonObject("environment").getJsonObject("env");
  }

  private static JsonObject variables(JsonObject env) {
    return new JsonObject().put("env", env);
  }

  private static JsonObject newCluster(String name, String org, String pool) {
    return new JsonObject().put("name", name).put("org", org).put("pool", pool);
  }

  /** Returns the entries about a cluster in the platform's audit trail, oldest first. */
  private static List<AuditRow> platformRows(String cluster) {
    return bourse.audit("", false).stream().filter(r -> r.subject().equals(cluster)).toList();
  }

  @Test
  void aReadTellsWhatTheClusterHoldsAndOnWhichMachines() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String ip = client.hold(1, 2.5).get(0);
    JsonObject state = read(client);
    assertEquals(market.red(), state.getString("org"));
    assertEquals(market.name(), state.getString("pool"));
    assertEquals(2.5, state.getJsonObject("declared").getDouble("max_price_per_gpu_hour"));
    assertEquals(1, state.getInteger("held_nodes"));
    JsonObject node = state.getJsonArray("nodes").getJsonObject(0);
    assertEquals(ip, node.getString("public_ip"));
    assertTrue(node.getString("node_id").startsWith(market.name() + "-"));
    operator.get(CLUSTERS + "/nobody").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aDisarmedClusterTakesNoDeclarationUntilItIsArmedAgain() {
    ClusterClient client = bourse.market().redA();
    set(client, "writes_armed", false);
    assertEquals(false, client.state().getBoolean("writes_armed"));
    client.put(client.order(0, 2)).refused(ErrorCode.CAPACITY_WRITES_DISABLED);
    set(client, "writes_armed", true);
    client.declare(0, 2);
  }

  @Test
  void aClusterMadeStaticCanBeLoweredAndNotRaised() {
    ClusterClient client = bourse.market().redA();
    client.hold(2, 2);
    assertEquals("static", set(client, "posture", "static").getString("posture"));
    client.put(client.order(3, 2)).refused(ErrorCode.STATIC_POSTURE);
    client.declare(1, 2);
    client.untilHeld(1);
    set(client, "posture", "market");
    client.declare(2, 2);
    client.untilHeld(2);
  }

  @Test
  void aClusterInMaintenanceRefusesSwaps() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    set(client, "maintenance", true);
    client.swap(node).refused(ErrorCode.CLUSTER_GATED);
    set(client, "maintenance", false);
    client.swap(node).ok();
  }

  @Test
  void aLoweredCapBoundsWritesAndIsToldToTenants() {
    ClusterClient client = bourse.market().redA();
    JsonObject changed = set(client, CAP, 4.5);
    assertEquals(4.5, changed.getDouble(CAP));
    assertEquals(4.5, changed.getDouble("effective_" + CAP));
    assertEquals(4.5, client.state().getDouble(CAP));
    JsonObject refusal = client.put(client.order(0, 4.51)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    assertEquals(4.5, refusal.getDouble("maximum"));
    client.declare(0, 4.5);
    JsonObject lifted = patch(client, new JsonObject().putNull(CAP)).ok();
    assertNull(lifted.getDouble(CAP));
    assertEquals(10.0, client.state().getDouble(CAP));
    client.declare(0, 10);
  }

  @Test
  void aCapAboveThePoolsHasNoEffect() {
    ClusterClient client = bourse.market().redA();
    JsonObject changed = set(client, CAP, 50);
    assertEquals(50.0, changed.getDouble(CAP));
    assertEquals(10.0, changed.getDouble("effective_" + CAP));
    assertEquals(10.0, client.state().getDouble(CAP));
  }

  @Test
  void aPriceAboveALoweredCapStaysAndCanBeReleasedWithButNotRaisedWith() {
    ClusterClient client = bourse.market().redA();
    client.hold(2, 3);
    set(client, CAP, 2);
    assertEquals(2, client.untilHeld(2).size());
    client.put(client.order(3, 3)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    client.put(client.order(1, 2.99)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    client.declare(1, 3);
    client.untilHeld(1);
    client.put(client.order(2, 3)).refused(ErrorCode.PRICE_ABOVE_MAXIMUM);
    client.declare(2, 2);
    client.untilHeld(2);
  }

  @Test
  void aClustersVariablesAreMergedOverThePools() {
    ClusterClient client = bourse.market().redA();
    assertEquals(new JsonObject().put("REGION", "north"), env(client));
    JsonObject own = new JsonObject().put("DEBUG", "1");
    JsonObject changed = set(client, "environment", variables(own));
    assertEquals(new JsonObject().put("DEBUG", "1").put("REGION", "north"), env(client));
    assertEquals(variables(own), changed.getJsonObject("environment"));
    assertEquals(variables(env(client)), changed.getJsonObject("effective_environment"));

    set(client, "environment", variables(new JsonObject().putNull("REGION")));
    assertEquals(
        new JsonObject(),
        env(client),
        "null removes the pool's variable, and all others are replaced");

    JsonObject lifted = patch(client, new JsonObject().putNull("environment")).ok();
    assertNull(lifted.getValue("environment"));
    assertEquals(new JsonObject().put("REGION", "north"), env(client));
  }

  @Test
  void aPinnedNodeCannotBeSwappedUntilItIsUnpinned() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    assertEquals(new JsonArray().add(node), pin("PUT", client, node).ok().getJsonArray("pins"));
    pin("PUT", client, node).ok();
    client.swap(node).refused(ErrorCode.NODE_PINNED);
    assertEquals(new JsonArray(), pin("DELETE", client, node).ok().getJsonArray("pins"));
    client.swap(node).ok();
    assertEquals(
        List.of("node_pin", "node_unpin"),
        platformRows(client.cluster()).stream().map(AuditRow::action).toList(),
        "what changes nothing leaves no row");
  }

  @Test
  void onlyAHeldNodeCanBePinned() {
    ClusterClient client = bourse.market().redA();
    pin("PUT", client, "198.51.100.1").refused(ErrorCode.UNKNOWN_NODE);
    pin("DELETE", client, "198.51.100.1").refused(ErrorCode.UNKNOWN_NODE);
    operator.send("PUT", CLUSTERS + "/nobody/pins/198.51.100.1", null).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aNewClusterCanBeBidForAtOnce() {
    TestMarket market = bourse.market();
    String name = market.name() + "-new";
    HttpAnswer made = operator.post(CLUSTERS, newCluster(name, market.red(), market.name()));
    assertEquals(201, made.status());
    assertEquals("vm", made.json().getString("kind"));
    assertEquals("market", made.json().getString("posture"));
    assertEquals(0, made.json().getInteger("version"));
    new ClusterClient(market.red("orgwide"), market.red(), name).hold(1, 2);
  }

  @Test
  void aRetiredOrganizationGetsNoCluster() {
    TestMarket market = bourse.market();
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "UPDATE org SET retired_at = ? WHERE org_id = ?", 1L, market.red()))));
    JsonObject refusal =
        operator
            .post(CLUSTERS, newCluster(market.name() + "-late", market.red(), market.name()))
            .refused(ErrorCode.CONFLICT);
    assertEquals("retired", refusal.getString("reason"));
  }

  @Test
  void clustersAreListedByNameAPageAtATimeOfAnOrgOrAPool() {
    TestMarket market = bourse.market();
    assertEquals(
        List.of(
            market.red() + "-a",
            market.red() + "-b",
            market.red() + "-fixed",
            market.red() + "-k8s"),
        names("org=" + market.red()));
    assertEquals(
        List.of(market.blue(), market.red() + "-a", market.red() + "-b", market.red() + "-k8s"),
        names("pool=" + market.name()));
    assertEquals(
        List.of(market.red() + "-a", market.red() + "-b", market.red() + "-k8s"),
        names("pool=" + market.name() + "&org=" + market.red()));
    assertEquals(List.of(), names("org=nobody"));
    List<String> paged = new ArrayList<>();
    JsonObject page;
    String after = "0";
    do {
      page = operator.get(CLUSTERS + "?limit=7&after=" + after).ok();
      ClusterClient.objects(page.getJsonArray("clusters"))
          .forEach(c -> paged.add(c.getString("name")));
      after = paged.get(paged.size() - 1);
    } while (page.getBoolean("more"));
    assertEquals(names("limit=500"), paged);
  }

  private static List<String> names(String query) {
    return ClusterClient.objects(operator.get(CLUSTERS + "?" + query).ok().getJsonArray("clusters"))
        .stream()
        .map(c -> c.getString("name"))
        .toList();
  }

  @Test
  void whatOperatorsDoToAClusterIsInThePlatformsTrailAndNotInItsOrganizations() {
    TestMarket market = bourse.market();
    String name = market.name() + "-trail";
    operator.post(CLUSTERS, newCluster(name, market.red(), market.name()));
    ClusterClient client = new ClusterClient(market.red("orgwide"), market.red(), name);
    patch(
            client,
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
        "org=" + market.red() + " pool=" + market.name() + " kind=vm posture=market",
        rows.get(0).detail());
    assertEquals(
        "posture=static writes_armed=false max_price_cap_per_gpu_hour=4.50 env=[DEBUG]",
        rows.get(1).detail());
    assertTrue(rows.stream().allMatch(row -> row.actor().startsWith("operator:")));
    assertEquals(List.of(), bourse.audit(market.red(), false));
  }

  @Test
  void aClusterNamedLikeItsOrganizationIsStillThePlatformsAffair() {
    TestMarket market = bourse.market();
    String name = market.name() + "-twin";
    operator
        .post(
            "/api/operator/orgs",
            new JsonObject().put("org_id", name).put("display", "Twin").put("kind", "standard"))
        .json();
    assertEquals(201, operator.post(CLUSTERS, newCluster(name, name, market.name())).status());
    operator.patch(CLUSTERS + "/" + name, new JsonObject().put("maintenance", true)).ok();
    assertEquals(
        List.of("cluster_create", "cluster_update"),
        platformRows(name).stream().map(AuditRow::action).toList());
    assertEquals(
        List.of("org_create"), bourse.audit(name, false).stream().map(AuditRow::action).toList());
  }

  @Test
  void badInputIsRefusedNamingFieldValueAndWhatWouldDo() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    refused(
        patch(client, new JsonObject().put("posture", "auto")), "posture: auto", "market, static");
    refused(patch(client, new JsonObject().put(CAP, 1.234)), CAP + ": 1.234", "two decimals");
    refused(
        patch(client, new JsonObject().put(CAP, 0.99)), CAP + ": 0.99", "reserve price", "1.00");
    refused(
        patch(client, new JsonObject().put(CAP, "5")),
        CAP + ": \"5\" is a string",
        "a number",
        "or null");
    refused(patch(client, new JsonObject()), "body");
    refused(patch(client, new JsonObject().put("hold", true)), "hold", "writes_armed");
    refused(
        patch(
            client,
            new JsonObject().put("environment", variables(new JsonObject().put("DEBUG", 1)))),
        "environment.env.DEBUG: 1",
        "a string");
    refused(
        patch(
            client,
            new JsonObject().put("environment", variables(new JsonObject().put("A-B", "1")))),
        "environment.env",
        "A-B");
    refused(
        operator.post(CLUSTERS, newCluster("Upper", market.red(), market.name())),
        "name: Upper",
        "at either end");
    refused(
        operator.post(CLUSTERS, newCluster("lower", "nobody", market.name())),
        "org: nobody",
        "exists");
    refused(
        operator.post(CLUSTERS, newCluster("lower", market.red(), "nowhere")),
        "pool: nowhere",
        "exists");
    refused(operator.get(CLUSTERS + "?limit=501"), "limit: 501", "500");
    assertEquals(List.of(), platformRows(client.cluster()));
  }
}
