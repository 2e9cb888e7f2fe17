package dev.bourse.oauth;

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
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Applications lose their grants. */
@ReplayedOnPostgres
class OAuthRevocationApiTest extends OAuthApiFixture {
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

    String again = OAuthApplication.signIn(bourse, "acme", "bob");
    assertFalse(
        app.browse("GET", "/account", null, again).body().contains("Test application"),
        "still connected");
    // Tokens have a time in seconds: one of the same second as the suspension is refused with it.
    RunningBourse.until("allowed anew", () -> files(app.tokens(again)).status() == 200);
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
}
