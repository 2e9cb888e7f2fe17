package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.REDIRECT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The consent pages: forged forms, frames, scripts and deceptive names. */
@ReplayedOnPostgres
class ConsentPageApiTest extends OAuthApiFixture {
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

  /** A redirect would be subject to {@code form-action}, also at the client's further redirects. */
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
  void consentNamesTheOrganizationAsPeopleDoAndSaysHowLongItLasts() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    String page = app.ask(app.request(), alice).body();
    assertTrue(page.contains(">Acme</span>"), page);
    assertTrue(page.contains("for 90 days at most; after 30 days without use"), page);
    assertTrue(page.contains("href=\"/account\""), page);
    OAuthApplication once = OAuthApplication.named(bourse, withoutRefresh());
    assertTrue(once.ask(once.request(), alice).body().contains("for 10 minutes"));
  }

  private static String withoutRefresh() {
    JsonObject metadata =
        new JsonObject()
            .put("client_name", "Once")
            .put("redirect_uris", new JsonArray().add(REDIRECT))
            .put("grant_types", new JsonArray().add("authorization_code"));
    return bourse.with(null).post("/oauth/register", metadata).json().getString("client_id");
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
}
