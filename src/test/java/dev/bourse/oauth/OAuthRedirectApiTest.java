package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.REDIRECT;
import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** No request sends a member or the service to an address that a stranger chose. */
@ReplayedOnPostgres
class OAuthRedirectApiTest extends OAuthApiFixture {
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
  void theCommandLinesAnswersGoToTheMembersOwnMachineAlone() {
    OAuthApplication line = OAuthApplication.named(bourse, "bourse-cli");
    Map<String, String> request = line.request();
    for (String other :
        List.of(
            REDIRECT,
            "http://127.0.0.1:7777/",
            "http://127.0.0.1:7777/callback/",
            "http://127.0.0.1:7777/callback?x=1",
            "http://127.0.0.2:7777/callback",
            "http://localhost:7777/callback",
            "http://[::1]:7777/callback",
            "https://127.0.0.1:7777/callback",
            "http://127.0.0.1.evil.example:7777/callback",
            "http://127.0.0.1:7777@evil.example/callback",
            "http://evil.example:7777/callback")) {
      request.put("redirect_uri", other);
      HttpResponse<String> answer = line.ask(request, alice);
      assertEquals(422, answer.statusCode(), other);
      assertTrue(answer.headers().firstValue("location").isEmpty(), other);
    }
    for (String good : List.of("http://127.0.0.1:7777/callback", "http://127.0.0.1:5/callback")) {
      request.put("redirect_uri", good);
      HttpResponse<String> page = line.ask(request, alice);
      assertEquals(200, page.statusCode(), good);
      assertTrue(page.body().contains("a program on this computer"), page.body());
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
}
