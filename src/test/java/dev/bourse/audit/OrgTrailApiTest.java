package dev.bourse.audit;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An organization's trails over HTTP. Each test has an organization of its own. */
@EachEngine
class OrgTrailApiTest extends OrgApiFixture {
  private static Statement row(
      String org, String actor, String action, String subject, String detail) {
    return AuditStore.insert(
        new AuditRow(System.currentTimeMillis(), org, actor, action, subject, detail));
  }

  /** This many rows of an organization's console. */
  private static void rows(String org, int count) {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      statements.add(row(org, "member:amy", "member_update", org, "n=" + i));
    }
    await(bourse.database().commit(statements));
  }

  private static List<JsonObject> entries(JsonObject page) {
    return page.getJsonArray("entries").stream().map(JsonObject.class::cast).toList();
  }

  private static List<String> texts(JsonObject page, String field) {
    return entries(page).stream().map(entry -> entry.getString(field)).toList();
  }

  // Rule 1

  @Test
  void rule1ATokenOutsideTheOrganizationIsAnsweredAsAnUnknownOne() {
    TestMarket market = market();
    ApiClient red = market.red("bare");
    String foreign = id(market.blue("orgwide"));
    String unknown = "x".repeat(foreign.length());
    for (String query : List.of("", "?reads=1", "?limit=0&before=1")) {
      HttpAnswer one = red.get("/api/org/tokens/" + foreign + "/activity" + query);
      HttpAnswer other = red.get("/api/org/tokens/" + unknown + "/activity" + query);
      assertEquals(
          other.refused(ErrorCode.NOT_FOUND).encode(),
          one.refused(ErrorCode.NOT_FOUND).encode().replace(foreign, unknown));
    }
    // A faulty parameter is reported before any look-up.
    assertEquals(
        red.get("/api/org/tokens/" + unknown + "/activity?limit=x").refused(ErrorCode.BAD_REQUEST),
        red.get("/api/org/tokens/" + foreign + "/activity?limit=x").refused(ErrorCode.BAD_REQUEST));
    for (String id : List.of("%27%3B--", "..%00", "a%2Fb", "Self")) {
      assertNotEquals(200, red.get("/api/org/tokens/" + id + "/activity").status());
    }
    assertNotEquals(200, red.delete("/api/org/tokens/" + foreign).status());
    market.blue("orgwide").get("/api/whoami").ok();
  }

  @Test
  void anEntryOfAnotherOrganizationAsBeforeIsANumberLikeAnyOther() {
    TestMarket market = market();
    rows(market.red(), 1);
    rows(market.blue(), 1);
    rows(market.red(), 1);
    long foreign = entries(market.blue("bare").get("/api/org/activity").ok()).get(0).getLong("id");
    JsonObject page = market.red("bare").get("/api/org/activity?before=" + foreign).ok();
    assertEquals(List.of("n=0"), texts(page, "detail"));
    assertFalse(page.getBoolean("more"));
  }

  // Rule 2

  @Test
  void rule2BadPagingParametersAreRefusedByNameAndValue() {
    TestMarket market = market();
    ApiClient red = market.red("bare");
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
    TestMarket market = market();
    rows(market.red(), 520);
    ApiClient red = market.red("bare");
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

  private static List<JsonObject> pageThrough(ApiClient caller, String path) {
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
    TestMarket market = market();
    rows(market.red(), 10);
    ApiClient red = market.red("bare");
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
    TestMarket market = market();
    ClusterClient client = market.redA();
    ApiClient red = market.red("orgwide");
    red.get("/api/vm/orgs/" + market.red() + "/ssh-keys").ok();
    client.declare(0, 2.5);
    client.state();
    red.get("/api/org/members").ok();
    red.get("/api/org/tokens").ok();
    red.get("/api/whoami").ok();
    for (String path : List.of("/api/org/activity", "/api/org/tokens/self/activity")) {
      until(
          "all reads are stored: the keys', and two of the capacity, as declaring reads it first",
          () -> entries(red.get(path + "?reads=1").ok()).size() == 1 + 3);
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
      assertEquals(client.cluster(), put.getString("subject"));
      assertEquals("max_gpus=0 max_price_per_gpu_hour=2.50 version=1", put.getString("detail"));
      assertTrue(put.getString("ts").endsWith("Z"));
    }
  }

  // Rule 4

  @Test
  void rule4TheOrganizationsTrailHasItsTokensItsMembersAndItselfAndNothingElse() {
    TestMarket market = market();
    String red = market.red();
    commit(
        row(red, "token:t1", "vm_capacity_put", red + "-a", "shown: a token's write"),
        row(red, "operator:ann", "vm_token_mint", red, "shown: about the organization"),
        row(red, "member:amy", "vm_capacity_put", red + "-a", "shown: a member's console write"),
        row(red, "system:offboard", "vm_token_revoke", red, "shown: the platform about it"),
        row(red, "system:market", "vm_capacity_put", red + "-a", "shown: the platform by itself"),
        row(red, "operator:ann", "cluster_update", red + "-a", "hidden: an operator's"),
        row("", "operator:ann", "switches_put", "platform", "hidden: the platform's"),
        row(red, "stranger", "vm_capacity_put", red + "-a", "hidden: by nobody known"),
        row(market.blue(), "token:t1", "vm_capacity_put", market.blue(), "hidden: another's"));
    JsonObject trail = market.red("bare").get("/api/org/activity").ok();
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
        texts(market.blue("bare").get("/api/org/activity").ok(), "detail"));
  }

  @Test
  void aTokensTrailIsWhatItDidInItsOrganizationLiveOrNot() {
    TestMarket market = market();
    String red = market.red();
    String gone = "gone" + red;
    commit(
        token(gone, red, "", 1, 2L),
        row(red, "token:" + gone, "vm_key_add", red, "one"),
        row(red, "member:amy", "vm_token_revoke", red, "token_id=" + gone),
        row(market.blue(), "token:" + gone, "vm_key_add", market.blue(), "cannot be"),
        row(red, "token:" + gone + "x", "vm_key_add", red, "another's"));
    JsonObject trail = market.red("bare").get("/api/org/tokens/" + gone + "/activity").ok();
    assertEquals(List.of("one"), texts(trail, "detail"));
    assertFalse(trail.getBoolean("more"));
  }

  @Test
  void selfIsTheCallingTokenWhateverItsScopesOrBinding() {
    TestMarket market = market();
    for (String name : List.of("orgwide", "bound", "readonly", "bare")) {
      ApiClient caller = market.red(name);
      commit(row(market.red(), caller.actor(), "vm_key_add", market.red(), name));
      JsonObject own = caller.get("/api/org/tokens/self/activity").ok();
      assertEquals(List.of(name), texts(own, "detail"));
      assertEquals(own, caller.get("/api/org/tokens/" + id(caller) + "/activity").ok());
      assertEquals(own, market.red("bare").get("/api/org/tokens/" + id(caller) + "/activity").ok());
    }
  }

  // Rule 5

  @Test
  void rule5ATokenThatRevokedItselfIsUnauthorizedAndItsRowNamesIt() {
    TestMarket market = market();
    ApiClient red = market.red("bound");
    JsonObject answer = red.delete("/api/org/tokens/self").ok();
    assertTrue(answer.getBoolean("ok"));
    assertEquals(id(red), answer.getString("token_id"));
    red.get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    red.delete("/api/org/tokens/self").refused(ErrorCode.UNAUTHORIZED);
    red.get("/api/org/activity").refused(ErrorCode.UNAUTHORIZED);
    ApiClient colleague = market.red("bare");
    JsonObject entry = entries(colleague.get("/api/org/activity").ok()).get(0);
    assertEquals(red.actor(), entry.getString("actor"));
    assertEquals("vm_token_revoke", entry.getString("action"));
    assertEquals(market.red(), entry.getString("subject"));
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
    TestMarket market = market();
    ApiClient red = market.red("readonly");
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
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().equals("vm_token_revoke"))
            .count());
  }

  // Rule 6

  @Test
  void rule6RevokesOfOffboardingAreInTheTrailUnderTheirOwnActor() {
    TestMarket market = market();
    commit(row(market.red(), "system:offboard", "vm_token_revoke", market.red(), "token_id=x"));
    JsonObject entry = entries(market.red("bare").get("/api/org/activity").ok()).get(0);
    assertEquals("system:offboard", entry.getString("actor"));
  }
}
