package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The tools for the market and the bill return the HTTP API's answers. */
@ReplayedOnPostgres
class McpReadsApiTest extends McpApiFixture {
  private static final String POOL = "demo-h100";

  /** A member of an organization without usage, so that its figures are constant. */
  private static McpClient carol;

  private static ApiClient openlab;

  @BeforeAll
  static void startReading() {
    carol = McpClient.of(bourse, "openlab", "carol");
    openlab = bourse.as("openlab", "orgwide");
  }

  private static JsonObject action(String action) {
    return new JsonObject().put("action", action);
  }

  private static JsonObject ofPool(String action) {
    return action(action).put("pool", POOL);
  }

  @Test
  void marketReadIsTheMarketOfTheHttpInterface() {
    same("/api/market/feed", action("feed"));
    same("/api/market/depth?pool=" + POOL, ofPool("depth"));
    same("/api/market/history?pool=" + POOL, ofPool("history"));
    same(
        "/api/market/quote?gpus=16&price=2.5&pool=" + POOL,
        ofPool("quote").put("gpus", 16).put("price", 2.5));
    same("/api/market/history?hours=2&pool=" + POOL, ofPool("history").put("hours", 2));
  }

  private static void same(String path, JsonObject arguments) {
    RunningBourse.until(
        "both read the same between two ticks",
        () -> token.get(path).ok().equals(alice.ok("market_read", arguments)));
  }

  @Test
  void marketReadNeedsNoScope() {
    McpClient anybody = McpClient.of(bourse, "acme", "alice", EnumSet.of(Scope.CHECKPOINTS_READ));
    assertEquals(1, anybody.ok("market_read", action("feed")).getJsonArray("pools").size());
  }

  @Test
  void marketReadRefusesAsTheHttpInterface() {
    for (String what : List.of("depth", "history")) {
      assertEquals(
          token.get("/api/market/" + what + "?pool=nowhere").refused(ErrorCode.NOT_FOUND),
          alice.refused("market_read", action(what).put("pool", "nowhere"), ErrorCode.NOT_FOUND));
      assertEquals(
          "pool is missing; action " + what + " needs it",
          alice.refused("market_read", action(what), ErrorCode.BAD_REQUEST).getString("detail"));
    }
    alice.refused("market_read", ofPool("history").put("hours", 0.1), ErrorCode.BAD_REQUEST);
    alice.refused("market_read", action("dance"), ErrorCode.BAD_REQUEST);
    assertEquals(
        "pool does not go with action feed, which takes nothing else",
        alice.refused("market_read", ofPool("feed"), ErrorCode.BAD_REQUEST).getString("detail"));
    assertEquals(
        "hours does not go with action depth, which takes pool",
        alice
            .refused("market_read", ofPool("depth").put("hours", 2), ErrorCode.BAD_REQUEST)
            .getString("detail"));
  }

  @Test
  void billingReadIsTheBillOfTheHttpInterface() {
    JsonObject balance = openlab.get("/api/billing/balance").ok();
    JsonObject told = carol.ok("billing_read", action("balance"));
    // The times of the answer and of the last posting differ.
    for (String moving : List.of("as_of", "posted_through")) {
      assertTrue(told.containsKey(moving), moving);
      balance.remove(moving);
      told.remove(moving);
    }
    assertEquals(balance, told);
    assertEquals(openlab.get("/api/billing/usage").ok(), carol.ok("billing_read", action("usage")));
    JsonObject statements = openlab.get("/api/billing/statements").ok();
    assertEquals(statements, carol.ok("billing_read", action("statements")));
    String month = statements.getJsonArray("statements").getJsonObject(0).getString("month");
    assertEquals(
        openlab.get("/api/billing/statements/" + month).ok(),
        carol.ok("billing_read", action("statement").put("month", month)));
    assertEquals(
        openlab.get("/api/billing/ledger").ok(), carol.ok("billing_read", action("ledger")));
    assertEquals(
        openlab.get("/api/billing/ledger?before=1&limit=1").ok(),
        carol.ok("billing_read", action("ledger").put("before", 1).put("limit", 1)));
  }

  @Test
  void usageIsReadByClusterAndTime() {
    ClusterClient client =
        new ClusterClient(bourse.as("globex", "orgwide"), "globex", "globex-main");
    client.hold(1, 5);
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    JsonObject mine = action("usage").put("cluster", "globex-main").put("limit", 1);
    RunningBourse.until(
        "it is used", () -> !dave.ok("billing_read", mine).getJsonArray("lines").isEmpty());
    JsonObject line = dave.ok("billing_read", mine).getJsonArray("lines").getJsonObject(0);
    assertEquals("globex-main", line.getString("cluster"));
    assertTrue(line.getLong("gpu_millis") > 0);
    for (JsonObject none :
        List.of(
            mine.copy().put("to", "2020-01-01T00:00:00Z"),
            mine.copy().put("from", "2100-01-01T00:00:00Z"))) {
      assertEquals(new JsonArray(), dave.ok("billing_read", none).getJsonArray("lines"));
    }
    assertEquals(
        new JsonArray(),
        carol.ok("billing_read", action("usage")).getJsonArray("lines"),
        "nobody else's");
  }

