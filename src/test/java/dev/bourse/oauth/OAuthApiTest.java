package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How applications get tokens to act for members, and how they lose them. */
@EachEngine
class OAuthApiTest extends OAuthApiFixture {
  private static final String FILES = "/api/checkpoints";

  private static JsonObject claims(JsonObject tokens) {
    String part = tokens.getString("access_token").split("\\.", -1)[1];
    return new JsonObject(new String(Base64.getUrlDecoder().decode(part), StandardCharsets.UTF_8));
  }

  @Test
  void applicationsFindTheirWayByTheMetadata() {
    ApiClient anybody = bourse.with(null);
    String base = bourse.service().baseUrl();
    HttpAnswer resource = anybody.get("/.well-known/oauth-protected-resource/mcp");
    assertEquals(base + "/mcp", resource.ok().getString("resource"));
    assertEquals("*", resource.header("access-control-allow-origin"));
    assertEquals(new JsonArray().add(base), resource.ok().getJsonArray("authorization_servers"));
    assertEquals(
        base, anybody.get("/.well-known/oauth-protected-resource").ok().getString("resource"));
    JsonObject server = anybody.get("/.well-known/oauth-authorization-server").ok();
    assertEquals(base, server.getString("issuer"));
    assertEquals(base + "/oauth/token", server.getString("token_endpoint"));
    assertEquals(
        new JsonArray().add("S256"), server.getJsonArray("code_challenge_methods_supported"));
    assertEquals(true, server.getBoolean("authorization_response_iss_parameter_supported"));
    assertEquals(1, anybody.get("/oauth/jwks.json").ok().getJsonArray("keys").size());
    assertEquals(204, anybody.send("OPTIONS", "/oauth/token", null).status());
    assertEquals(
        204, anybody.send("OPTIONS", "/oauth/token", null, "Accept", "text/plain").status());
  }

  @Test
  void aRefusedRequestTellsWhereTokensComeFrom() {
    assertEquals(
        "Bearer resource_metadata=\""
            + bourse.service().baseUrl()
            + "/.well-known/oauth-protected-resource\"",
        bourse.with(null).get(FILES).header("www-authenticate"));
  }

  @Test
  void aMemberWhoConsentsLetsTheApplicationActForThem() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    HttpResponse<String> page = app.ask(app.request(), alice);
    assertEquals(200, page.statusCode(), page.body());
    assertTrue(page.body().contains("Test application"), page.body());
    assertTrue(page.body().contains("app.example"), page.body());
    HttpResponse<String> redirect = app.decide(app.request(), alice, "allow");
    Map<String, String> answer = OAuthApplication.parameters(redirect);
    assertEquals("st&te=1", answer.get("state"));
    assertEquals(app.baseUrl(), answer.get("iss"));

