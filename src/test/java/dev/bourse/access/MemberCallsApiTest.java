package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Calls of members are attributed to the member: in trails, in budgets, and in the data they read.
 */
@ReplayedOnPostgres
class MemberCallsApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** The same member in person and by an application. */
  private static List<ApiClient> alice() {
    return List.of(bourse.inSession("acme", "alice"), bourse.asMember("acme", "alice"));
  }

  @Test
  void whoamiTellsAMemberWhoTheyAre() {
    for (ApiClient alice : alice()) {
      JsonObject told = alice.get("/api/whoami").ok();
      assertEquals("acme", told.getString("org_id"));
      assertEquals("member:alice", told.getString("subject"));
      assertEquals("alice", told.getString("username"));
      assertNull(told.getString("token_id"));
      assertNull(told.getString("cluster"));
      assertTrue(told.getJsonArray("scopes").contains("org:write"));
      assertFalse(told.getJsonArray("clusters").isEmpty());
    }
    assertFalse(bourse.as("acme", "orgwide").get("/api/whoami").ok().containsKey("username"));
  }

  @Test
  void aMembersWritesNameTheMemberAndCountAsTheOrganizationsOwn() {
    for (ApiClient alice : alice()) {
      JsonObject state = alice.get("/api/vm/capacity?cluster=acme-batch").ok();
      JsonObject declared =
          alice
              .put(
                  "/api/vm/capacity",
                  new JsonObject()
                      .put("cluster", "acme-batch")
                      .put("max_gpus", 0)
                      .put("max_price_per_gpu_hour", 2)
                      .put("expected_version", state.getInteger("version")))
              .ok();
      assertEquals("member:alice", declared.getJsonObject("declared").getString("updated_by"));
      JsonObject newest =
          alice
              .get("/api/vm/activity?cluster=acme-batch&who=user")
              .ok()
              .getJsonArray("entries")
              .getJsonObject(0);
      assertEquals("member:alice", newest.getString("actor"));
      assertEquals("user", newest.getString("who"));
      JsonObject entry =
          alice.get("/api/org/activity?limit=1").ok().getJsonArray("entries").getJsonObject(0);
      assertEquals("vm_capacity_put", entry.getString("action"));
      assertEquals("member:alice", entry.getString("actor"));
      assertEquals("acme-batch", entry.getString("subject"));
      JsonObject key =
          alice
              .post(
                  "/api/vm/orgs/acme/ssh-keys",
                  new JsonObject().put("name", "mine").put("public_key", RunningBourse.keyLine()))
              .json();
      assertEquals("member:alice", key.getString("created_by"));
    }
  }

  @Test
  void aMemberHasNoTokenThatSelfCouldNameNorOneToRevoke() {
    for (ApiClient alice : alice()) {
      alice.get("/api/org/tokens/self/activity").refused(ErrorCode.NOT_FOUND);
      alice.delete("/api/org/tokens/self").refused(ErrorCode.UNAUTHORIZED);
    }
  }

  /** One budget over all browsers and applications of a member; other members have their own. */
  @Test
  void aMemberHasOneBudgetOfTheirOwn() {
    RunningBourse narrow = RunningBourse.demo("limits.requests-per-minute=2");
    try {
      narrow.inSession("acme", "bob").get("/api/whoami").ok();
      narrow.asMember("acme", "bob").get("/api/whoami").ok();
      narrow.inSession("acme", "bob").get("/api/whoami").refused(ErrorCode.RATE_LIMITED);
      narrow.inSession("acme", "alice").get("/api/whoami").ok();
      narrow.as("acme", "bare").get("/api/whoami").ok();
    } finally {
      narrow.close();
    }
  }

  @Test
  void aTokenThatMayNotIsToldTheScopeItLacks() {
    ApiClient reader =
        bourse.with(McpClient.token(bourse, "acme", "alice", EnumSet.of(Scope.CAPACITY_READ)));
    HttpAnswer answer = reader.get("/api/org/members");
    assertEquals(
        "the token lacks the scope org:read",
        answer.refused(ErrorCode.FORBIDDEN).getString("detail"));
    assertTrue(
        answer
            .header("www-authenticate")
            .startsWith("Bearer error=\"insufficient_scope\", scope=\"capacity:read org:read\""),
        answer.header("www-authenticate"));
  }
}
