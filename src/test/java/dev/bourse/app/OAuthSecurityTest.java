package dev.bourse.app;

import static dev.bourse.testing.OAuthApplication.REDIRECT;
import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What somebody tries who means harm, and what they get. */
@EachEngine
class OAuthSecurityTest extends OAuthApiFixture {
  @Test
  void pkceMissingOrPlainIsRefused() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    for (Map<String, String> faulty :
        List.of(
            Map.of("code_challenge", ""),
            Map.of("code_challenge_method", ""),
            Map.of("code_challenge_method", "plain"),
            Map.of("code_challenge_method", "plain", "code_challenge", app.verifier),
            Map.of("code_challenge", "short"),
            Map.of("code_challenge", app.challenge() + "="))) {
      Map<String, String> request = app.request();
      request.putAll(faulty);
      assertEquals(
          "invalid_request",
          OAuthApplication.parameters(app.ask(request, alice)).get("error"),
          faulty.toString());
      Map<String, String> form = new LinkedHashMap<>(request);
      form.put("csrf", OAuthApplication.csrf(app.ask(app.request(), alice)));
      form.put("decision", "allow");
      HttpResponse<String> decided = app.browse("POST", "/oauth/authorize", form, alice);
      assertEquals("invalid_request", OAuthApplication.parameters(decided).get("error"));
    }
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    redemption.put("code_verifier", "");
    refused(app.token(redemption), "invalid_request");
    redemption.put("code_verifier", app.challenge());
    refused(app.token(redemption), "invalid_grant");
    redemption.put("code_verifier", app.verifier + "x");
    refused(app.token(redemption), "invalid_grant");
  }

  @Test
  void aReplayedCodeIsRefusedAndRevokesWhatItIssued() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    JsonObject tokens = app.token(redemption).ok();
    files(tokens).ok();
    refused(app.token(redemption), "invalid_grant");

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(tokens)), "invalid_grant");
  }

  @Test
  void ofOneCodeUsedTwiceAtOnceNobodyKeepsMoreThanOneAnswerAndNothingLives() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    List<HttpAnswer> answers = app.atOnce(4, redemption);
    List<HttpAnswer> won = answers.stream().filter(answer -> answer.status() == 200).toList();

    assertEquals(1, won.size());
    files(won.get(0).json()).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(won.get(0).json())), "invalid_grant");
  }

  @Test
  void aReusedRefreshTokenRevokesTheFamily() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject stolen = app.tokens(alice);
    JsonObject second = app.token(app.refreshing(stolen)).ok();
    JsonObject third = app.token(app.refreshing(second)).ok();
    JsonObject other = app.tokens(alice);
    refused(app.token(app.refreshing(stolen)), "invalid_grant");

    refused(app.token(app.refreshing(third)), "invalid_grant");
    for (JsonObject tokens : List.of(stolen, second, third)) {
      files(tokens).refused(ErrorCode.UNAUTHORIZED);
    }
    files(other).ok();
  }

  @Test
  void ofOneRefreshTokenUsedTwiceAtOnceOneWinsAndTheFamilyIsRevoked() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(alice);
    List<HttpAnswer> answers = app.atOnce(4, app.refreshing(tokens));
    List<HttpAnswer> won = answers.stream().filter(answer -> answer.status() == 200).toList();

    assertEquals(1, won.size());
    files(won.get(0).json()).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(won.get(0).json())), "invalid_grant");
  }

  @Test
  void whoHasNoTokenOfAFamilyCannotEndItByOneThatIsMadeUp() {
    OAuthApplication app = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun =
        app.post("/oauth/device_authorization", Map.of("client_id", "bourse-cli")).ok();
    String csrf = OAuthApplication.csrf(app.browse("GET", "/device", null, alice));
    assertEquals(200, decide(app, begun.getString("user_code"), csrf, "allow").statusCode());
    Map<String, String> polling =
        Map.of(
            "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
            "client_id", "bourse-cli",
            "device_code", begun.getString("device_code"));
    JsonObject tokens = app.token(polling).ok();
    String refresh = tokens.getString("refresh_token");
    for (String madeUp :
        List.of(
            "brr_",
            "brr_" + "0".repeat(43),
            "brr_" + "0".repeat(86),
            refresh.substring(0, refresh.length() - 1),
            refresh.substring(0, 20) + '!' + refresh.substring(21))) {
      refused(
          app.token(app.refreshing(new JsonObject().put("refresh_token", madeUp))),
          "invalid_grant");
    }
    app.token(app.refreshing(tokens)).ok();
  }

  @Test
  void redirectUriNearMissesGetAPageAndNoRedirect() {
    String loopback = "http://127.0.0.1:7777/back";
    OAuthApplication app =
        OAuthApplication.registered(bourse, REDIRECT, loopback, "app.example:/back");
    for (String near :
        List.of(
            "",
            REDIRECT + "/",
            REDIRECT + "?x=1",
            REDIRECT + "#",
            REDIRECT + "%2f..",
            REDIRECT + "/../evil",
            "https://app.example/callback2",
            "https://app.example/Callback",
            "https://APP.example/callback",
            "http://app.example/callback",
            "https://app.example:443/callback",
            "https://app.example:444/callback",
            "https://app.example./callback",
            "https://app.example.evil.example/callback",
            "https://evil.example/app.example/callback",
            "https://app.example@evil.example/callback",
            "https://evil.example\\@app.example/callback",
            "https://evil.example#@app.example/callback",
            "//app.example/callback",
            "https:app.example/callback",
            " " + REDIRECT,
            REDIRECT + "\n",
            "javascript:alert(1)",
            "http://127.0.0.1:7777/back/",
            "http://127.0.0.1:7777/back?x",
            "http://127.0.0.2:7777/back",
            "http://localhost:7777/back",
            "http://127.0.0.1.evil.example:7777/back",
            "http://127.0.0.1:7777@evil.example/back",
            "http://127.0.0.1:0/back",
            "http://127.0.0.1:65536/back",
            "http://127.0.0.1:x/back",
            "https://127.0.0.1:7777/back",
            "app.example:/back2",
            "App.example:/back")) {
      Map<String, String> request = app.request();
      request.put("redirect_uri", near);
      HttpResponse<String> answer = app.ask(request, alice);
      assertEquals(422, answer.statusCode(), near);
      assertTrue(answer.headers().firstValue("location").isEmpty(), near);
      assertTrue(answer.body().contains("<h1>"), near);
      Map<String, String> form = new LinkedHashMap<>(request);
      form.put("csrf", OAuthApplication.csrf(app.ask(app.request(), alice)));
      form.put("decision", "allow");
      HttpResponse<String> decided = app.browse("POST", "/oauth/authorize", form, alice);
      assertTrue(decided.headers().firstValue("location").isEmpty(), near);
    }
    for (String good :
        List.of(
            REDIRECT,
            "http://127.0.0.1:7777/back",
            "http://127.0.0.1:5/back",
            "http://127.0.0.1/back",
            "app.example:/back")) {
      Map<String, String> request = app.request();
      request.put("redirect_uri", good);
      assertEquals(200, app.ask(request, alice).statusCode(), good);
    }
  }

  @Test
  void aCodeIsRedeemedOnlyWithTheRedirectUriItWasAskedFor() {
    OAuthApplication app = OAuthApplication.registered(bourse, REDIRECT, REDIRECT + "/other");
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    redemption.put("redirect_uri", REDIRECT + "/other");
    refused(app.token(redemption), "invalid_grant");
    redemption.put("redirect_uri", "");
    refused(app.token(redemption), "invalid_request");
  }

  @Test
  void addressesThatRunSomethingOrNameNoHostAreNotRegistered() {
    for (String uri :
        List.of(
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://app.example/callback",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "https://app.example/x#y",
            "https://user@app.example/",
            "https:///x",
            "httpx://x",
            "/relative",
            "",
            "https://app.example/ x",
            "https://app.example/\"x",
            "https://app.example/;\r\nset-cookie:x")) {
      JsonObject metadata = new JsonObject().put("redirect_uris", new JsonArray().add(uri));
      refused(bourse.with(null).post("/oauth/register", metadata), "invalid_redirect_uri");
    }
  }

  @Test
  void anUnknownClientGetsAPageAndNoRedirect() {
    for (String clientId : List.of("", "brc_unknown", "bourse-cli", "<script>")) {
      OAuthApplication app = OAuthApplication.named(bourse, clientId);
      HttpResponse<String> answer = app.ask(app.request(), alice);
      assertEquals(422, answer.statusCode(), clientId);
      assertTrue(answer.headers().firstValue("location").isEmpty());
      assertFalse(answer.body().contains("<script"), answer.body());
    }
    OAuthApplication unknown = OAuthApplication.named(bourse, "brc_unknown");
    refused(unknown.token(unknown.redemption("brk_x")), "invalid_client");
  }

  @Test
  void noAddressLeadsThroughSignInToAnotherSite() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> request = app.request();
    request.put("state", "//evil.example");
    String location = app.ask(request, "").headers().firstValue("location").orElseThrow();
    assertTrue(location.startsWith("/sign-in?return_to=%2Foauth%2Fauthorize%3F"), location);
    HttpResponse<String> device =
        app.browse("GET", "/device?user_code=%2F%2Fevil.example", null, "");
    assertEquals(
        "/sign-in?return_to=%2Fdevice", device.headers().firstValue("location").orElseThrow());
  }

  @Test
  void csrfAConsentThatNoPageOfThisSessionSentIsRefused() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    String token = OAuthApplication.csrf(app.ask(app.request(), alice));
    String bobs = OAuthApplication.csrf(app.ask(app.request(), bob));
    for (String csrf : List.of("", "x", bobs)) {
      assertEquals(403, consent(app, csrf).statusCode(), csrf);
    }
    assertEquals(403, consent(app, token, "Origin", "https://evil.example").statusCode());
    assertEquals(403, consent(app, token, "Origin", "null").statusCode());
    assertEquals(403, consent(app, token, "Sec-Fetch-Site", "cross-site").statusCode());
    assertEquals(200, consent(app, token, "Origin", app.baseUrl()).statusCode());
  }

  private static HttpResponse<String> consent(
      OAuthApplication app, String csrf, String... headers) {
    Map<String, String> form = new LinkedHashMap<>(app.request());
    form.put("csrf", csrf);
    form.put("decision", "allow");
    return app.browse("POST", "/oauth/authorize", form, alice, headers);
  }

  @Test
  void csrfADeviceFormThatNoPageOfThisSessionSentIsRefused() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun =
        program.post("/oauth/device_authorization", Map.of("client_id", "bourse-cli")).ok();
    String code = begun.getString("user_code");
    String token = OAuthApplication.csrf(program.browse("GET", "/device", null, alice));
    String bobs = OAuthApplication.csrf(program.browse("GET", "/device", null, bob));
    for (String csrf : List.of("", "x", bobs)) {
      assertEquals(403, device(program, code, csrf).statusCode(), csrf);
    }
    assertEquals(403, device(program, code, token, "Origin", "https://evil.example").statusCode());
    assertEquals(403, device(program, code, token, "Sec-Fetch-Site", "same-site").statusCode());
    assertEquals(200, device(program, code, token).statusCode());
  }

  private static HttpResponse<String> device(
      OAuthApplication program, String code, String csrf, String... headers) {
    return decide(program, code, csrf, "deny", headers);
  }

  private static HttpResponse<String> decide(
      OAuthApplication program, String code, String csrf, String decision, String... headers) {
    Map<String, String> form = Map.of("user_code", code, "csrf", csrf, "decision", decision);
    return program.browse("POST", "/device", form, alice, headers);
  }

  @Test
  void guessesOfDeviceCodesAreThrottled() {
    try (RunningBourse own = RunningBourse.demo()) {
      OAuthApplication program = OAuthApplication.named(own, "bourse-cli");
      String cookie = OAuthApplication.signIn(own, "acme", "alice");
      String csrf = OAuthApplication.csrf(program.browse("GET", "/device", null, cookie));
      Map<String, String> guess = Map.of("user_code", "BCDF-GHJK", "csrf", csrf);
      int tries = 0;
      HttpResponse<String> answer = program.browse("POST", "/device", guess, cookie);
      while (answer.statusCode() == 422) {
        assertTrue(++tries <= 32, "not throttled");
        answer = program.browse("POST", "/device", guess, cookie);
      }
      assertEquals(429, answer.statusCode());
      assertTrue(answer.headers().firstValue("retry-after").isPresent());
      assertTrue(tries >= 10, "throttled after " + tries);
    }
  }

  @Test
  void registrationsFromOneAddressAreThrottled() {
    try (RunningBourse own = RunningBourse.demo()) {
      JsonObject metadata = new JsonObject().put("redirect_uris", new JsonArray().add(REDIRECT));
      ApiClient anybody = own.with(null);
      int registered = 0;
      int status = 201;
      while (status == 201) {
        assertTrue(++registered <= 32, "not throttled");
        byte[] body = metadata.toBuffer().getBytes();
        status = register(anybody, body);
      }
      assertEquals(429, status);
      assertTrue(registered >= 10, "throttled after " + registered);
    }
  }

  @Test
  void registrationsThatCannotBeReadAreThrottledToo() {
    try (RunningBourse own = RunningBourse.demo()) {
      ApiClient anybody = own.with(null);
      byte[] unreadable = "{\"redirect_uris\": [1,".getBytes(StandardCharsets.UTF_8);
      int refused = 0;
      int status = 400;
      while (status == 400) {
        assertTrue(++refused <= 32, "not throttled");
        status = register(anybody, unreadable);
      }
      assertEquals(429, status);
    }
  }

  @Test
  void throttledDocumentsThatOneAddressNamesAreNotFetchedWithoutEnd() {
    try (RunningBourse own = RunningBourse.demo()) {
      String cookie = OAuthApplication.signIn(own, "acme", "alice");
      int named = 0;
      OAuthApplication app;
      HttpResponse<String> page;
      do {
        app = OAuthApplication.named(own, "https://localhost/client-" + named + ".json");
        page = app.ask(app.request(), cookie);
        assertTrue(++named <= 80, "not throttled");
      } while (page.statusCode() == 422);
      assertEquals(429, page.statusCode());
      assertTrue(named > 60, "throttled after " + named);
      assertTrue(page.body().contains("Too many attempts"), page.body());
      assertTrue(page.body().contains("metadata documents"), page.body());
      assertTrue(page.headers().firstValue("retry-after").isPresent());
      HttpResponse<byte[]> token = tokenAsIs(own, app.redemption("brk_x"));
      assertEquals(429, token.statusCode());
      assertEquals(
          "temporarily_unavailable",
          new JsonObject(Buffer.buffer(token.body())).getString("error"));
    }
  }

  private static HttpResponse<byte[]> tokenAsIs(RunningBourse own, Map<String, String> form) {
    return own.with(null)
        .fetch(
            "POST",
            "/oauth/token",
            OAuthApplication.encoded(form).getBytes(StandardCharsets.UTF_8),
            "Content-Type",
            "application/x-www-form-urlencoded");
  }

  private static int register(ApiClient anybody, byte[] metadata) {
    return anybody
        .fetch("POST", "/oauth/register", metadata, "Content-Type", "application/json")
        .statusCode();
  }

  @Test
  void aClientIdThatLeadsIntoOurNetworkIsNotFetched() {
    for (String clientId :
        List.of(
            "http://app.example/client.json",
            "https://localhost/client.json",
            "https://127.0.0.1/client.json",
            "https://2130706433/client.json",
            "https://0x7f.1/client.json",
            "https://169.254.169.254/latest/meta-data/",
            "https://10.0.0.1/client.json",
            "https://[::1]/client.json",
            "https://app.example:8443/client.json",
            "https://user@app.example/client.json",
            "https://app.example/../client.json",
            "https://app.example/a#b",
            "https://app.example/")) {
      OAuthApplication app = OAuthApplication.named(bourse, clientId);
      HttpResponse<String> answer = app.ask(app.request(), alice);
      assertEquals(422, answer.statusCode(), clientId);
      assertTrue(answer.headers().firstValue("location").isEmpty(), clientId);
    }
  }

  @Test
  void pagesCannotBeFramedAndRunNoScript() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    for (HttpResponse<String> page :
        List.of(app.ask(app.request(), alice), app.browse("GET", "/device", null, alice))) {
      String policy = page.headers().firstValue("content-security-policy").orElse("");
      assertTrue(policy.contains("default-src 'none'"), policy);
      assertTrue(policy.contains("frame-ancestors 'none'"), policy);
      assertEquals("no-store", page.headers().firstValue("cache-control").orElse(""));
      assertFalse(page.body().contains("<script"), page.body());
    }
    assertTrue(
        app.ask(app.request(), alice)
            .headers()
            .firstValue("content-security-policy")
            .orElse("")
            .contains("form-action 'self';"));
  }

  /** A redirect would fall to {@code form-action}, which also counts where the client leads on. */
  @Test
  void anAnswerIsBroughtByAPageThatFormActionDoesNotHold() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    for (String decision : List.of("allow", "deny")) {
      HttpResponse<String> answer = app.decide(app.request(), alice, decision);
      assertEquals(200, answer.statusCode());
      assertTrue(answer.headers().firstValue("location").isEmpty());
      String to = OAuthApplication.onward(answer);
      assertTrue(to.startsWith(OAuthApplication.REDIRECT + '?'), to);
      assertTrue(answer.body().contains("href=\"" + to.replace("&", "&amp;") + '"'), answer.body());
      assertEquals("no-store", answer.headers().firstValue("cache-control").orElse(""));
      assertEquals("same-origin", answer.headers().firstValue("referrer-policy").orElse(""));
    }
  }

  @Test
  void whatAnApplicationCallsItselfIsEscaped() {
    JsonObject metadata =
        new JsonObject()
            .put("client_name", "<b>Bourse</b>\u202e \"quoted\"")
            .put("redirect_uris", new JsonArray().add(REDIRECT));
    JsonObject client = bourse.with(null).post("/oauth/register", metadata).json();
    OAuthApplication app = OAuthApplication.named(bourse, client.getString("client_id"));
    Map<String, String> request = app.request();
    request.put("state", "\"><script>alert(1)</script>");
    String page = app.ask(request, alice).body();

    assertFalse(page.contains("<b>"), page);
    assertFalse(page.contains("<script"), page);
    assertFalse(page.contains("\u202e"), page);
  }

  @Test
  void aParameterGivenTwiceIsRefused() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    String twice =
        "/oauth/authorize?" + OAuthApplication.encoded(app.request()) + "&scope=bid:write";
    assertEquals(422, app.browse("GET", twice, null, alice).statusCode());
    HttpAnswer answer =
        bourse
            .with(null)
            .send(
                "POST",
                "/oauth/token",
                "grant_type=refresh_token&grant_type=authorization_code",
                "Content-Type",
                "application/x-www-form-urlencoded");
    assertEquals("invalid_request", answer.json().getString("error"));
    assertEquals(400, answer.status());
  }

  @Test
  void aClientThatSendsASecretIsRefused() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    HttpAnswer answer = app.post("/oauth/token", redemption, "Authorization", "Basic eDp5");
    refused(answer, "invalid_client");
    assertEquals("Bearer", answer.header("www-authenticate"));
    app.token(redemption).ok();
  }

  @Test
  void nothingIsStoredThatATokenOrCodeCouldBeMadeOf() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    String code = app.code(app.request(), alice);
    JsonObject tokens = app.token(app.redemption(code)).ok();
    for (String column :
        List.of(
            "code_sha256 FROM oauth_code",
            "refresh_sha256 FROM oauth_refresh",
            "family_sha256 FROM oauth_refresh")) {
      List<String> stored =
          RunningBourse.await(
              bourse.service().database().read("SELECT " + column, List.of(), row -> row.text(0)));
      assertFalse(stored.isEmpty());
      assertTrue(stored.stream().allMatch(text -> text.matches("[0-9a-f]{64}")));
      assertFalse(stored.contains(code) || stored.contains(tokens.getString("refresh_token")));
    }
  }
}
