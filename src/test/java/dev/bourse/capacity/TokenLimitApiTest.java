package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Writes by a token with limits, over HTTP. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@ReplayedOnPostgres
class TokenLimitApiTest {
  private static RunningBourse bourse;

  private TestMarket market;
  private String tokens;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(14);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @BeforeEach
  void takeMarket() {
    market = bourse.market();
    market.redA().addKey();
    tokens = "/api/operator/orgs/" + market.red() + "/tokens";
  }

  private static JsonObject limits() {
    return new JsonObject();
  }

  private JsonObject minted(JsonObject limits) {
    JsonObject order =
        new JsonObject()
            .put("name", "agent")
            .put(
                "scopes",
                new JsonArray(List.of("capacity:read", "capacity:write", "bid:read", "bid:write")))
            .put("limits", limits);
    HttpAnswer answer = bourse.operator().post(tokens, order);
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private ApiClient agent(JsonObject limits) {
    return bourse.with(minted(limits).getString("token"));
  }

  private ClusterClient redA(ApiClient caller) {
    return new ClusterClient(caller, market.red(), market.redA().cluster());
  }

  private ClusterClient redB(ApiClient caller) {
    return new ClusterClient(caller, market.red(), market.redB().cluster());
  }

  private static JsonObject refused(HttpAnswer answer, String limit) {
    JsonObject refusal = answer.refused(ErrorCode.TOKEN_LIMIT);
    assertEquals(limit, refusal.getString("limit"), refusal.encode());
    assertNotNull(refusal.getNumber("maximum"), refusal.encode());
    return refusal;
  }

  @Test
  void aDeclarationBeyondMaxGpusIsRefusedAndOneWithinPasses() {
    ClusterClient agent = redA(agent(limits().put("max_gpus", 8)));
    JsonObject refusal = refused(agent.put(agent.order(2, 2)), "max_gpus");
    assertEquals(8.0, refusal.getDouble("maximum"));
    assertEquals(0, agent.version(), "nothing is written");
    agent.declare(1, 2);
  }

  @Test
  void thePreviewTellsTheRefusal() {
    ClusterClient agent = redA(agent(limits().put("max_gpus", 8)));
    JsonObject preview = agent.caller().post("/api/vm/capacity/preview", agent.order(2, 2)).ok();
    assertEquals("token-limit", preview.getJsonObject("would_refuse").getString("error"));
    assertNull(
        agent
            .caller()
            .post("/api/vm/capacity/preview", agent.order(1, 2))
            .ok()
            .getValue("would_refuse"));
  }

  @Test
  void theHourlyLimitIsOverAllClustersTheTokenDeclaredLast() {
    ApiClient caller = agent(limits().put("max_hourly_usd", 40));
    ClusterClient a = redA(caller);
    ClusterClient b = redB(caller);
    a.declare(1, 3);
    JsonObject refusal = refused(b.put(b.order(2, 2)), "max_hourly_usd");
    assertEquals(16.0, refusal.getDouble("maximum"), "40 less 8 GPUs at 3.00");
    b.declare(1, 2);
    // A new declaration replaces the token's own one.
    a.put(a.order(1, 3)).ok();
    // A declaration by another writer no longer counts for the token.
    market.redA().declare(1, 3);
    b.declare(2, 2.5);
    // The token declares it again, beyond the rest of its limit.
    refused(a.put(a.order(1, 4)), "max_hourly_usd");
  }

  @Test
  void ofWritesAtTheSameTimeOnlyWhatIsWithinTheHourlyLimitPasses() {
    ApiClient caller = agent(limits().put("max_hourly_usd", 16));
    List<ClusterClient> clusters = List.of(redA(caller), redB(caller));
    for (int round = 0; round < 8; round++) {
      List<JsonObject> orders = clusters.stream().map(cluster -> cluster.order(1, 2)).toList();
      String k8s = "/api/k8s/bid";
      JsonObject bid =
          new JsonObject()
              .put("limit_price_per_gpu_hour", 2)
              .put("max_gpus", 8)
              .put("expected_version", caller.get(k8s).ok().getLong("version"));
      List<HttpAnswer> answers =
          Stream.of(
                  CompletableFuture.supplyAsync(() -> clusters.get(0).put(orders.get(0))),
                  CompletableFuture.supplyAsync(() -> clusters.get(1).put(orders.get(1))),
                  CompletableFuture.supplyAsync(() -> caller.put(k8s, bid)))
              .toList()
              .stream()
              .map(CompletableFuture::join)
              .toList();
      assertEquals(
          1, answers.stream().filter(answer -> answer.status() == 200).count(), "round " + round);
      answers.stream()
          .filter(answer -> answer.status() != 200)
          .forEach(answer -> refused(answer, "max_hourly_usd"));
      clusters.forEach(cluster -> cluster.declare(0, 2));
      caller
          .put(
              k8s,
              bid.put("max_gpus", 0)
                  .put("expected_version", caller.get(k8s).ok().getLong("version")))
          .ok();
    }
  }

  @Test
  void aKubernetesBidBeyondIsRefused() {
    ApiClient caller = agent(limits().put("max_gpus", 8).put("max_price_per_gpu_hour", 3));
    JsonObject bid =
        new JsonObject()
            .put("limit_price_per_gpu_hour", 2)
            .put("max_gpus", 16)
            .put("expected_version", 0);
    refused(caller.put("/api/k8s/bid", bid), "max_gpus");
    JsonObject dear = bid.copy().put("max_gpus", 8).put("limit_price_per_gpu_hour", 3.5);
    JsonObject refusal = refused(caller.put("/api/k8s/bid", dear), "max_price_per_gpu_hour");
    assertTrue(refusal.getString("detail").contains("limit_price_per_gpu_hour 3.50"));
    caller.put("/api/k8s/bid", dear.put("limit_price_per_gpu_hour", 3)).ok();
  }

  @Test
  void limitsAreToldAndRecorded() {
    JsonObject limits =
        limits()
            .put("max_gpus", 16)
            .put("max_price_per_gpu_hour", 3.5)
            .put("max_hourly_usd", 48.0)
            .put("max_lease", "8h");
    JsonObject token = minted(limits);
    assertEquals(limits, token.getJsonObject("limits"));
    ApiClient caller = bourse.with(token.getString("token"));
    assertEquals(limits, caller.get("/api/whoami").ok().getJsonObject("limits"));
    JsonArray listed = caller.get("/api/org/tokens").ok().getJsonArray("tokens");
    assertEquals(limits, listed.getJsonObject(0).getJsonObject("limits"));
    assertNull(market.red("orgwide").get("/api/whoami").ok().getValue("limits"));
    assertTrue(
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().equals("vm_token_mint"))
            .anyMatch(
                row ->
                    row.detail()
                        .contains(
                            "limits=[max_gpus=16,max_price_per_gpu_hour=3.50,"
                                + "max_hourly_usd=48.00,max_lease=8h]")));
  }

