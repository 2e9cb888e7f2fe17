package dev.bourse.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The limits of applications that a member admitted under limits. */
@ReplayedOnPostgres
class ApplicationLimitsApiTest extends OAuthApiFixture {
  private static ClusterClient train;
  private static ClusterClient batch;

  @BeforeAll
  static void addKey() {
    ApiClient orgwide = bourse.as("acme", "orgwide");
    train = new ClusterClient(orgwide, "acme", "acme-train");
    batch = new ClusterClient(orgwide, "acme", "acme-batch");
    train.addKey();
  }

  @BeforeEach
  void release() {
    train.declare(0, 2);
    batch.declare(0, 2);
  }

  /** The tokens of a consent with these limits. */
  private static JsonObject tokens(
      OAuthApplication app, String scope, String resource, Map<String, String> limits) {
    Map<String, String> request = app.request();
    request.put("scope", scope);
    request.put("resource", resource);
    Map<String, String> form = new LinkedHashMap<>(request);
    form.put("csrf", OAuthApplication.csrf(app.ask(request, alice)));
    form.put("decision", "allow");
    form.putAll(limits);
    HttpResponse<String> answer = app.browse("POST", "/oauth/authorize", form, alice);
    assertEquals(200, answer.statusCode(), answer.body());
    String code = OAuthApplication.parameters(answer).get("code");
    return app.token(app.redemption(String.valueOf(code))).ok();
  }

  private static JsonObject tokens(OAuthApplication app, Map<String, String> limits) {
    return tokens(
        app, "capacity:read capacity:write bid:read bid:write org:read", app.baseUrl(), limits);
  }

  private static ApiClient bearer(JsonObject tokens) {
    return bourse.with(tokens.getString("access_token"));
  }

  private static ClusterClient as(JsonObject tokens, ClusterClient cluster) {
    return new ClusterClient(bearer(tokens), "acme", cluster.cluster());
  }

  private static JsonObject refused(HttpAnswer answer, String limit) {
    JsonObject refusal = answer.refused(ErrorCode.TOKEN_LIMIT);
    assertEquals(limit, refusal.getString("limit"), refusal.encode());
    return refusal;
  }

