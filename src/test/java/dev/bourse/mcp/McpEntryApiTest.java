package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.ENDPOINT;
import static dev.bourse.testing.McpClient.STATELESS;
import static dev.bourse.testing.McpClient.error;
import static dev.bourse.testing.McpClient.meta;
import static dev.bourse.testing.McpClient.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.MemberToken;
import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Access to the endpoint: authentication, origin, rate and message size. */
@ReplayedOnPostgres
class McpEntryApiTest extends McpApiFixture {
  private static String challenge(HttpAnswer answer) {
    return answer.header("www-authenticate");
  }

  private static String metadata() {
    return "resource_metadata=\""
        + bourse.service().baseUrl()
        + "/.well-known/oauth-protected-resource/mcp\"";
  }

  @Test
  void onlyMembersTokensForThisEndpointGetIn() {
    String rest =
        bourse
            .service()
            .memberTokens()
            .issue(
                new MemberToken(
                    "acme",
                    "alice",
                    bourse.service().baseUrl(),
                    EnumSet.allOf(Scope.class),
                    "client-1",
                    "",
                    600_000));
    for (@Nullable String token :
        new @Nullable String[] {
          null, rest, bourse.secret("acme", "orgwide"), bourse.operatorToken(), "x"
        }) {
      HttpAnswer answer = new McpClient(bourse.with(token)).send("tools/list", NONE);
      answer.refused(ErrorCode.UNAUTHORIZED);
      assertEquals(
          "Bearer " + (token == null ? "" : "error=\"invalid_token\", ") + metadata(),
          challenge(answer));
    }
    assertEquals(
        "this is an organization's API token, which only the HTTP interface accepts; members sign in"
            + " here with OAuth, which the header WWW-Authenticate describes",
        new McpClient(bourse.with(bourse.secret("acme", "orgwide")))
            .send("tools/list", NONE)
            .refused(ErrorCode.UNAUTHORIZED)
            .getString("detail"));
    bourse.with(null).send("DELETE", ENDPOINT, null, SESSION, "x").refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aMissingScopeIsNamed() {
    McpClient reader = McpClient.of(bourse, "acme", "alice", EnumSet.of(Scope.CAPACITY_READ));
    reader.ok("capacity_read", new JsonObject().put("cluster", "acme-train"));
    HttpAnswer answer =
        reader.send(
            "tools/call",
            new JsonObject()
                .put("name", "bid_write")
                .put("arguments", McpClient.bid("acme-train", 8, 2)));
    answer.refused(ErrorCode.FORBIDDEN);
    assertEquals(
        "Bearer error=\"insufficient_scope\", scope=\"capacity:read capacity:write\", "
            + metadata(),
        challenge(answer));
    for (String[] call :
        new String[][] {
          {"/api/org/tokens", "capacity:read org:read"},
          {"/api/billing/balance", "billing:read capacity:read"}
        }) {
      HttpAnswer refused =
          reader.send(
              "tools/call",
              new JsonObject().put("name", "grid_api").put("arguments", McpClient.read(call[0])));
      refused.refused(ErrorCode.FORBIDDEN);
      assertTrue(challenge(refused).contains("scope=\"" + call[1] + "\""), challenge(refused));
    }
    reader.ok("grid_api", McpClient.read("/api/vm/capacity?cluster=acme-train"));
    // As over HTTP, although an API token needs no scope for it.
    reader.ok("grid_api", McpClient.read("/api/vm/activity"));
    McpClient.of(bourse, "acme", "alice", EnumSet.of(Scope.ORG_READ))
        .send(
            "tools/call",
            new JsonObject()
                .put("name", "grid_api")
                .put("arguments", McpClient.read("/api/vm/activity")))
        .refused(ErrorCode.FORBIDDEN);
  }

  /** Every tool's scope, with a call that needs it: a token with all other scopes is refused. */
  @Test
  void everyToolRefusesATokenWithoutItsScope() {
    JsonObject item = new JsonObject().put("action", "list");
    Map<Scope, Map.Entry<String, JsonObject>> calls =
        Map.of(
            Scope.CAPACITY_READ,
            Map.entry("capacity_read", new JsonObject().put("cluster", "acme-train")),
            Scope.BID_READ,
            Map.entry(
                "capacity_read", new JsonObject().put("kind", "k8s").put("cluster", "acme-k8s")),
            Scope.CAPACITY_WRITE,
            Map.entry("bid_write", McpClient.bid("acme-train", 8, 2)),
            Scope.BID_WRITE,
            Map.entry("bid_write", McpClient.bid("acme-k8s", 8, 2).put("kind", "k8s")),
            Scope.BILLING_READ,
            Map.entry("billing_read", new JsonObject().put("action", "balance")),
            Scope.CHECKPOINTS_READ,
            Map.entry("checkpoint_read", item),
            Scope.CHECKPOINTS_WRITE,
            Map.entry(
                "checkpoint_write",
                new JsonObject().put("phase", "preview").put("action", "delete").put("id", "x")),
            Scope.ORG_READ,
            Map.entry("grid_api", McpClient.read("/api/org/tokens")));
    calls.forEach(
        (scope, call) -> {
          McpClient without =
              McpClient.of(bourse, "acme", "alice", EnumSet.complementOf(EnumSet.of(scope)));
          HttpAnswer answer =
              without.send(
                  "tools/call",
                  new JsonObject().put("name", call.getKey()).put("arguments", call.getValue()));
          answer.refused(ErrorCode.FORBIDDEN);
          assertTrue(challenge(answer).contains("error=\"insufficient_scope\""), scope.label());
          assertTrue(challenge(answer).contains(scope.label()), challenge(answer));
        });
  }

  @Test
  void pagesOfOtherSitesAreTurnedAway() {
    JsonObject discover = request("server/discover", new JsonObject().put("_meta", meta()));
    for (String origin :
        List.of("http://evil.example", "null", "https://localhost.evil.example", "::")) {
      alice
          .post(discover, VERSION, STATELESS, "Mcp-Method", "server/discover", "Origin", origin)
          .refused(ErrorCode.FORBIDDEN);
    }
    for (String origin : List.of(bourse.service().baseUrl(), "http://127.0.0.1:6274")) {
      alice
          .post(discover, VERSION, STATELESS, "Mcp-Method", "server/discover", "Origin", origin)
          .ok();
    }
  }

  @Test
  void whatIsNoMessageIsSaidToBeNone() {
    for (String body : List.of("", "{", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2}", "\u0000")) {
      HttpAnswer answer =
          alice.caller().send("POST", ENDPOINT, body, "Content-Type", "application/json");
      error(400, -32700, answer);
      assertNull(answer.json().getValue("id"));
    }
    for (String body :
        List.of(
            "[]",
            "1",
            "{}",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")) {
      error(
          400,
          -32600,
          alice.caller().send("POST", ENDPOINT, body, "Content-Type", "application/json"));
    }
  }

  @Test
  void aMessageIsJsonAndBounded() {
    String big = "\"" + "x".repeat(1_048_576) + "\"";
    alice
        .caller()
        .send("POST", ENDPOINT, big, "Content-Type", "application/json")
        .refused(ErrorCode.TOO_LARGE);
    alice
        .caller()
        .send("POST", ENDPOINT, "{}", "Content-Type", "text/plain")
        .refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    alice
        .caller()
        .send("POST", ENDPOINT, "{}", "Accept", "text/event-stream")
        .refused(ErrorCode.NOT_ACCEPTABLE);
    String deep = "[".repeat(40) + "]".repeat(40);
    error(
        400,
        -32700,
        alice.caller().send("POST", ENDPOINT, deep, "Content-Type", "application/json"));
  }

  @Test
  void aMembersRequestsAreCountedWithThoseOfTheHttpInterface() {
    try (RunningBourse counted = RunningBourse.demo("limits.requests-per-minute=3")) {
      McpClient dave = McpClient.of(counted, "globex", "dave");
      HttpAnswer first = dave.send("tools/list", NONE);
      assertTrue(
          first.header("ratelimit").startsWith("\"default\";r=2"), first.header("ratelimit"));
      counted.asMember("globex", "dave").get("/api/checkpoints").ok();
      dave.send("tools/list", NONE).ok();
      dave.send("tools/list", NONE).refused(ErrorCode.RATE_LIMITED);
    }
  }
}
