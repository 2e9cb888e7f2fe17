package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.REDIRECT;
import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Codes and refresh tokens that are used twice, by the wrong client or without their verifier. */
@ReplayedOnPostgres
class OAuthReplayApiTest extends OAuthApiFixture {
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
  void theCommandLineNeedsPkceAndItsCodeIsGoodOnce() {
    OAuthApplication line = OAuthApplication.named(bourse, "bourse-cli");
    Map<String, String> request = line.request();
    String redirect = "http://127.0.0.1:7777/callback";
    request.put("redirect_uri", redirect);
    for (Map<String, String> faulty :
        List.of(
            Map.of("code_challenge", ""),
            Map.of("code_challenge_method", ""),
            Map.of("code_challenge_method", "plain", "code_challenge", line.verifier))) {
      Map<String, String> asked = new LinkedHashMap<>(request);
      asked.putAll(faulty);
      assertEquals(
          "invalid_request",
          OAuthApplication.parameters(line.ask(asked, alice)).get("error"),
          faulty.toString());
    }
    Map<String, String> redemption = line.redemption(line.code(request, alice));
    redemption.put("redirect_uri", "http://127.0.0.1:7778/callback");
    refused(line.token(redemption), "invalid_grant");

    redemption = line.redemption(line.code(request, alice));
    redemption.put("redirect_uri", redirect);
    JsonObject tokens = line.token(redemption).ok();
    files(tokens).ok();
    refused(line.token(redemption), "invalid_grant");
    files(tokens).refused(ErrorCode.UNAUTHORIZED);
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
  void aCodeIsRedeemedOnlyWithTheRedirectUriItWasAskedFor() {
    OAuthApplication app = OAuthApplication.registered(bourse, REDIRECT, REDIRECT + "/other");
    Map<String, String> redemption = app.redemption(app.code(app.request(), alice));
    redemption.put("redirect_uri", REDIRECT + "/other");
    refused(app.token(redemption), "invalid_grant");
    redemption.put("redirect_uri", "");
    refused(app.token(redemption), "invalid_request");
  }

  private static HttpResponse<String> decide(
      OAuthApplication program, String code, String csrf, String decision, String... headers) {
    Map<String, String> form = Map.of("user_code", code, "csrf", csrf, "decision", decision);
    return program.browse("POST", "/device", form, alice, headers);
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
              bourse
                  .database()
                  .read("SELECT " + column, List.of(), row -> row.text(column.split(" ", 2)[0])));
      assertFalse(stored.isEmpty());
      assertTrue(stored.stream().allMatch(text -> text.matches("[0-9a-f]{64}")));
      assertFalse(stored.contains(code) || stored.contains(tokens.getString("refresh_token")));
    }
  }
}
