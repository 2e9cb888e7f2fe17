package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.REDIRECT;
import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The throttling of strangers. */
@ReplayedOnPostgres
class OAuthThrottleApiTest extends OAuthApiFixture {
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
}
