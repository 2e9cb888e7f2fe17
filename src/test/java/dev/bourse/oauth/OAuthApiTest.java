package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Applications get tokens to act for members. */
@ReplayedOnPostgres
class OAuthApiTest extends OAuthApiFixture {
  private static final String FILES = "/api/checkpoints";

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

  /** A holder of org:write can admit others. */
  @Test
  void nobodyWhoNamesNoScopeMayWriteTheOrganization() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    request.remove("scope");
    String scope = app.token(app.redemption(app.code(request, alice))).ok().getString("scope");
    assertTrue(scope.contains("capacity:write"), scope);
    assertFalse(scope.contains("org:write"), scope);
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    String code = begun.getString("user_code");
    decide(program, program.browse("GET", "/device", null, alice), code, "allow");
    JsonObject tokens = program.token(polling(program, begun)).ok();
    assertEquals(scope, tokens.getString("scope"));
    JsonObject registered =
        bourse
            .with(null)
            .post(
                "/oauth/register",
                new JsonObject()
                    .put("redirect_uris", new JsonArray().add(OAuthApplication.REDIRECT)))
            .json();
    assertFalse(registered.getString("scope").contains("org:write"), registered.encode());
    // Clients request all scopes that a resource supports.
    for (String path : List.of("", "/mcp")) {
      JsonObject resource =
          bourse.with(null).get("/.well-known/oauth-protected-resource" + path).ok();
      assertFalse(resource.getJsonArray("scopes_supported").contains("org:write"));
    }
  }

  @Test
  void toLetAnApplicationWriteTheOrganizationTakesARecentSignIn() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    request.put("scope", "org:write");
    String browser = OAuthApplication.signIn(bourse, "acme", "alice");
    String csrf = OAuthApplication.csrf(app.ask(request, browser));
    assertEquals(200, app.decide(request, browser, "allow").statusCode());
    OAuthApplication.age(bourse, browser, 600_000);
    assertSignInAgain(app.ask(request, browser), "/oauth/authorize?");
    Map<String, String> form = new LinkedHashMap<>(request);
    form.put("csrf", csrf);
    form.put("decision", "allow");
    assertSignInAgain(app.browse("POST", "/oauth/authorize", form, browser), "/oauth/authorize?");
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    String code =
        program
            .post(
                "/oauth/device_authorization",
                Map.of("client_id", "bourse-cli", "scope", "org:write"))
            .ok()
            .getString("user_code");
    HttpResponse<String> device = program.browse("GET", "/device", null, browser);
    for (String decision : List.of("", "allow")) {
      assertSignInAgain(
          decide(program, device, code, decision, browser), "/device?user_code=" + code);
    }
    // Smaller scopes need no recent sign-in, and neither does a refusal.
    request.put("scope", "org:read capacity:write");
    assertEquals(200, app.ask(request, browser).statusCode());
    form.put("decision", "deny");
    assertEquals(
        "access_denied",
        OAuthApplication.parameters(app.browse("POST", "/oauth/authorize", form, browser))
            .get("error"));
  }

  private static void assertSignInAgain(HttpResponse<String> answer, String returnTo) {
    assertEquals(303, answer.statusCode(), answer.body());
    String to = answer.headers().firstValue("location").orElse("");
    Map<String, String> parameters = OAuthApplication.parameters(URI.create(to));
    assertEquals("1", parameters.get("again"), to);
    assertTrue(parameters.getOrDefault("return_to", "").startsWith(returnTo), to);
    HttpResponse<String> page =
        OAuthApplication.named(bourse, "bourse-cli").browse("GET", to, null, alice);
    assertEquals(200, page.statusCode(), page.body());
    assertTrue(page.body().contains("Sign in again"), page.body());
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
      // Browsers that do not redirect by themselves show a link.
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
}
