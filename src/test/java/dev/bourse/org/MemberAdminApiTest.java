package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Members, join rules and invitations as operators manage them. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@ReplayedOnPostgres
class MemberAdminApiTest {
  private static final AtomicInteger MADE = new AtomicInteger();

  private static RunningBourse bourse;
  private static ApiClient operator;

  private String orgId;
  private String members;
  private String rules;
  private String invitations;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @BeforeEach
  void makeOrganization() {
    orgId = "org-" + MADE.incrementAndGet();
    String path = "/api/operator/orgs/" + orgId;
    members = path + "/members";
    rules = path + "/rules";
    invitations = path + "/invitations";
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org(orgId)).status());
  }

  private static JsonObject person(String username) {
    return new JsonObject()
        .put("username", username)
        .put("email", username + "@x.example")
        .put("name", "N. " + username);
  }

  private JsonObject added(String username) {
    HttpAnswer answer = operator.post(members, person(username));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static JsonObject rule(String kind, String value) {
    return new JsonObject().put("kind", kind).put("value", value);
  }

  private static JsonObject invitation(String email) {
    return new JsonObject().put("email", email);
  }

  private String lastRow() {
    List<AuditRow> rows = bourse.audit(orgId, false);
    AuditRow last = rows.get(rows.size() - 1);
    assertEquals(orgId, last.subject());
    return last.actor() + " " + last.action() + " " + last.detail();
  }

  private String mintedFor(String username) {
    HttpAnswer answer =
        operator.post(
            "/api/operator/orgs/" + orgId + "/tokens",
            new JsonObject()
                .put("name", "of " + username)
                .put("scopes", new JsonArray())
                .put("member", username));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json().getString("token");
  }

  private static String detail(HttpAnswer refused) {
    return refused.refused(ErrorCode.BAD_REQUEST).getString("detail");
  }

  private static String reason(HttpAnswer refused) {
    return refused.refused(ErrorCode.CONFLICT).getString("reason");
  }

  @Test
  void aMemberIsAddedAndListed() {
    JsonObject member = added("ann");
    assertEquals("ann@x.example", member.getString("email"));
    assertEquals(null, member.getValue("last_login_at"));
    assertEquals(
        List.of(member), ClusterClient.objects(operator.get(members).ok().getJsonArray("members")));
    assertEquals(
        "operator:first member_add username=ann email=ann@x.example name=N. ann", lastRow());
  }

  @Test
  void membersAreListedPageByPage() {
    added("c");
    added("a");
    added("b");
    JsonObject page = operator.get(members + "?limit=2").ok();
    assertEquals("a", page.getJsonArray("members").getJsonObject(0).getString("username"));
    assertTrue(page.getBoolean("more"));
    page = operator.get(members + "?limit=2&after=b").ok();
    assertEquals("c", page.getJsonArray("members").getJsonObject(0).getString("username"));
    assertFalse(page.getBoolean("more"));
  }

  @Test
  void aUsernameAndAnAddressAreOneMembersOnly() {
    added("ann");
    assertEquals(
        "exists", reason(operator.post(members, person("ann").put("email", "other@x.example"))));
    assertEquals(
        "exists", reason(operator.post(members, person("bob").put("email", "ANN@x.example"))));
    added("bob");
    assertEquals(
        "exists",
        reason(operator.patch(members + "/bob", new JsonObject().put("email", "ann@x.example"))));
    operator.patch(members + "/ann", new JsonObject().put("email", "Ann@x.example")).ok();
  }

  @Test
  void aBadMemberIsRefusedNamingTheFieldAndItsValue() {
    assertTrue(detail(operator.post(members, person("Ann"))).startsWith("username: Ann"));
    for (String email : List.of("nobody", "a@b", "a b@x.example", "ä@x.example", "a@x..example")) {
      String refusal = detail(operator.post(members, person("ann").put("email", email)));
      assertTrue(refusal.startsWith("email: " + email), refusal);
    }
    assertTrue(detail(operator.post(members, person("ann").put("name", ""))).startsWith("name: "));
    JsonObject nameless = person("ann");
    nameless.remove("name");
    assertTrue(detail(operator.post(members, nameless)).startsWith("name is missing"));
    added("ann");
    assertTrue(
        detail(operator.patch(members + "/ann", new JsonObject().put("email", "x")))
            .startsWith("email: x"));
    assertTrue(
        detail(operator.patch(members + "/ann", new JsonObject().put("suspended", "yes")))
            .startsWith("suspended: \"yes\" is a string"));
  }

  @Test
  void whatAChangeLeavesOutStays() {
    added("ann");
    JsonObject changed =
        operator.patch(members + "/ann", new JsonObject().put("name", "Ann Other")).ok();
    assertEquals("Ann Other", changed.getString("name"));
    assertEquals("ann@x.example", changed.getString("email"));
    assertEquals("operator:first member_update username=ann name=Ann Other", lastRow());
  }

  @Test
  void aSuspendedMemberKeepsTheirTokens() {
    added("ann");
    ApiClient token = bourse.with(mintedFor("ann"));
    String since =
        operator
            .patch(members + "/ann", new JsonObject().put("suspended", true))
            .ok()
            .getString("suspended_at");
    assertEquals(
        since,
        operator
            .patch(members + "/ann", new JsonObject().put("suspended", true))
            .ok()
            .getString("suspended_at"));
    token.get("/api/whoami").ok();
    assertEquals(
        null,
        operator
            .patch(members + "/ann", new JsonObject().put("suspended", false))
            .ok()
            .getValue("suspended_at"));
    assertEquals("operator:first member_update username=ann suspended=false", lastRow());
  }

  @Test
  void removingAMemberRevokesWhatTheyMintedAndNothingElse() {
    added("ann");
    added("bob");
    List<String> theirs = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      theirs.add(mintedFor("ann"));
    }
    String bobs = mintedFor("bob");

    JsonObject removed = operator.delete(members + "/ann").ok();

    assertEquals(
        theirs.stream().map(token -> token.split("_", -1)[1]).sorted().toList(),
        ClusterClient.texts(removed.getJsonArray("revoked_tokens")).stream().sorted().toList());
    for (String token : theirs) {
      bourse.with(token).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    }
    bourse.with(bobs).get("/api/whoami").ok();
    assertEquals("operator:first member_remove username=ann", lastRow());
    List<AuditRow> revokes =
        bourse.audit(orgId, false).stream()
            .filter(row -> row.action().equals("vm_token_revoke"))
            .toList();
    assertEquals(3, revokes.size());
    for (AuditRow revoke : revokes) {
      assertEquals("system:offboard", revoke.actor());
      assertEquals(orgId, revoke.subject());
      assertTrue(revoke.detail().matches("token_id=\\w{12} name=of ann"), revoke.detail());
    }
    operator.delete(members + "/ann").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aTokenRevokedBeforeIsNotRevokedAgainWithItsMember() {
    added("ann");
    String tokenId = mintedFor("ann").split("_", -1)[1];
    operator.delete("/api/operator/orgs/" + orgId + "/tokens/" + tokenId).ok();
    assertEquals(0, operator.delete(members + "/ann").ok().getJsonArray("revoked_tokens").size());
    assertEquals(
        1,
        bourse.audit(orgId, false).stream()
            .filter(row -> row.action().equals("vm_token_revoke"))
            .count());
  }

  @Test
  void aRuleIsAddedOnceListedAndRemoved() {
    HttpAnswer answer = operator.post(rules, rule("domain", "X.Example"));
    assertEquals(201, answer.status());
    JsonObject rule = answer.json();
    assertEquals("x.example", rule.getString("value"));
    assertEquals("operator:first", rule.getString("created_by"));
    String said = " rule_id=" + rule.getString("rule_id") + " kind=domain value=x.example";
    assertEquals("operator:first rule_add" + said, lastRow());
    assertEquals("exists", reason(operator.post(rules, rule("domain", "x.example"))));
    assertEquals(
        List.of(rule), ClusterClient.objects(operator.get(rules).ok().getJsonArray("rules")));
    String path = rules + "/" + rule.getString("rule_id");
    operator.delete(path).ok();
    assertEquals("operator:first rule_remove" + said, lastRow());
    operator.delete(path).refused(ErrorCode.NOT_FOUND);
    assertEquals(0, operator.get(rules).ok().getJsonArray("rules").size());
  }

  @Test
  void aBadRuleIsRefusedNamingTheFieldAndItsValue() {
    for (String domain :
        List.of("localhost", "a b.example", "-x.example", "x_y.example", "@x.ex")) {
      String refusal = detail(operator.post(rules, rule("domain", domain)));
      assertTrue(refusal.startsWith("value: " + domain), refusal);
    }
    assertTrue(detail(operator.post(rules, rule("email", "x.example"))).startsWith("value: x.ex"));
    assertTrue(detail(operator.post(rules, rule("phone", "123"))).startsWith("kind: phone"));
    assertTrue(detail(operator.post(invitations, invitation("erin"))).startsWith("email: erin"));
  }

  @Test
  void anInvitationIsARuleWhoseLinkWorksThreeDays() {
    HttpAnswer answer = operator.post(invitations, invitation("Erin@X.example"));
    assertEquals(201, answer.status());
    JsonObject invited = answer.json();
    assertEquals("email", invited.getString("kind"));
    assertEquals("erin@x.example", invited.getString("value"));
    assertEquals(
        3 * 24 * 3600,
        invited.getInstant("link_expires_at").getEpochSecond()
            - invited.getInstant("created_at").getEpochSecond());
    assertEquals("operator:first member_invite email=erin@x.example", lastRow());
    assertEquals(
        List.of(invited), ClusterClient.objects(operator.get(rules).ok().getJsonArray("rules")));
  }

  @Test
  void invitingAgainRenewsTheLink() {
    JsonObject first = operator.post(invitations, invitation("erin@x.example")).json();
    RunningBourse.until(
        "the clock moves on",
        () -> System.currentTimeMillis() > first.getInstant("created_at").toEpochMilli());
    JsonObject again = operator.post(invitations, invitation("ERIN@x.example")).ok();
    assertEquals(first.getString("rule_id"), again.getString("rule_id"));
    assertEquals(first.getString("created_at"), again.getString("created_at"));
    assertTrue(again.getInstant("link_expires_at").isAfter(first.getInstant("link_expires_at")));
  }

  @Test
  void aMembersAddressIsNotInvited() {
    added("ann");
    assertEquals("exists", reason(operator.post(invitations, invitation("ANN@x.example"))));
  }
}
