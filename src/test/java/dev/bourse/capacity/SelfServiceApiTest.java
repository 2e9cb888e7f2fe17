package dev.bourse.capacity;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Members create, describe and retire clusters. */
@ReplayedOnPostgres
class SelfServiceApiTest {
  private static final String CLUSTERS = "/api/console/clusters";
  private static final String POOLS = "/api/console/pools";

  private static RunningBourse bourse;
  private static ApiClient alice;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("market.tick=100ms", "capacity.write-cadence=0s");
    alice = bourse.inSession("acme", "alice");
    bourse
        .operator()
        .post(
            "/api/vm/orgs/acme/ssh-keys",
            new JsonObject().put("name", "k").put("public_key", RunningBourse.keyLine()));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject order(String name) {
    return new JsonObject().put("name", name).put("pool", "demo-h100");
  }

  private static JsonObject made(String name) {
    HttpAnswer answer = alice.post(CLUSTERS, order(name));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static List<AuditRow> trail(String subject) {
    return bourse.audit("acme", false).stream().filter(r -> r.subject().equals(subject)).toList();
  }

  private static void quota(String org, int most) {
    bourse
        .operator()
        .patch("/api/operator/orgs/" + org, new JsonObject().put("max_clusters", most))
        .ok();
  }

  private static void open(boolean isOpen) {
    bourse
        .operator()
        .patch("/api/operator/pools/demo-h100", new JsonObject().put("self_service", isOpen))
        .ok();
  }

  private static ApiClient allowed(Set<Scope> scopes) {
    return bourse.with(McpClient.token(bourse, "acme", "alice", scopes));
  }

  @Test
  void aMemberMakesAClusterThatTheNextTickGrantsNodes() {
    HttpAnswer answer = alice.post(CLUSTERS, order("acme-new").put("description", "for tests"));
    assertEquals(201, answer.status());
    JsonObject made = answer.json();
    assertEquals("vm", made.getString("kind"));
    assertEquals("for tests", made.getString("description"));
    assertEquals(made, alice.get(CLUSTERS + "/acme-new").ok());
    AuditRow row = trail("acme-new").get(0);
    assertEquals(
        List.of("member:alice", "cluster_create", "pool=demo-h100 kind=vm"),
        List.of(row.actor(), row.action(), row.detail()));
    ClusterClient client = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-new");
    assertEquals(1, client.hold(1, 3).size());
    client.declare(0, 3);
  }

  @Test
  void aKubernetesClusterIsMadeOnItsSurface() {
    assertEquals(201, alice.post(CLUSTERS, order("acme-made-k8s").put("kind", "k8s")).status());
    JsonObject read = bourse.as("acme", "orgwide").get("/api/k8s/clusters/acme-made-k8s").ok();
    assertEquals("acme-made-k8s", read.getString("cluster"));
  }

  @Test
  void anApplicationMakesOneInItsMembersName() {
    ApiClient application = allowed(EnumSet.of(Scope.ORG_WRITE));
    assertEquals(201, application.post(CLUSTERS, order("acme-by-token")).status());
    assertEquals("member:alice", trail("acme-by-token").get(0).actor());
    allowed(EnumSet.complementOf(EnumSet.of(Scope.ORG_WRITE)))
        .post(CLUSTERS, order("acme-unscoped"))
        .refused(ErrorCode.FORBIDDEN);
    bourse
        .as("acme", "orgwide")
        .post(CLUSTERS, order("acme-by-api-token"))
        .refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aPoolThatIsNotOpenIsRefusedAtItsField() {
    JsonObject unknown =
        alice
            .post(CLUSTERS, order("acme-nowhere").put("pool", "nowhere"))
            .refused(ErrorCode.BAD_REQUEST);
    assertTrue(unknown.getString("detail").contains("pool: nowhere"), unknown.encode());
    assertTrue(unknown.getString("detail").contains("demo-h100"), unknown.encode());
    ApiClient carol = bourse.inSession("openlab", "carol");
    open(false);
    try {
      JsonObject order = order("openlab-closed");
      JsonObject closed = carol.post(CLUSTERS, order).refused(ErrorCode.BAD_REQUEST);
      assertTrue(closed.getString("detail").contains("ask the operator"), closed.encode());
      assertEquals(0, carol.get(POOLS).ok().getJsonArray("pools").size());
    } finally {
      open(true);
    }
  }

  @Test
  void ofTwoWhoRaceForTheLastPlaceOneWins() {
    ApiClient dave = bourse.inSession("globex", "dave");
    quota("globex", 2);
    assertEquals(1, dave.get(POOLS).ok().getInteger("clusters_left"));
    List<Future<HttpAnswer>> racing =
        List.of("globex-x", "globex-y", "globex-z").stream()
            .map(
                name ->
                    bourse.vertx().executeBlocking(() -> dave.post(CLUSTERS, order(name)), false))
            .toList();
    TreeSet<Integer> statuses = new TreeSet<>();
    int won = 0;
    for (Future<HttpAnswer> racer : racing) {
      HttpAnswer answer = await(racer);
      statuses.add(answer.status());
      won += answer.status() == 201 ? 1 : 0;
    }
    assertEquals(1, won);
    assertEquals(Set.of(201, 409), statuses);
    JsonObject refusal = dave.post(CLUSTERS, order("globex-w")).refused(ErrorCode.CONFLICT);
    assertEquals("limit", refusal.getString("reason"));
    assertEquals(2, refusal.getInteger("maximum"));
    assertTrue(refusal.getString("detail").contains("may have 2"), refusal.encode());
    assertEquals(0, dave.get(POOLS).ok().getInteger("clusters_left"));
    quota("globex", 0);
    JsonObject none = dave.post(CLUSTERS, order("globex-v")).refused(ErrorCode.CONFLICT);
    assertEquals(0, none.getInteger("maximum"));
  }

  @Test
  void aNameIsTakenForEverybodyAndForGood() {
    assertEquals(
        "exists",
        alice.post(CLUSTERS, order("globex-main")).refused(ErrorCode.CONFLICT).getString("reason"));
    made("acme-once");
    alice.delete(CLUSTERS + "/acme-once").ok();
    assertEquals(
        "exists",
        alice.post(CLUSTERS, order("acme-once")).refused(ErrorCode.CONFLICT).getString("reason"));
    for (String name : List.of("", "Acme", "-a", "a".repeat(64), "a b")) {
      alice.post(CLUSTERS, order(name)).refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void whatIsSaidOfAClusterIsChangedAndTakenBack() {
    made("acme-said");
    JsonObject change = new JsonObject().put("description", "nightly");
    assertEquals(
        "nightly", alice.patch(CLUSTERS + "/acme-said", change).ok().getString("description"));
    alice.patch(CLUSTERS + "/acme-said", change).ok();
    JsonObject nothing = new JsonObject().putNull("description");
    assertNull(alice.patch(CLUSTERS + "/acme-said", nothing).ok().getString("description"));
    assertEquals(
        List.of("pool=demo-h100 kind=vm", "description=nightly", "description=none"),
        trail("acme-said").stream().map(AuditRow::detail).toList());
    for (Object refused : List.of("", "a\nb", "x".repeat(201), 7)) {
      alice
          .patch(CLUSTERS + "/acme-said", new JsonObject().put("description", refused))
          .refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void anotherOrganizationsClusterIsNotFound() {
    String theirs = CLUSTERS + "/globex-main";
    alice.get(theirs).refused(ErrorCode.NOT_FOUND);
    alice.patch(theirs, new JsonObject().put("description", "mine")).refused(ErrorCode.NOT_FOUND);
    alice.delete(theirs).refused(ErrorCode.NOT_FOUND);
    alice.delete(CLUSTERS + "/nowhere").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void theListTellsWhatEachClusterWantsHoldsAndPays() {
    made("acme-listed");
    JsonObject idle = listed("acme-listed").getJsonObject("market");
    assertEquals(0, idle.getInteger("wanted_nodes"));
    assertNull(idle.getValue("max_price_per_gpu_hour"));
    assertNull(idle.getValue("billing_hold"));

    ClusterClient client = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-listed");
    client.hold(1, 3);
    JsonObject listed = listed("acme-listed");
    JsonObject market = listed.getJsonObject("market");
    JsonObject state = client.state();
    assertEquals(1, listed.getInteger("held_nodes"));
    assertEquals(1, market.getInteger("wanted_nodes"));
    assertEquals(0, market.getInteger("pending_nodes"));
    assertEquals(3.0, market.getDouble("max_price_per_gpu_hour"));
    assertEquals(false, market.getBoolean("bid_too_low"));
    assertEquals(
        state.getJsonObject("pool").fieldNames(), market.getJsonObject("prices").fieldNames());
    assertEquals("demo-h100", market.getJsonObject("prices").getString("pool"));
    alice.delete(CLUSTERS + "/acme-listed?give_back=true").ok();
  }

  @Test
  void theListCanBeOfThoseInUseOrOfTheRetiredOnes() {
    made("acme-over");
    alice.delete(CLUSTERS + "/acme-over").ok();
    assertTrue(names("").contains("acme-over"));
    assertTrue(names("?state=retired").contains("acme-over"));
    assertTrue(names("?state=in-use").contains("acme-batch"));
    assertTrue(!names("?state=in-use").contains("acme-over"));
    assertTrue(!names("?state=retired").contains("acme-batch"));
    // A page of one skips clusters that the filter excludes.
    assertEquals(1, names("?state=retired&limit=1").size());
    String detail =
        alice.get(CLUSTERS + "?state=live").refused(ErrorCode.BAD_REQUEST).getString("detail");
    assertTrue(detail.contains("state") && detail.contains("in-use, retired"), detail);
  }

  private static JsonObject listed(String name) {
    return alice.get(CLUSTERS).json().getJsonArray("clusters").stream()
        .map(JsonObject.class::cast)
        .filter(one -> one.getString("name").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> names(String query) {
    return alice.get(CLUSTERS + query).json().getJsonArray("clusters").stream()
        .map(one -> ((JsonObject) one).getString("name"))
        .toList();
  }

  @Test
  void aClusterThatHoldsNodesIsRetiredOnlyWhenTheyAreGivenBack() {
    made("acme-holding");
    ApiClient orgwide = bourse.as("acme", "orgwide");
    ClusterClient client = new ClusterClient(orgwide, "acme", "acme-holding");
    client.hold(1, 3);
    JsonObject refusal = alice.delete(CLUSTERS + "/acme-holding").refused(ErrorCode.CONFLICT);
    assertEquals("in-use", refusal.getString("reason"));
    assertTrue(refusal.getString("detail").contains("holds 1 node"), refusal.encode());
    assertEquals(1, client.untilHeld(1).size());

    JsonObject retired = alice.delete(CLUSTERS + "/acme-holding?give_back=true").ok();
    assertNotNull(retired.getString("retired_at"));
    assertEquals(0, retired.getInteger("held_nodes"));
    assertEquals(retired, alice.delete(CLUSTERS + "/acme-holding").ok());
    assertEquals(
        List.of("cluster_create", "cluster_retire"),
        trail("acme-holding").stream()
            .map(AuditRow::action)
            .filter(action -> action.startsWith("cluster_"))
            .toList());
  }

  /** Stores a retired cluster that is not in memory; each read of a test uses its own. */
  private static String settled(String name) {
    Cluster.Draft draft =
        Cluster.created(name, "acme", "demo-h100", Cluster.Kind.VM, Cluster.Posture.MARKET).draft();
    draft.description = "done with";
    draft.retiredAtMillis = 1_000L;
    RunningBourse.await(bourse.database().commit(CapacityStore.insert(draft.build(), 500)));
    return name;
  }

  @Test
  void aClusterThatIsHeldInNoMemoryIsReadFromTheStore() {
    ApiClient orgwide = bourse.as("acme", "orgwide");
    orgwide.get("/api/vm/capacity?cluster=" + settled("acme-gone-1")).ok();
    assertEquals(
        "done with",
        alice.get(CLUSTERS + "/" + settled("acme-gone-2")).ok().getString("description"));
    settled("acme-gone-3");
    assertTrue(names("?state=retired&limit=100").contains("acme-gone-3"));
    assertTrue(names("?limit=100").contains("acme-gone-3"));
    assertTrue(!names("?state=in-use&limit=100").contains("acme-gone-3"));
    String operators = "/api/operator/clusters";
    bourse.operator().get(operators + "/" + settled("acme-gone-4")).ok();
    settled("acme-gone-5");
    assertTrue(
        bourse
            .operator()
            .get(operators + "?org=acme&limit=100")
            .ok()
            .encode()
            .contains("acme-gone-5"));
    orgwide.get("/api/vm/activity?cluster=" + settled("acme-gone-6")).ok();
    orgwide.get("/api/vm/history?hours=1&cluster=" + settled("acme-gone-7")).ok();
    ClusterClient client = new ClusterClient(orgwide, "acme", settled("acme-gone-8"));
    JsonObject order =
        new JsonObject()
            .put("cluster", "acme-gone-8")
            .put("max_gpus", 8)
            .put("max_price_per_gpu_hour", 3)
            .put("expected_version", 0);
    assertEquals("retired", client.put(order).refused(ErrorCode.CONFLICT).getString("reason"));
    alice.delete(CLUSTERS + "/" + settled("acme-gone-9")).ok();
    bourse
        .as("globex", "orgwide")
        .get("/api/vm/capacity?cluster=acme-gone-9")
        .refused(ErrorCode.NOT_FOUND);
    alice
        .post(
            CLUSTERS,
            new JsonObject().put("name", settled("acme-gone-10")).put("pool", "demo-h100"))
        .refused(ErrorCode.CONFLICT);
  }

  @Test
  void aRetiredClusterIsReadAndNeverWritten() {
    made("acme-past");
    alice.delete(CLUSTERS + "/acme-past").ok();
    ApiClient orgwide = bourse.as("acme", "orgwide");
    ClusterClient client = new ClusterClient(orgwide, "acme", "acme-past");
    assertEquals(false, client.state().getBoolean("writes_armed"));
    assertEquals(
        "retired", client.put(client.order(1, 3)).refused(ErrorCode.CONFLICT).getString("reason"));
    bourse
        .operator()
        .patch("/api/operator/clusters/acme-past", new JsonObject().put("writes_armed", true))
        .refused(ErrorCode.CONFLICT);
    alice
        .patch(CLUSTERS + "/acme-past", new JsonObject().put("description", "d"))
        .refused(ErrorCode.CONFLICT);
    assertTrue(
        orgwide.get("/api/whoami").ok().getJsonArray("clusters").stream()
            .noneMatch(c -> ((JsonObject) c).getString("name").equals("acme-past")));
    assertTrue(
        ClusterClient.objects(alice.get(CLUSTERS + "?limit=500").ok().getJsonArray("clusters"))
            .stream()
            .anyMatch(c -> c.getString("name").equals("acme-past")));
  }

  @Test
  void retiringMakesRoomInTheQuota() {
    ApiClient carol = bourse.inSession("openlab", "carol");
    quota("openlab", 2);
    JsonObject first = carol.post(CLUSTERS, order("openlab-first")).json();
    assertEquals("openlab-first", first.getString("name"));
    carol.post(CLUSTERS, order("openlab-next")).refused(ErrorCode.CONFLICT);
    carol.delete(CLUSTERS + "/openlab-first").ok();
    assertEquals(201, carol.post(CLUSTERS, order("openlab-next")).status());
  }

  @Test
  void whoKeepsRetiringMakesNoMoreThanTwentyBeyondTheQuotaInADay() {
    ApiClient operator = bourse.operator();
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org("initech")).status());
    JsonObject member =
        new JsonObject().put("username", "erin").put("email", "erin@initech.example");
    assertEquals(
        201,
        operator.post("/api/operator/orgs/initech/members", member.put("name", "Erin")).status());
    ApiClient erin = bourse.inSession("initech", "erin");
    quota("initech", 1);
    int most = 1 + SelfService.REPLACED_A_DAY;
    for (int i = 0; i < most; i++) {
      assertEquals(201, erin.post(CLUSTERS, order("initech-" + i)).status());
      erin.delete(CLUSTERS + "/initech-" + i).ok();
    }
    JsonObject refusal = erin.post(CLUSTERS, order("initech-late")).refused(ErrorCode.CONFLICT);
    assertEquals("limit", refusal.getString("reason"));
    assertEquals(most, refusal.getInteger("maximum"));
    String oldest =
        ClusterClient.objects(erin.get(CLUSTERS + "?limit=500").ok().getJsonArray("clusters"))
            .stream()
            .map(c -> c.getString("created_at"))
            .min(Comparator.naturalOrder())
            .orElseThrow();
    assertEquals(
        "within 24 hours the organization may make %s clusters, those it has retired among them;"
                .formatted(most)
            + " the next as of "
            + Times.rfc3339(Instant.parse(oldest).plus(Duration.ofDays(1)).toEpochMilli()),
        refusal.getString("detail"));
    erin.get(CLUSTERS + "/initech-late").refused(ErrorCode.NOT_FOUND);
    quota("initech", 2);
    assertEquals(201, erin.post(CLUSTERS, order("initech-late")).status());
  }

  @Test
  void theListGoesOnPageByPage() {
    JsonObject page = alice.get(CLUSTERS + "?limit=1").ok();
    assertEquals(1, page.getJsonArray("clusters").size());
    assertEquals(true, page.getBoolean("more"));
    JsonObject next = alice.get(CLUSTERS + "?limit=1&after=" + page.getString("next")).ok();
    assertTrue(
        next.getJsonArray("clusters")
                .getJsonObject(0)
                .getString("name")
                .compareTo(page.getString("next"))
            > 0);
    assertTrue(
        ClusterClient.objects(alice.get(CLUSTERS + "?limit=500").ok().getJsonArray("clusters"))
            .stream()
            .noneMatch(c -> c.getString("name").startsWith("globex")));
  }
}