    HttpAnswer answered = app.token(app.redemption(answer.getOrDefault("code", "")));
    JsonObject tokens = answered.ok();
    assertEquals("no-store", answered.header("cache-control"));
    assertEquals("capacity:read checkpoints:read", tokens.getString("scope"));
    assertEquals(600, tokens.getInteger("expires_in"));
    assertTrue(tokens.getString("refresh_token").startsWith("brr_"));
    files(tokens).ok();
    assertEquals("alice", claims(tokens).getString("sub"));
    assertEquals(app.clientId(), claims(tokens).getString("client_id"));
    AuditRow row = last(bourse.audit("acme", false));
    assertEquals("member:alice oauth_grant", row.actor() + " " + row.action());
    assertTrue(row.detail().contains(app.clientId()), row.detail());
  }

  private static AuditRow last(List<AuditRow> rows) {
    return rows.get(rows.size() - 1);
  }

  @Test
  void aTokenMayNoMoreThanTheMemberAllowed() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    request.put("scope", "capacity:read");
    JsonObject tokens = app.token(app.redemption(app.code(request, alice))).ok();

    assertEquals("capacity:read", claims(tokens).getString("scope"));
    request.put("scope", "teapot");
    assertEquals(
        "invalid_scope", OAuthApplication.parameters(app.ask(request, alice)).get("error"));
    request.put("scope", "offline_access bid:read");
    assertEquals(200, app.ask(request, alice).statusCode());
  }

  @Test
  void aRefreshThatAsksForAScopeThatWasNotGrantedIsRefusedAndUsesNothingUp() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(alice);
    for (String scope :
        List.of(
            "capacity:write",
            "capacity:read capacity:write",
            "capacity:read checkpoints:read org:read",
            "capacity:read teapot")) {
      Map<String, String> wider = app.refreshing(tokens);
      wider.put("scope", scope);
      refused(app.token(wider), "invalid_scope");
    }
    Map<String, String> less = app.refreshing(tokens);
    // Clients repeat what they asked permission for, and that they are to have a refresh token.
    less.put("scope", "checkpoints:read offline_access");
    JsonObject narrowed = app.token(less).ok();
    assertEquals("checkpoints:read", narrowed.getString("scope"));
    // The permission itself is as wide as before.
    JsonObject whole = app.token(app.refreshing(narrowed)).ok();
    assertEquals("capacity:read checkpoints:read", whole.getString("scope"));
  }

  @Test
  void answersGoToSchemesOfApplicationsOwnToo() {
    List<String> redirectUris =
        List.of(
            "cursor://anysphere.cursor-retrieval/oauth/user-bourse/callback",
            "vscode://vscode.github-authentication/did-authenticate",
            "com.example.app:/cb",
            "com.example.app:cb");
    OAuthApplication app = OAuthApplication.registered(bourse, redirectUris.toArray(String[]::new));
    for (String redirectUri : redirectUris) {
      Map<String, String> request = app.request();
      request.put("redirect_uri", redirectUri);
      HttpResponse<String> page = app.ask(request, alice);
      String scheme = redirectUri.substring(0, redirectUri.indexOf(':'));
      assertTrue(page.body().contains("the program that opens " + scheme + ": links"));
      HttpResponse<String> answer = app.decide(request, alice, "allow");
      assertEquals(200, answer.statusCode());
      String to = OAuthApplication.onward(answer);
      assertTrue(to.startsWith(redirectUri + "?code="), to);
      // Whoever's browser does not go there by itself has a link.
      assertTrue(answer.body().contains("href=\"" + to.replace("&", "&amp;") + '"'), answer.body());
      String code = to.substring(to.indexOf("code=") + 5, to.indexOf('&'));
      Map<String, String> redemption = app.redemption(code);
      redemption.put("redirect_uri", redirectUri);
      app.token(redemption).ok();
    }
  }

  @Test
  void aTokenIsForTheResourceAskedFor() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    request.put("resource", app.baseUrl() + "/mcp");
    Map<String, String> redemption = app.redemption(app.code(request, alice));
    redemption.put("resource", app.baseUrl());
    refused(app.token(redemption), "invalid_target");
    redemption.put("resource", app.baseUrl() + "/mcp");
    JsonObject tokens = app.token(redemption).ok();
    assertEquals(app.baseUrl() + "/mcp", claims(tokens).getString("aud"));
    files(tokens).ok();
    assertEquals(app.baseUrl(), claims(app.tokens(alice)).getString("aud"));
    for (String other : List.of("https://elsewhere.example", app.baseUrl() + "/mcp/x", "x")) {
      request.put("resource", other);
      assertEquals(
          "invalid_target", OAuthApplication.parameters(app.ask(request, alice)).get("error"));
    }
  }

  @Test
  void whoSaysNoGivesNothing() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    HttpResponse<String> answer = app.decide(app.request(), alice, "deny");
    Map<String, String> parameters = OAuthApplication.parameters(answer);

    assertEquals("access_denied", parameters.get("error"));
    assertEquals("st&te=1", parameters.get("state"));
    assertEquals(app.baseUrl(), parameters.get("iss"));
    assertNull(parameters.get("code"));
  }

  @Test
  void whoIsNotSignedInSignsInFirstAndComesBack() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    HttpResponse<String> answer = app.ask(app.request(), "");
    assertEquals(303, answer.statusCode());
    String location = answer.headers().firstValue("location").orElseThrow();
    assertTrue(location.startsWith("/sign-in?return_to=%2Foauth%2Fauthorize%3F"), location);
    Map<String, String> form = new LinkedHashMap<>(app.request());
    form.put("decision", "allow");
    assertEquals(303, app.browse("POST", "/oauth/authorize", form, "").statusCode());
  }

  @Test
  void aRefreshTokenIsGoodOnceAndGivesTheNext() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject first = app.tokens(alice);
    JsonObject second = app.token(app.refreshing(first)).ok();
    assertNotEquals(first.getString("refresh_token"), second.getString("refresh_token"));
    JsonObject third = app.token(app.refreshing(second)).ok();

    files(third).ok();
    files(first).ok();
    assertEquals(claims(first).getString("gid"), claims(third).getString("gid"));
  }

  @Test
  void aPermissionTakesOneRowOfRefreshTokensHoweverOftenItIsRefreshed() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject first = app.tokens(alice);
    JsonObject newest = first;
    for (int i = 0; i < 5; i++) {
      newest = app.token(app.refreshing(newest)).ok();
    }
    List<Long> rows =
        RunningBourse.await(
            bourse
                .service()
                .database()
                .read(
                    "SELECT COUNT(*) AS counted FROM oauth_refresh WHERE grant_id = ?",
                    List.of(claims(first).getString("gid")),
                    row -> row.integer("counted")));
    assertEquals(List.of(1L), rows);
    // The oldest is known all the same.
    refused(app.token(app.refreshing(first)), "invalid_grant");
    files(newest).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void anApplicationThatDidNotRegisterForRefreshTokensGetsNone() {
    JsonObject metadata =
        new JsonObject().put("redirect_uris", new JsonArray().add(OAuthApplication.REDIRECT));
    JsonObject registered = bourse.with(null).post("/oauth/register", metadata).json();
    OAuthApplication app = OAuthApplication.named(bourse, registered.getString("client_id"));

    assertFalse(app.tokens(alice).containsKey("refresh_token"));
    Map<String, String> form = app.refreshing(new JsonObject().put("refresh_token", "brr_x"));
    refused(app.token(form), "unauthorized_client");
  }

  @Test
  void aTokenGivenBackEndsEveryTokenOfItsGrant() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    for (String kind : List.of("access_token", "refresh_token")) {
      JsonObject tokens = app.tokens(alice);
      files(tokens).ok();
      Map<String, String> form = new LinkedHashMap<>();
      form.put("token", tokens.getString(kind));
      form.put("client_id", app.clientId());
      assertEquals(200, app.post("/oauth/revoke", form).status());

      files(tokens).refused(ErrorCode.UNAUTHORIZED);
      refused(app.token(app.refreshing(tokens)), "invalid_grant");
      assertEquals(200, app.post("/oauth/revoke", form).status());
      assertEquals("oauth_revoke", last(bourse.audit("acme", false)).action());
    }
  }

  @Test
  void anotherApplicationCannotGiveATokenBackOrUseIt() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    OAuthApplication other = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(alice);
    Map<String, String> form = new LinkedHashMap<>();
    form.put("token", tokens.getString("refresh_token"));
    form.put("client_id", other.clientId());
    assertEquals(200, app.post("/oauth/revoke", form).status());
    refused(other.token(other.refreshing(tokens)), "invalid_grant");
    Map<String, String> stolen = app.redemption(app.code(app.request(), alice));
    stolen.put("client_id", other.clientId());
    refused(other.token(stolen), "invalid_grant");

    files(tokens).ok();
    app.token(app.refreshing(tokens)).ok();
  }

  @Test
  void theAccountPageTakesAPermissionBackAtOnce() {
    String dave = OAuthApplication.signIn(bourse, "globex", "dave");
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(dave);
    HttpResponse<String> account = app.browse("GET", "/account", null, dave);
    assertTrue(account.body().contains("Test application"), account.body());
    String grantId = claims(tokens).getString("gid");
    Map<String, String> form =
        Map.of("csrf", OAuthApplication.csrf(account), "application", grantId);
    // A member of another organization cannot.
    HttpResponse<String> others = app.browse("GET", "/account", null, alice);
    app.browse(
        "POST",
        "/account/applications/revoke",
        Map.of("csrf", OAuthApplication.csrf(others), "application", grantId),
        alice);
    files(tokens).ok();

    assertEquals(303, app.browse("POST", "/account/applications/revoke", form, dave).statusCode());
    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(tokens)), "invalid_grant");
  }

  @Test
  void whoSignsOutEverywhereTakesAllPermissionsBackAtOnce() {
    String carol = OAuthApplication.signIn(bourse, "openlab", "carol");
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(carol);
    HttpResponse<String> account = app.browse("GET", "/account", null, carol);
    app.browse(
        "POST", "/sign-out/everywhere", Map.of("csrf", OAuthApplication.csrf(account)), carol);

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(tokens)), "invalid_grant");
  }

  @Test
  void aSuspensionEndsWhatApplicationsAndProgramsWereAllowedForGood() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    String bob = OAuthApplication.signIn(bourse, "acme", "bob");
    JsonObject tokens = app.tokens(bob);
    String waiting = app.code(app.request(), bob);
    JsonObject begun = begin(program);
    HttpResponse<String> page = program.browse("GET", "/device", null, bob);
    assertEquals(
        200, decide(program, page, begun.getString("user_code"), "allow", bob).statusCode());
    Runnable refusing =
        () -> {
          files(tokens).refused(ErrorCode.UNAUTHORIZED);
          refused(app.token(app.refreshing(tokens)), "invalid_grant");
          refused(app.token(app.redemption(waiting)), "invalid_grant");
          refused(program.token(polling(program, begun)), "invalid_grant");
          assertEquals(303, app.ask(app.request(), bob).statusCode());
        };
    String path = "/api/operator/orgs/acme/members/bob";
    bourse.operator().patch(path, new JsonObject().put("suspended", true)).ok();
    refusing.run();
    bourse.operator().patch(path, new JsonObject().put("suspended", false)).ok();
    refusing.run();

    String anew = OAuthApplication.signIn(bourse, "acme", "bob");
    assertFalse(
        app.browse("GET", "/account", null, anew).body().contains("Test application"),
        "still connected");
    // Tokens tell their time in seconds: one of the second of the suspension is refused with it.
    RunningBourse.until("allowed anew", () -> files(app.tokens(anew)).status() == 200);
  }

  @Test
  void aConsentAtTheMomentOfASuspensionIsNotInForceAfterIt() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    String path = "/api/operator/orgs/acme/members/bob";
    for (int i = 0; i < 8; i++) {
      String bob = OAuthApplication.signIn(bourse, "acme", "bob");
      Map<String, String> form = new LinkedHashMap<>(app.request());
      form.put("csrf", OAuthApplication.csrf(app.ask(app.request(), bob)));
      form.put("decision", "allow");
      CompletableFuture<HttpAnswer> suspension =
          CompletableFuture.supplyAsync(
              () -> bourse.operator().patch(path, new JsonObject().put("suspended", true)));
      HttpResponse<String> answer = app.browse("POST", "/oauth/authorize", form, bob);
      suspension.join().ok();
      bourse.operator().patch(path, new JsonObject().put("suspended", false)).ok();

      assertTrue(List.of(200, 303, 403).contains(answer.statusCode()), answer.body());
      if (answer.statusCode() == 200) {
        String code = OAuthApplication.parameters(answer).getOrDefault("code", "");
        refused(app.token(app.redemption(code)), "invalid_grant");
      }
    }
  }

  @Test
  void aProgramWithoutABrowserIsLetInByItsCode() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    Map<String, String> polling = polling(program, begun);
    refused(program.token(polling), "authorization_pending");
    refused(program.token(polling), "slow_down");
    String code = begun.getString("user_code");
    assertTrue(code.matches("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}"), code);

    HttpResponse<String> page = program.browse("GET", "/device?user_code=" + code, null, alice);
    assertTrue(page.body().contains(code), page.body());
    // In small letters and without the hyphen, as people type.
    String typed = code.toLowerCase(java.util.Locale.ROOT).replace("-", " ");
    HttpResponse<String> confirm = decide(program, page, typed, "");
    assertTrue(confirm.body().contains("Bourse command line"), confirm.body());
    assertEquals(200, decide(program, confirm, code, "allow").statusCode());
    JsonObject tokens = program.token(polling).ok();
    files(tokens).ok();
    program.token(program.refreshing(tokens)).ok();
  }

  @Test
  void aDeviceCodeIsGoodOnceAndItsSecondUseRevokesWhatItGave() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    HttpResponse<String> page = program.browse("GET", "/device", null, alice);
    decide(program, page, begun.getString("user_code"), "allow");
    JsonObject tokens = program.token(polling(program, begun)).ok();
    refused(program.token(polling(program, begun)), "invalid_grant");

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aProgramWhoseMemberSaysNoIsTold() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    HttpResponse<String> page = program.browse("GET", "/device", null, alice);
    decide(program, page, begun.getString("user_code"), "deny");

    refused(program.token(polling(program, begun)), "access_denied");
    assertEquals(422, decide(program, page, begun.getString("user_code"), "allow").statusCode());
  }

  private static JsonObject begin(OAuthApplication program) {
    return program
        .post("/oauth/device_authorization", Map.of("client_id", program.clientId()))
        .ok();
  }

  private static Map<String, String> polling(OAuthApplication program, JsonObject begun) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
    form.put("client_id", program.clientId());
    form.put("device_code", begun.getString("device_code"));
    return form;
  }

  private static HttpResponse<String> decide(
      OAuthApplication program, HttpResponse<String> page, String code, String decision) {
    return decide(program, page, code, decision, alice);
  }

  private static HttpResponse<String> decide(
      OAuthApplication program,
      HttpResponse<String> page,
      String code,
      String decision,
      String cookie) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("csrf", OAuthApplication.csrf(page));
    form.put("user_code", code);
    if (!decision.isEmpty()) {
      form.put("decision", decision);
    }
    return program.browse("POST", "/device", form, cookie);
  }
}