  @Test
  void theConsentPageOffersLimitsToWhatMaySpend() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    assertFalse(app.ask(request, alice).body().contains("max_hourly_usd"));
    request.put("scope", "capacity:write");
    assertTrue(app.ask(request, alice).body().contains("name=\"max_hourly_usd\""));
  }

  @Test
  void anApplicationIsHeldToWhatItsMemberAllowed() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = tokens(app, Map.of("max_gpus", "8", "max_lease", ""));
    ClusterClient agent = as(tokens, train);
    refused(agent.put(agent.order(2, 2)), "max_gpus");
    agent.declare(1, 2);
    JsonObject limits = agent.caller().get("/api/whoami").ok().getJsonObject("limits");
    assertEquals(8, limits.getInteger("max_gpus"));
    assertNull(limits.getValue("max_lease"));
    // A refreshed token has the same limits.
    ClusterClient refreshed = as(app.token(app.refreshing(tokens)).ok(), train);
    refused(refreshed.put(refreshed.order(2, 2)), "max_gpus");
    // The member has none.
    assertNull(bourse.asMember("acme", "alice").get("/api/whoami").ok().getValue("limits"));
    assertTrue(
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("oauth_grant"))
            .anyMatch(row -> row.detail().contains(" limits=[max_gpus=8]")));
  }

  @Test
  void whatIsNoLimitIsRefusedAndNothingIsAllowed() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> form = app.request();
    form.put("scope", "capacity:write");
    form.put("csrf", OAuthApplication.csrf(app.ask(form, alice)));
    form.put("max_lease", "soon");
    form.put("decision", "allow");
    HttpResponse<String> answer = app.browse("POST", "/oauth/authorize", form, alice);
    assertEquals(422, answer.statusCode());
    assertTrue(answer.body().contains("soon is not acceptable"), answer.body());
  }

  @Test
  void theHourlyLimitCountsWhatTheApplicationDeclaredAndNotItsMember() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    ClusterClient onTrain = as(tokens(app, Map.of("max_hourly_usd", "24")), train);
    // The member in person can exceed them.
    ApiClient member = bourse.asMember("acme", "alice");
    new ClusterClient(member, "acme", "acme-batch").declare(2, 4);
    onTrain.declare(1, 3);
    ClusterClient onBatch = new ClusterClient(onTrain.caller(), "acme", "acme-batch");
    refused(onBatch.put(onBatch.order(3, 1)), "max_hourly_usd");
    onTrain.declare(1, 1);
    // The reduction counts as the application's, and against its limits from then on.
    onBatch.declare(1, 2);
    refused(onTrain.put(onTrain.order(1, 1.01)), "max_hourly_usd");
  }

  @Test
  void narrowerOnTheAccountPageIsInForceAtOnceForTokensThatAreOut() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = tokens(app, Map.of());
    ClusterClient agent = as(tokens, train);
    agent.declare(2, 2);
    HttpResponse<String> account = app.browse("GET", "/account", null, alice);
    assertTrue(account.body().contains("/account/applications/narrow"));
    String grant = claims(tokens).getString("gid");
    assertEquals(303, narrow(app, grant, Map.of("max_gpus", "8")).statusCode());
    refused(agent.put(agent.order(3, 2)), "max_gpus");
    agent.declare(1, 2);
    assertTrue(
        app.browse("GET", "/account", null, alice).body().contains("at most 8 GPUs a cluster"));
    HttpResponse<String> wider = narrow(app, grant, Map.of("max_gpus", "16"));
    assertEquals(403, wider.statusCode());
    assertTrue(wider.body().contains("consent"), wider.body());
    assertEquals(303, narrow(app, grant, Map.of("max_lease", "1h")).statusCode());
    refused(agent.put(agent.order(1, 3)), "max_lease");
    JsonArray listed =
        bourse
            .asMember("acme", "alice")
            .get("/api/console/applications")
            .ok()
            .getJsonArray("applications");
    JsonObject limits =
        ClusterClient.objects(listed).stream()
            .filter(one -> one.getString("application_id").equals(grant))
            .findFirst()
            .orElseThrow()
            .getJsonObject("limits");
    assertEquals("1h", limits.getString("max_lease"));
    assertEquals(
        2,
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("oauth_narrow"))
            .filter(row -> row.detail().contains(grant))
            .count());
  }

  private static HttpResponse<String> narrow(
      OAuthApplication app, String grant, Map<String, String> limits) {
    Map<String, String> form = new LinkedHashMap<>(limits);
    form.put("csrf", OAuthApplication.csrf(app.browse("GET", "/account", null, alice)));
    form.put("application", grant);
    return app.browse("POST", "/account/applications/narrow", form, alice);
  }

  @Test
  void nobodyNarrowsWhatAnotherMemberAllowed() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = tokens(app, Map.of());
    Map<String, String> form = new LinkedHashMap<>();
    form.put("csrf", OAuthApplication.csrf(app.browse("GET", "/account", null, bob)));
    form.put("application", claims(tokens).getString("gid"));
    form.put("max_gpus", "0");
    app.browse("POST", "/account/applications/narrow", form, bob);
    as(tokens, train).declare(1, 2);
  }

  @Test
  void aModelSeesTheLimitsBesideTheWorstCaseAndCannotConfirmBeyondThem() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens =
        tokens(
            app,
            "capacity:read capacity:write bid:read bid:write",
            app.baseUrl() + McpClient.ENDPOINT,
            Map.of("max_gpus", "16", "max_price_per_gpu_hour", "3"));
    McpClient model = new McpClient(bearer(tokens));
    JsonObject shownLimits = model.ok("whoami", new JsonObject()).getJsonObject("limits");
    assertEquals(16, shownLimits.getInteger("max_gpus"));
    JsonObject arguments = McpClient.bid("acme-train", 16, 3);
    JsonObject preview = model.ok("bid_write", arguments);
    assertEquals("at most $48.00/h until it is changed", preview.getString("worst_case"));
    assertEquals(shownLimits, preview.getJsonObject("limits"));
    model.refused("bid_write", McpClient.bid("acme-train", 24, 3), ErrorCode.TOKEN_LIMIT);
    // Narrowed between the preview and the confirm.
    narrow(app, claims(tokens).getString("gid"), Map.of("max_gpus", "8"));
    JsonObject refusal =
        model.refused("bid_write", McpClient.confirm(arguments, preview), ErrorCode.TOKEN_LIMIT);
    assertEquals("max_gpus", refusal.getString("limit"));
    assertEquals(0, train.state().getJsonObject("declared").getInteger("max_gpus"));
    JsonObject less = McpClient.bid("acme-train", 8, 3);
    model.ok("bid_write", McpClient.confirm(less, model.ok("bid_write", less)));
    JsonObject k8s =
        new JsonObject()
            .put("kind", "k8s")
            .put("phase", "preview")
            .put("cluster", "acme-k8s")
            .put("max_gpus", 16)
            .put("max_price_per_gpu_hour", 2);
    model.refused("bid_write", k8s, ErrorCode.TOKEN_LIMIT);
    assertEquals(
        "at most $16.00/h until it is changed",
        model.ok("bid_write", k8s.put("max_gpus", 8)).getString("worst_case"));
  }

  private record Write(String method, String path, @Nullable JsonObject body) {
    HttpAnswer by(ApiClient caller) {
      return body == null
          ? caller.send(method, path, null)
          : caller.send(method, path, body.encode(), "Content-Type", "application/json");
    }
  }

  private static Write write(String method, String path, Object... fields) {
    JsonObject body = fields.length == 0 ? null : new JsonObject();
    for (int i = 0; body != null && i < fields.length; i += 2) {
      body.put((String) fields[i], fields[i + 1]);
    }
    return new Write(method, path, body);
  }

  /** Each would permit actions beyond the limits. */
  private static final List<Write> OUTSIDE =
      List.of(
          write("POST", "/api/console/join-rules", "kind", "domain", "value", "attacker.example"),
          write("POST", "/api/console/invitations", "email", "eve@attacker.example"),
          write("DELETE", "/api/console/members/bob"),
          write(
              "POST",
              "/api/console/tokens",
              "name",
              "child",
              "scopes",
              new JsonArray().add("capacity:read")),
          write("PATCH", "/api/console/tokens/t", "name", "x"),
          write("DELETE", "/api/console/tokens/t"),
          write(
              "POST",
              "/api/console/webhooks",
              "url",
              "https://attacker.example/x",
              "kinds",
              new JsonArray().add("notice")),
          write("PUT", "/api/console/trail-stream", "destination", "https://attacker.example/x"),
          write("DELETE", "/api/console/trail-stream"),
          write("PUT", "/api/console/settings", "ssh_keys_need_write", false),
          write("PUT", "/api/console/spend-limit", "limit_usd", 1_000_000),
          write("DELETE", "/api/console/spend-limit"),
          write("DELETE", "/api/console/clusters/acme-batch"),
          write("DELETE", "/api/console/applications"),
          write("POST", "/api/console/sign-out-everywhere"));

  @Test
  void anApplicationUnderLimitsChangesNothingThatReachesBeyondThem() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens =
        tokens(
            app, "capacity:read capacity:write org:write", app.baseUrl(), Map.of("max_gpus", "0"));
    for (Write write : OUTSIDE) {
      JsonObject refusal = refused(write.by(bearer(tokens)), "max_gpus");
      String detail = refusal.getString("detail");
      assertTrue(detail.contains("max_gpus=0") && detail.contains("console"), detail);
    }
    refused(as(tokens, train).addKey(), "max_gpus");
    refused(bearer(tokens).delete("/api/vm/orgs/acme/ssh-keys/" + keyId()), "max_gpus");
  }

  private static String keyId() {
    return train
        .caller()
        .get("/api/vm/orgs/acme/ssh-keys")
        .ok()
        .getJsonArray("keys")
        .getJsonObject(0)
        .getString("key_id");
  }

  @Test
  void limitsThatComeLaterHoldForTokensThatAreOut() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = tokens(app, "capacity:write org:write", app.baseUrl(), Map.of());
    JsonObject rule = new JsonObject().put("kind", "domain").put("value", "later.example");
    assertEquals(201, bearer(tokens).post("/api/console/join-rules", rule).status());
    narrow(app, claims(tokens).getString("gid"), Map.of("max_lease", "1h"));
    refused(
        bearer(tokens).post("/api/console/join-rules", rule.put("value", "more.example")),
        "max_lease");
  }

  @Test
  void aModelUnderLimitsRegistersAndRemovesNoKey() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens =
        tokens(
            app,
            "capacity:read capacity:write",
            app.baseUrl() + McpClient.ENDPOINT,
            Map.of("max_gpus", "0"));
    McpClient model = new McpClient(bearer(tokens));
    JsonObject add =
        new JsonObject()
            .put("action", "add")
            .put("phase", "preview")
            .put("name", "eve")
            .put("public_key", RunningBourse.keyLine());
    assertEquals(
        "max_gpus", model.refused("ssh_key_write", add, ErrorCode.TOKEN_LIMIT).getString("limit"));
    JsonObject remove =
        new JsonObject().put("action", "remove").put("phase", "preview").put("key_id", keyId());
    model.refused("ssh_key_write", remove, ErrorCode.TOKEN_LIMIT);
  }

  @Test
  void aProgramWithoutABrowserIsHeldToLimitsToo() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    String code = begun.getString("user_code");
    HttpResponse<String> page = program.browse("GET", "/device?user_code=" + code, null, alice);
    HttpResponse<String> confirm = decide(program, page, code, "");
    assertTrue(confirm.body().contains("name=\"max_gpus\""), confirm.body());
    Map<String, String> form = new LinkedHashMap<>();
    form.put("csrf", OAuthApplication.csrf(confirm));
    form.put("user_code", code);
    form.put("decision", "allow");
    form.put("max_gpus", "8");
    assertEquals(200, program.browse("POST", "/device", form, alice).statusCode());
    ClusterClient agent = as(program.token(polling(program, begun)).ok(), train);
    refused(agent.put(agent.order(2, 2)), "max_gpus");
  }
}
