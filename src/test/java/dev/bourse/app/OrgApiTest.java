package dev.bourse.app;

import static dev.bourse.app.RunningBourse.await;
import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * An organization's roster, tokens and trails over HTTP. Each test has an organization of its own.
 */
@EachEngine
class OrgApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(20);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static void commit(Statement... statements) {
    await(bourse.service().database().commit(List.of(statements)));
  }

  private static Statement member(String org, String username, String email) {
    return Statement.of(
        "INSERT INTO member (org_id, username, email, name, created_at) VALUES (?, ?, ?, ?, 1)",
        org,
        username,
        email,
        username + " the member");
  }

  private static Statement rule(String org, String id, String kind, String value, long at) {
    return Statement.of(
        "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by,"
            + " link_expires_at) VALUES (?, ?, ?, ?, ?, 'member:amy', ?)",
        id,
        org,
        kind,
        value,
        at,
        kind.equals("email") ? at + 259_200_000L : null);
  }

  private static Statement row(
      String org, String actor, String action, String subject, String detail) {
    return AuditStore.insert(
        new AuditRow(System.currentTimeMillis(), org, actor, action, subject, detail));
  }

  /** So many rows of an organization's console. */
  private static void rows(String org, int count) {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      statements.add(row(org, "member:amy", "member_update", org, "n=" + i));
    }
    await(bourse.service().database().commit(statements));
  }

  private static List<JsonObject> entries(JsonObject page) {
    return page.getJsonArray("entries").stream().map(JsonObject.class::cast).toList();
  }

  private static List<String> texts(JsonObject page, String field) {
    return entries(page).stream().map(entry -> entry.getString(field)).toList();
  }

  private static String id(Caller caller) {
    return caller.actor().substring("token:".length());
  }

  // Members, join rules, invitations

  /** Two organizations whose trails are empty yet, without the mints of the tokens they have. */
  private static Stage stage() {
    Stage stage = bourse.stage();
    for (String org : List.of(stage.red(), stage.blue())) {
      await(
          bourse
              .service()
              .database()
              .commit(List.of(Statement.of("DELETE FROM audit WHERE org_id = ?", org))));
    }
    return stage;
  }

  @Test
  void membersAreListedWithWhatIsKnownOfThem() {
    Stage stage = stage();
    commit(
        member(stage.red(), "zoe", "zoe@red.example"),
        member(stage.red(), "amy", "amy@red.example"),
        member(stage.blue(), "bob", "bob@blue.example"),
        Statement.of(
            "UPDATE member SET last_login_at = 1000 WHERE org_id = ? AND username = 'amy'",
            stage.red()),
        Statement.of(
            "UPDATE member SET suspended_at = 5 WHERE org_id = ? AND username = 'zoe'",
            stage.red()));
    JsonObject roster = stage.red("bare").get("/api/org/members").ok();
    JsonObject amy =
        new JsonObject()
            .put("username", "amy")
            .put("email", "amy@red.example")
            .put("name", "amy the member")
            .put("is_active", true)
            .put("last_login", "1970-01-01T00:00:01.000Z")
            .put("role", "admin");
    JsonObject zoe =
        new JsonObject()
            .put("username", "zoe")
            .put("email", "zoe@red.example")
            .put("name", "zoe the member")
            .put("is_active", false)
            .putNull("last_login")
            .put("role", "admin");
    assertEquals(new JsonArray().add(amy).add(zoe), roster.getJsonArray("members"));
    assertEquals(new JsonArray(), roster.getJsonArray("rules"));
    assertEquals(new JsonArray(), roster.getJsonArray("invited"));
  }

  @Test
  void anEmailRuleInvitesUntilAMemberCarriesTheAddress() {
    Stage stage = stage();
    String red = stage.red();
    commit(
        member(red, "amy", "Amy@Red.Example"),
        rule(red, "jr_" + red + "1", "domain", "red.example", 10),
        rule(red, "jr_" + red + "2", "email", "amy@red.example", 20),
        rule(red, "jr_" + red + "3", "email", "eve@partner.example", 30),
        rule(stage.blue(), "jr_" + red + "4", "email", "mal@blue.example", 30));
    JsonObject roster = stage.red("bound").get("/api/org/members").ok();
    assertEquals(
        new JsonArray()
            .add(json("jr_" + red + "1", "domain", "red.example"))
            .add(json("jr_" + red + "2", "email", "amy@red.example"))
            .add(json("jr_" + red + "3", "email", "eve@partner.example")),
        roster.getJsonArray("rules"));
    assertEquals(
        new JsonArray()
            .add(
                new JsonObject()
                    .put("id", "jr_" + red + "3")
                    .put("email", "eve@partner.example")
                    .put("invited_at", "1970-01-01T00:00:00.030Z")
                    .put("invited_by", "member:amy")
                    .put("link_expires_at", "1970-01-04T00:00:00.030Z")),
        roster.getJsonArray("invited"));
    commit(member(red, "eve", "EVE@partner.example"));
    assertEquals(
        new JsonArray(), stage.red("bare").get("/api/org/members").ok().getJsonArray("invited"));
  }

  private static JsonObject json(String id, String kind, String value) {
    return new JsonObject().put("id", id).put("kind", kind).put("value", value);
  }

  // Tokens

  @Test
  void tokensAreListedNewestFirstLiveAndInactive() {
    Stage stage = stage();
    String red = stage.red();
    commit(
        token("old" + red, red, "capacity:read capacity:write", 10, 20L),
        token("new" + red, red, "", System.currentTimeMillis() + 60_000, null),
        token("alien" + red, stage.blue(), "", 10, null));
    List<JsonObject> tokens =
        stage.red("bare").get("/api/org/tokens").ok().getJsonArray("tokens").stream()
            .map(JsonObject.class::cast)
            .toList();
    assertEquals(6, tokens.size());
    assertEquals("new" + red, tokens.get(0).getString("token_id"));
    JsonObject old = tokens.get(5);
    assertEquals(
        new JsonObject()
            .put("token_id", "old" + red)
            .put("name", "a token")
            .put("scopes", new JsonArray().add("capacity:read").add("capacity:write"))
            .put("cluster", red + "-a")
            .put("expires_at", "1970-01-01T00:00:00.090Z")
            .put("created_by", "member:amy")
            .put("created_at", "1970-01-01T00:00:00.010Z")
            .putNull("last_used_at")
            .put("revoked_at", "1970-01-01T00:00:00.020Z"),
        old);
    assertTrue(
        tokens.stream().anyMatch(t -> t.getString("token_id").equals(id(stage.red("orgwide")))));
    assertNull(tokens.get(0).getString("revoked_at"));
  }

  private static Statement token(
      String id, String org, String scopes, long createdAt, @Nullable Long revokedAt) {
    return Statement.of(
        "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes, cluster, created_by,"
            + " created_at, expires_at, revoked_at)"
            + " VALUES (?, ?, 'a token', 'c0ffee', ?, ?, 'member:amy', ?, 90, ?)",
        id,
        org,
        scopes,
        org + "-a",
        createdAt,
        revokedAt);
  }

  @Test
  void secretsAndTheirHashesAreNowhere() {
    Stage stage = stage();
    Caller red = stage.red("bare");
    String secret = bourse.secret(stage.red(), "orgwide").split("_", -1)[2];
    commit(token("hash" + stage.red(), stage.red(), "", 1, null));
    String answer = red.get("/api/org/tokens").ok().encode();
    assertFalse(answer.contains(secret));
    assertFalse(answer.contains("c0ffee"));
    assertFalse(answer.contains("sha256"));
  }

  @Test
  void atMostAThousandTokensAreListedTheNewest() {
    Stage stage = stage();
    long now = System.currentTimeMillis() + 60_000;
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < 1_005; i++) {
      statements.add(token("many-" + i + stage.red(), stage.red(), "", now + i, 1L));
    }
    await(bourse.service().database().commit(statements));
    JsonArray tokens = stage.red("bare").get("/api/org/tokens").ok().getJsonArray("tokens");
    assertEquals(1_000, tokens.size());
    assertEquals("many-1004" + stage.red(), tokens.getJsonObject(0).getString("token_id"));
  }

  // Rule 1

  @Test
  void rule1ATokenOutsideTheOrganizationIsAnsweredAsAnUnknownOne() {
    Stage stage = stage();
    Caller red = stage.red("bare");
    String foreign = id(stage.blue("orgwide"));
    String unknown = "x".repeat(foreign.length());
    for (String query : List.of("", "?reads=1", "?limit=0&before=1")) {
      HttpAnswer one = red.get("/api/org/tokens/" + foreign + "/activity" + query);
      HttpAnswer other = red.get("/api/org/tokens/" + unknown + "/activity" + query);
      assertEquals(
          other.refused(ErrorCode.NOT_FOUND).encode(),
          one.refused(ErrorCode.NOT_FOUND).encode().replace(foreign, unknown));
    }
    // A faulty parameter is told before anything is looked up.
    assertEquals(
        red.get("/api/org/tokens/" + unknown + "/activity?limit=x").refused(ErrorCode.BAD_REQUEST),
        red.get("/api/org/tokens/" + foreign + "/activity?limit=x").refused(ErrorCode.BAD_REQUEST));
    for (String id : List.of("%27%3B--", "..%00", "a%2Fb", "Self")) {
      assertNotEquals(200, red.get("/api/org/tokens/" + id + "/activity").status());
    }
    assertNotEquals(200, red.delete("/api/org/tokens/" + foreign).status());
    stage.blue("orgwide").get("/api/whoami").ok();
  }

  @Test
  void anEntryOfAnotherOrganizationAsBeforeIsANumberLikeAnyOther() {
    Stage stage = stage();
    rows(stage.red(), 1);
    rows(stage.blue(), 1);
    rows(stage.red(), 1);
    long foreign = entries(stage.blue("bare").get("/api/org/activity").ok()).get(0).getLong("id");
    JsonObject page = stage.red("bare").get("/api/org/activity?before=" + foreign).ok();
    assertEquals(List.of("n=0"), texts(page, "detail"));
    assertFalse(page.getBoolean("more"));
  }

  // Rule 2

  @Test
  void rule2BadPagingParametersAreRefusedByNameAndValue() {
    Stage stage = stage();
    Caller red = stage.red("bare");
    for (String path : List.of("/api/org/activity", "/api/org/tokens/self/activity")) {
      for (String bad :
          List.of(
              "limit=ten",
              "limit=",
              "limit=1.0",
              "limit=1e2",
              "limit=0x10",
              "limit=%2B5",
              "limit=%205",
              "limit=null",
              "limit=\u0664",
              "before=x",
              "before=",
              "before=0",
              "before=-1",
              "before=-0",
              "before=1.5",
              "before=-99999999999999999999",
              "reads=2",
              "reads=",
              "reads=true",
              "reads=01",
              "reads=-1",
              "reads=1%20")) {
        String query = bad.replace("\u0664", "%D9%A4");
        String detail =
            red.get(path + "?" + query).refused(ErrorCode.BAD_REQUEST).getString("detail");
        String name = bad.substring(0, bad.indexOf('='));
        assertTrue(detail.startsWith(name + ": "), query + " -> " + detail);
        assertTrue(detail.contains("expected"), detail);
      }
      red.get(path + "?limit=1&limit=2").refused(ErrorCode.BAD_REQUEST);
      red.get(path + "?page=1").refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void aLimitIsClampedToOneAndFiveHundredAndIsAHundredByDefault() {
    Stage stage = stage();
    rows(stage.red(), 520);
    Caller red = stage.red("bare");
    assertEquals(100, entries(red.get("/api/org/activity").ok()).size());
    for (String small : List.of("1", "0", "-7", "-99999999999999999999999")) {
      assertEquals(1, entries(red.get("/api/org/activity?limit=" + small).ok()).size(), small);
    }
    for (String large : List.of("500", "501", "100000", "99999999999999999999999")) {
      assertEquals(500, entries(red.get("/api/org/activity?limit=" + large).ok()).size(), large);
    }
    assertEquals(520, pageThrough(red, "/api/org/activity?limit=500").size(), "the rest by before");
    assertEquals(100, entries(red.get("/api/org/activity?before=9223372036854775807").ok()).size());
    assertEquals(
        100, entries(red.get("/api/org/activity?before=99999999999999999999").ok()).size());
  }

  private static List<JsonObject> pageThrough(Caller caller, String path) {
    List<JsonObject> all = new ArrayList<>();
    JsonObject page = caller.get(path).ok();
    while (true) {
      all.addAll(entries(page));
      if (!page.getBoolean("more")) {
        return all;
      }
      long last = all.get(all.size() - 1).getLong("id");
      page = caller.get(path + (path.contains("?") ? "&" : "?") + "before=" + last).ok();
    }
  }

  @Test
  void pagesNeitherOverlapNorSkipAndMoreIsExact() {
    Stage stage = stage();
    rows(stage.red(), 10);
    Caller red = stage.red("bare");
    for (int limit : new int[] {1, 3, 5, 9, 10, 11}) {
      List<JsonObject> all = pageThrough(red, "/api/org/activity?limit=" + limit);
      assertEquals(
          IntStream.range(0, 10).mapToObj(i -> "n=" + (9 - i)).toList(),
          all.stream().map(entry -> entry.getString("detail")).toList());
    }
    assertFalse(red.get("/api/org/activity?limit=10").ok().getBoolean("more"));
    assertTrue(red.get("/api/org/activity?limit=9").ok().getBoolean("more"));
    assertEquals(List.of(), entries(red.get("/api/org/activity?before=1").ok()));
  }

  // Rule 3

  @Test
  void rule3WritesAreRecordedAndTheTwoReadsShowWithReads1() {
    Stage stage = stage();
    Desk desk = stage.redA();
    Caller red = stage.red("orgwide");
    red.get("/api/vm/orgs/" + stage.red() + "/ssh-keys").ok();
    desk.declare(0, 2.5);
    desk.state();
    red.get("/api/org/members").ok();
    red.get("/api/org/tokens").ok();
    red.get("/api/whoami").ok();
    for (String path : List.of("/api/org/activity", "/api/org/tokens/self/activity")) {
      until(
          "the reads are stored",
          () -> texts(red.get(path + "?reads=1").ok(), "action").contains("vm_capacity_get"));
      assertEquals(List.of("vm_capacity_put"), texts(red.get(path).ok(), "action"));
      assertEquals(List.of("vm_capacity_put"), texts(red.get(path + "?reads=0").ok(), "action"));
      List<JsonObject> all = entries(red.get(path + "?reads=1").ok());
      assertEquals(
          List.of("vm_capacity_get", "vm_capacity_put", "vm_keys_get"),
          all.stream().map(entry -> entry.getString("action")).distinct().sorted().toList());
      List<Long> ids = all.stream().map(entry -> entry.getLong("id")).toList();
      assertEquals(ids.stream().sorted(java.util.Comparator.reverseOrder()).toList(), ids);
      assertEquals(all, pageThrough(red, path + "?reads=1&limit=1"), "page by page");
      JsonObject put =
          all.stream()
              .filter(entry -> entry.getString("action").equals("vm_capacity_put"))
              .findFirst()
              .orElseThrow();
      assertEquals(red.actor(), put.getString("actor"));
      assertEquals(desk.cluster(), put.getString("subject"));
      assertEquals("max_gpus=0 max_price_per_gpu_hour=2.50 version=1", put.getString("detail"));
      assertTrue(put.getString("ts").endsWith("Z"));
    }
  }

  // Rule 4

  @Test
  void rule4TheOrganizationsTrailHasItsTokensItsMembersAndItselfAndNothingElse() {
    Stage stage = stage();
    String red = stage.red();
    commit(
        row(red, "token:t1", "vm_capacity_put", red + "-a", "shown: a token's write"),
        row(red, "operator:ann", "vm_token_mint", red, "shown: about the organization"),
        row(red, "member:amy", "vm_capacity_put", red + "-a", "shown: a member's console write"),
        row(red, "system:offboard", "vm_token_revoke", red, "shown: the platform about it"),
        row(red, "system:market", "vm_capacity_put", red + "-a", "shown: the platform by itself"),
        row(red, "operator:ann", "cluster_update", red + "-a", "hidden: an operator's"),
        row("", "operator:ann", "switches_put", "platform", "hidden: the platform's"),
        row(red, "stranger", "vm_capacity_put", red + "-a", "hidden: by nobody known"),
        row(stage.blue(), "token:t1", "vm_capacity_put", stage.blue(), "hidden: another's"));
    JsonObject trail = stage.red("bare").get("/api/org/activity").ok();
    assertEquals(red, trail.getString("org_id"));
    assertEquals(
        List.of(
            "shown: the platform by itself",
            "shown: the platform about it",
            "shown: a member's console write",
            "shown: about the organization",
            "shown: a token's write"),
        texts(trail, "detail"));
    assertEquals(
        List.of("hidden: another's"),
        texts(stage.blue("bare").get("/api/org/activity").ok(), "detail"));
  }

  @Test
  void aTokensTrailIsWhatItDidInItsOrganizationLiveOrNot() {
    Stage stage = stage();
    String red = stage.red();
    String gone = "gone" + red;
    commit(
        token(gone, red, "", 1, 2L),
        row(red, "token:" + gone, "vm_key_add", red, "one"),
        row(red, "member:amy", "vm_token_revoke", red, "token_id=" + gone),
        row(stage.blue(), "token:" + gone, "vm_key_add", stage.blue(), "cannot be"),
        row(red, "token:" + gone + "x", "vm_key_add", red, "another's"));
    JsonObject trail = stage.red("bare").get("/api/org/tokens/" + gone + "/activity").ok();
    assertEquals(List.of("one"), texts(trail, "detail"));
    assertFalse(trail.getBoolean("more"));
  }

  @Test
  void selfIsTheCallingTokenWhateverItsScopesOrBinding() {
    Stage stage = stage();
    for (String name : List.of("orgwide", "bound", "readonly", "bare")) {
      Caller caller = stage.red(name);
      commit(row(stage.red(), caller.actor(), "vm_key_add", stage.red(), name));
      JsonObject own = caller.get("/api/org/tokens/self/activity").ok();
      assertEquals(List.of(name), texts(own, "detail"));
      assertEquals(own, caller.get("/api/org/tokens/" + id(caller) + "/activity").ok());
      assertEquals(own, stage.red("bare").get("/api/org/tokens/" + id(caller) + "/activity").ok());
    }
  }

  // Rule 5

  @Test
  void rule5ATokenThatRevokedItselfIsUnauthorizedAndItsRowNamesIt() {
    Stage stage = stage();
    Caller red = stage.red("bound");
    JsonObject answer = red.delete("/api/org/tokens/self").ok();
    assertTrue(answer.getBoolean("ok"));
    assertEquals(id(red), answer.getString("token_id"));
    red.get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    red.delete("/api/org/tokens/self").refused(ErrorCode.UNAUTHORIZED);
    red.get("/api/org/activity").refused(ErrorCode.UNAUTHORIZED);
    Caller colleague = stage.red("bare");
    JsonObject entry = entries(colleague.get("/api/org/activity").ok()).get(0);
    assertEquals(red.actor(), entry.getString("actor"));
    assertEquals("vm_token_revoke", entry.getString("action"));
    assertEquals(stage.red(), entry.getString("subject"));
    assertEquals("token_id=" + id(red), entry.getString("detail"));
    assertEquals(answer.getString("revoked_at"), entry.getString("ts"));
    JsonObject listed =
        colleague.get("/api/org/tokens").ok().getJsonArray("tokens").stream()
            .map(JsonObject.class::cast)
            .filter(token -> token.getString("token_id").equals(id(red)))
            .findFirst()
            .orElseThrow();
    assertEquals(answer.getString("revoked_at"), listed.getString("revoked_at"));
    assertEquals(answer.getString("revoked_at"), listed.getString("last_used_at"));
  }

  @Test
  void ofRacingSelfRevokesOneSucceedsAndTheOthersAreUnauthorized() {
    Stage stage = stage();
    Caller red = stage.red("readonly");
    List<CompletableFuture<Integer>> calls =
        IntStream.range(0, 8)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> red.delete("/api/org/tokens/self").status()))
            .toList();
    List<Integer> statuses = calls.stream().map(CompletableFuture::join).sorted().toList();
    assertEquals(List.of(200, 401, 401, 401, 401, 401, 401, 401), statuses);
    assertEquals(
        1,
        bourse.audit(stage.red(), false).stream()
            .filter(row -> row.action().equals("vm_token_revoke"))
            .count());
  }

  // Rule 6

  @Test
  void rule6RevokesOfOffboardingAreInTheTrailUnderTheirOwnActor() {
    Stage stage = stage();
    commit(row(stage.red(), "system:offboard", "vm_token_revoke", stage.red(), "token_id=x"));
    JsonObject entry = entries(stage.red("bare").get("/api/org/activity").ok()).get(0);
    assertEquals("system:offboard", entry.getString("actor"));
  }
}
