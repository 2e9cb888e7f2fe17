package dev.bourse.org;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Creating, changing and retiring organizations, by operators. */
@ReplayedOnPostgres
class OrgAdminApiTest {
  private static final String ORGS = "/api/operator/orgs";

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(4);
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject created(String orgId) {
    HttpAnswer answer = operator.post(ORGS, OrgApiFixture.org(orgId));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static Cluster cluster(RunningBourse service, String name) {
    return service.service().clusters().find(name).orElseThrow().cluster();
  }

  private static boolean isAtRest(RunningBourse service, String name) {
    Cluster cluster = cluster(service, name);
    return !cluster.writesArmed() && cluster.allocations().isEmpty() && cluster.pending(8) == 0;
  }

  /** An organization in the form of lists and changes. */
  private static JsonObject read(String org) {
    JsonObject shown = operator.get(ORGS + "/" + org).ok();
    assertTrue(shown.containsKey("operator_hold"), shown::encode);
    assertEquals(null, shown.remove("operator_hold"));
    return shown;
  }

  @Test
  void anOrganizationIsMadeReadAndListed() {
    JsonObject made = created("made");
    assertEquals("made", made.getString("org_id"));
    assertEquals("Lab", made.getString("display"));
    assertEquals("standard", made.getString("kind"));
    assertEquals(null, made.getValue("retired_at"));
    assertEquals(made, read("made"));
    assertTrue(
        ClusterClient.objects(operator.get(ORGS + "?limit=500").ok().getJsonArray("orgs"))
            .contains(made));
    AuditRow row = bourse.audit("made", false).get(0);
    assertEquals(
        List.of("operator:first", "org_create", "made", "display=Lab kind=standard"),
        List.of(row.actor(), row.action(), row.subject(), row.detail()));
  }

  @Test
  void theQuotaOfClustersIsTheServicesUntilAnOperatorSetsIt() {
    assertEquals(20, created("quota").getInteger("max_clusters"));
    JsonObject none = new JsonObject().put("max_clusters", 0);
    assertEquals(0, operator.patch(ORGS + "/quota", none).ok().getInteger("max_clusters"));
    assertEquals(0, operator.get(ORGS + "/quota").ok().getInteger("max_clusters"));
    assertEquals("max_clusters=0", bourse.audit("quota", false).get(1).detail());
    JsonObject large = OrgApiFixture.org("quota-large").put("max_clusters", 500);
    assertEquals(500, operator.post(ORGS, large).json().getInteger("max_clusters"));
    for (Object refused : List.of(-1, 10_001, 1.5, "many")) {
      JsonObject change = new JsonObject().put("max_clusters", refused);
      operator.patch(ORGS + "/quota", change).refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void aListIsReadPageByPage() {
    created("paged-1");
    created("paged-2");
    created("paged-3");
    JsonObject first = operator.get(ORGS + "?limit=2&after=paged-0").ok();
    assertEquals(
        List.of("paged-1", "paged-2"),
        ClusterClient.objects(first.getJsonArray("orgs")).stream()
            .map(o -> o.getString("org_id"))
            .toList());
    assertTrue(first.getBoolean("more"));
    JsonObject next = operator.get(ORGS + "?limit=1&after=paged-2").ok();
    assertEquals("paged-3", next.getJsonArray("orgs").getJsonObject(0).getString("org_id"));
    assertFalse(operator.get(ORGS + "?after=zzz").ok().getBoolean("more"));
    for (String limit : List.of("0", "501", "x")) {
      JsonObject refusal = operator.get(ORGS + "?limit=" + limit).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refusal.getString("detail").contains("limit: " + limit), refusal.encode());
    }
  }

  @Test
  void aBadOrganizationIsRefusedNamingTheFieldAndItsValue() {
    for (String id : List.of("", "-a", "a-", "A", "a b", "a/b", "x".repeat(64))) {
      JsonObject refusal =
          operator.post(ORGS, OrgApiFixture.org(id)).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refusal.getString("detail").startsWith("org_id: "), refusal.encode());
    }
    String kind =
        operator
            .post(ORGS, OrgApiFixture.org("fine").put("kind", "secret"))
            .refused(ErrorCode.BAD_REQUEST)
            .getString("detail");
    assertTrue(kind.contains("kind: secret") && kind.contains("public_research"), kind);
    operator
        .post(ORGS, OrgApiFixture.org("fine").put("display", "a\nb"))
        .refused(ErrorCode.BAD_REQUEST);
    operator.post(ORGS, OrgApiFixture.org("fine").put("more", 1)).refused(ErrorCode.BAD_REQUEST);
    operator.patch(ORGS + "/made", new JsonObject()).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void aChangeIsInForceAtOnceAndWhatIsLeftOutStays() {
    TestMarket market = bourse.market();
    market.red("bare").get("/api/whoami").ok();
    JsonObject changed =
        operator.patch(ORGS + "/" + market.red(), new JsonObject().put("display", "Crimson")).ok();
    assertEquals("standard", changed.getString("kind"));
    JsonObject whoami = market.red("bare").get("/api/whoami").ok();
    assertEquals("Crimson", whoami.getString("org_display"));
    operator.patch(ORGS + "/" + market.red(), new JsonObject().put("kind", "public_research")).ok();
    whoami = market.red("bare").get("/api/whoami").ok();
    assertEquals("Crimson", whoami.getString("org_display"));
    assertEquals("public_research", whoami.getString("org_kind"));
    assertEquals(
        List.of("display=Crimson", "kind=public_research"),
        bourse.audit(market.red(), false).stream().map(AuditRow::detail).toList());
  }

  @Test
  void retiringRevokesEveryTokenAndGivesEveryNodeBack() {
    TestMarket market = bourse.market();
    List<String> held = market.redA().hold(2, 2.0);
    bourse.steer(market.redA().cluster(), OperatorCommands.pin(held.get(0), true));
    ApiClient token = market.red("orgwide");

    JsonObject retired = operator.delete(ORGS + "/" + market.red()).ok();

    assertFalse(retired.getString("retired_at").isEmpty());
    assertEquals(retired, read(market.red()));
    token.get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    for (String name : List.of("-a", "-b", "-fixed")) {
      until(name + " is at rest", () -> isAtRest(bourse, market.red() + name));
    }
    market.blueA().hold(TestMarket.NODES, 2.0);
    List<AuditRow> rows = bourse.audit(market.red(), false);
    List<AuditRow> revokes =
        rows.stream().filter(row -> row.action().equals("vm_token_revoke")).toList();
    assertEquals(4, revokes.size());
    assertEquals(
        List.of("system:offboard"),
        rows.stream()
            .filter(row -> row.action().equals("vm_key_revoke"))
            .map(AuditRow::actor)
            .toList());
    for (AuditRow revoke : revokes) {
      assertEquals("system:offboard", revoke.actor());
      assertEquals(market.red(), revoke.subject());
    }
    AuditRow last = rows.get(rows.size() - 1);
    assertEquals("operator:first org_retire", last.actor() + " " + last.action());
    List<String> reasons =
        await(
            bourse
                .database()
                .read(
                    "SELECT reason FROM activity WHERE cluster = ? AND note LIKE 'released%'",
                    List.of(market.redA().cluster()), row -> row.text("reason")));
    assertEquals(List.of("operator", "operator"), reasons);
  }

  @Test
  void aRetiredOrganizationCanBeReadButNotChangedAndItsIdIsNotUsedAgain() {
    created("gone");
    String path = ORGS + "/gone";
    JsonObject member =
        new JsonObject().put("username", "eve").put("email", "e@x.example").put("name", "Eve");
    assertEquals(201, operator.post(path + "/members", member).status());
    operator.delete(path).ok();
    List<HttpAnswer> refusals =
        List.of(
            operator.patch(path, new JsonObject().put("display", "x")),
            operator.delete(path),
            operator.post(path + "/members", member.copy().put("username", "new")),
            operator.patch(path + "/members/eve", new JsonObject().put("name", "x")),
            operator.delete(path + "/members/eve"),
            operator.post(
                path + "/rules", new JsonObject().put("kind", "domain").put("value", "x.example")),
            operator.delete(path + "/rules/jr_1"),
            operator.post(path + "/invitations", new JsonObject().put("email", "a@x.example")),
            operator.post(
                path + "/tokens", new JsonObject().put("name", "t").put("scopes", List.of())),
            operator.delete(path + "/tokens/1"));
    for (HttpAnswer refusal : refusals) {
      assertEquals("retired", refusal.refused(ErrorCode.CONFLICT).getString("reason"));
    }
    assertEquals(
        "exists",
        operator
            .post(ORGS, OrgApiFixture.org("gone"))
            .refused(ErrorCode.CONFLICT)
            .getString("reason"));
    assertEquals(1, operator.get(path + "/members").ok().getJsonArray("members").size());
    operator.get(path + "/rules").ok();
    operator.get(path + "/tokens").ok();
  }

  @Test
  void whatNothingCanBeNamedIsRefusedWhereverAPathNamesIt() {
    for (String name : List.of("%0a", "a%0d%0ab", "%7f", "%c2%85", "x".repeat(3_000))) {
      for (String path :
          List.of(
              "orgs/" + name,
              "orgs/acme/members/" + name,
              "orgs/acme/rules/" + name,
              "orgs/acme/tokens/" + name,
              "operators/" + name,
              "nodes/" + name)) {
        operator.delete("/api/operator/" + path).refused(ErrorCode.BAD_REQUEST);
      }
      JsonObject switched = new JsonObject().put("swaps_enabled", true);
      operator.patch("/api/operator/pools/" + name, switched).refused(ErrorCode.BAD_REQUEST);
    }
  }
}