  @Test
  void billingReadRefusesAsTheHttpInterface() {
    refusedAlike("usage?cluster=globex-main", action("usage").put("cluster", "globex-main"));
    refusedAlike("usage?from=yesterday", action("usage").put("from", "yesterday"));
    refusedAlike("usage?to=tomorrow", action("usage").put("to", "tomorrow"));
    refusedAlike("usage?after=nonsense", action("usage").put("after", "nonsense"));
    refusedAlike("statements/2020-01", action("statement").put("month", "2020-01"));
    refusedAlike("statements/never", action("statement").put("month", "never"));
    assertEquals(
        "month is missing; action statement needs it",
        alice
            .refused("billing_read", action("statement"), ErrorCode.BAD_REQUEST)
            .getString("detail"));
    assertEquals(
        "month does not go with action ledger, which takes before, limit",
        alice
            .refused(
                "billing_read", action("ledger").put("month", "2026-11"), ErrorCode.BAD_REQUEST)
            .getString("detail"));
    alice.refused("billing_read", action("ledger").put("limit", 501), ErrorCode.BAD_REQUEST);
    alice.refused("billing_read", action("pay"), ErrorCode.BAD_REQUEST);
  }

  private static void refusedAlike(String path, JsonObject arguments) {
    HttpAnswer refused = token.get("/api/billing/" + path);
    JsonObject result = alice.call("billing_read", arguments);
    assertEquals(true, result.getBoolean("isError"), result.encode());
    assertEquals(refused.json(), result.getJsonObject("structuredContent"));
  }

  @Test
  void billingReadNeedsItsScope() {
    lacks(Scope.BILLING_READ, "billing_read", action("balance"));
  }

  @Test
  void gridApiAnswersBillingAndKubernetesReadsInJson() {
    for (String path :
        List.of(
            "/api/billing/usage",
            "/api/billing/statements",
            "/api/billing/ledger?limit=1",
            "/api/k8s/clusters")) {
      assertEquals(
          openlab.get(path).ok(), carol.ok("grid_api", read(path)).getJsonObject("answer"), path);
    }
    for (String path : List.of("/api/k8s/metrics", "/api/k8s/clusters?limit=1")) {
      assertEquals(
          token.get(path).ok(), alice.ok("grid_api", read(path)).getJsonObject("answer"), path);
    }
    assertEquals(
        "acme-k8s",
        alice
            .ok("grid_api", read("/api/k8s/clusters/acme-k8s"))
            .getJsonObject("answer")
            .getString("cluster"));
  }

  @Test
  void gridApiDemandsTheScopesOfApiTokens() {
    lacks(Scope.BILLING_READ, "grid_api", read("/api/billing/balance"));
    lacks(Scope.BILLING_READ, "grid_api", read("/api/billing/statements"));
    lacks(Scope.BID_READ, "grid_api", read("/api/k8s/bid"));
    lacks(Scope.BID_READ, "grid_api", read("/api/k8s/clusters/acme-k8s"));
    lacks(Scope.CAPACITY_READ, "grid_api", read("/api/vm/capacity?cluster=acme-train"));
  }

  @Test
  void gridApiDemandsTheScopeThatHttpDemandsOfMembersThoughApiTokensNeedNone() {
    lacks(Scope.ORG_READ, "grid_api", read("/api/org/members"));
    for (String path : List.of("/api/vm/history?cluster=acme-train", "/api/market/feed")) {
      lacks(Scope.CAPACITY_READ, "grid_api", read(path));
      bourse
          .with(
              McpClient.token(
                  bourse, "acme", "alice", EnumSet.complementOf(EnumSet.of(Scope.CAPACITY_READ))))
          .get(path)
          .refused(ErrorCode.FORBIDDEN);
    }
  }

  @Test
  void theToolsOfCheckpointsNeedTheirScopes() {
    lacks(Scope.CHECKPOINTS_READ, "checkpoint_read", action("list"));
    JsonObject deletion =
        new JsonObject().put("action", "delete").put("phase", "preview").put("id", "ckp_none");
    HttpAnswer refused =
        McpClient.of(
                bourse, "acme", "alice", EnumSet.complementOf(EnumSet.of(Scope.CHECKPOINTS_WRITE)))
            .send(
                "tools/call",
                new JsonObject().put("name", "checkpoint_write").put("arguments", deletion));
    assertTrue(
        refused
            .refused(ErrorCode.FORBIDDEN)
            .getString("detail")
            .contains(Scope.CHECKPOINTS_WRITE.label()));
    McpClient.of(bourse, "acme", "alice", EnumSet.of(Scope.CHECKPOINTS_WRITE))
        .refused("checkpoint_write", deletion, ErrorCode.GONE);
  }

  /** A token with the scope alone reaches the tool. */
  private static void lacks(Scope scope, String tool, JsonObject arguments) {
    McpClient.needing(bourse, scope, tool, arguments).ok(tool, arguments);
  }

  @Test
  void gridApiStreamsAndPreviewsNothing() {
    for (String path : List.of("/api/vm/events", "/api/vm/capacity/preview")) {
      alice.refused("grid_api", read(path), ErrorCode.NOT_FOUND);
    }
  }
}