  @Test
  void narrowerIsInForceAtOnceAndWiderIsRefused() {
    JsonObject token = minted(limits().put("max_gpus", 16));
    ClusterClient agent = redA(bourse.with(token.getString("token")));
    agent.declare(1, 2);
    String path = tokens + "/" + token.getString("token_id");
    JsonObject narrower = new JsonObject().put("limits", limits().put("max_gpus", 8));
    JsonObject narrowed = bourse.operator().patch(path, narrower).ok();
    assertEquals(8, narrowed.getJsonObject("limits").getInteger("max_gpus"));
    bourse.operator().patch(path, narrower).ok();
    refused(agent.put(agent.order(2, 2)), "max_gpus");
    JsonObject more = new JsonObject().put("limits", limits().put("max_hourly_usd", 20));
    bourse.operator().patch(path, more).ok();
    refused(agent.put(agent.order(1, 3)), "max_hourly_usd");
    for (JsonObject wider :
        List.of(limits().put("max_gpus", 16), limits().put("max_hourly_usd", 20.01))) {
      JsonObject refusal =
          bourse
              .operator()
              .patch(path, new JsonObject().put("limits", wider))
              .refused(ErrorCode.TOKEN_LIMIT);
      assertTrue(refusal.getString("detail").contains("new token"), refusal.encode());
    }
    bourse
        .operator()
        .patch(path, new JsonObject().put("limits", limits().putNull("max_gpus")))
        .ok();
    assertEquals(
        8, agent.caller().get("/api/whoami").ok().getJsonObject("limits").getInteger("max_gpus"));
    assertEquals(
        2,
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().equals("vm_token_narrow"))
            .count());
    bourse.operator().delete(path).ok();
    bourse.operator().patch(path, narrower).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aMemberMintsAndNarrowsOnTheConsole() {
    ApiClient alice = bourse.operator();
    JsonObject member =
        new JsonObject()
            .put("username", "ann")
            .put("email", "ann@" + market.red() + ".example")
            .put("name", "Ann");
    assertEquals(
        201, alice.post("/api/operator/orgs/" + market.red() + "/members", member).status());
    ApiClient ann = bourse.inSession(market.red(), "ann");
    JsonObject order =
        new JsonObject()
            .put("name", "agent")
            .put("scopes", new JsonArray().add("capacity:read").add("capacity:write"))
            .put("limits", limits().put("max_price_per_gpu_hour", 3));
    HttpAnswer minted = ann.post("/api/console/tokens", order);
    assertEquals(201, minted.status());
    ClusterClient agent = redA(bourse.with(minted.json().getString("token")));
    refused(agent.put(agent.order(1, 3.01)), "max_price_per_gpu_hour");
    String path = "/api/console/tokens/" + minted.json().getString("token_id");
    JsonObject both =
        new JsonObject()
            .put("name", "tighter")
            .put("limits", limits().put("max_price_per_gpu_hour", 2));
    JsonObject narrowed = ann.patch(path, both).ok();
    assertEquals("tighter", narrowed.getString("name"));
    assertEquals(2.0, narrowed.getJsonObject("limits").getDouble("max_price_per_gpu_hour"));
    refused(agent.put(agent.order(1, 2.5)), "max_price_per_gpu_hour");
    agent.declare(1, 2);
    ann.patch(path, new JsonObject().put("limits", limits().put("max_price_per_gpu_hour", 3)))
        .refused(ErrorCode.TOKEN_LIMIT);
    ann.patch(path, new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    for (JsonObject bad :
        List.of(
            limits().put("max_lease", "366d"),
            limits().put("max_lease", "8"),
            limits().put("max_gpus", -1),
            limits().put("max_hourly_usd", 1.001),
            limits().put("max_cpus", 1))) {
      ann.post("/api/console/tokens", order.copy().put("limits", bad))
          .refused(ErrorCode.BAD_REQUEST);
    }
  }
}
