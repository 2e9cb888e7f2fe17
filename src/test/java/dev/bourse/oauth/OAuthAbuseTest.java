package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
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

/** Grants end with their members, redirects stay with their clients, and floods evict nobody. */
@ReplayedOnPostgres
class OAuthAbuseTest extends OAuthApiFixture {
  @Test
  void nobodyIsActedForWhoWasRemovedAndNobodyElseIsGivenTheName() {
    JsonObject erin =
        new JsonObject().put("username", "erin").put("email", "erin@acme.example").put("name", "E");
    String members = "/api/operator/orgs/acme/members";
    assertEquals(201, bourse.operator().post(members, erin).status());
    OAuthApplication app = OAuthApplication.registered(bourse);
    String cookie = OAuthApplication.signIn(bourse, "acme", "erin");
    JsonObject tokens = app.tokens(cookie);
    String waiting = app.code(app.request(), cookie);
    files(tokens).ok();
    bourse.operator().delete(members + "/erin").ok();
    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    bourse.operator().post(members, erin).refused(ErrorCode.CONFLICT);

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(tokens)), "invalid_grant");
    refused(app.token(app.redemption(waiting)), "invalid_grant");
  }

  @Test
  void openRedirectAFaultyRequestOfWhoIsNotSignedInLeadsToSignInAlone() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    for (Map<String, String> faulty :
        List.of(
            Map.of("scope", "teapot"),
            Map.of("response_type", "token"),
            Map.of("resource", "https://elsewhere.example"),
            Map.of("code_challenge_method", "plain"))) {
      Map<String, String> request = app.request();
      request.putAll(faulty);
      String location = app.ask(request, "").headers().firstValue("location").orElse("none");
      assertTrue(location.startsWith("/sign-in?return_to="), location);
      assertTrue(OAuthApplication.parameters(app.ask(request, alice)).containsKey("error"));
    }
  }

  @Test
  void aFloodOfRegistrationsDrivesOutNoApplicationInUse() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    JsonObject tokens = app.tokens(alice);
    commit(
        "INSERT INTO oauth_client (client_id, name, redirect_uris, grant_types, created_at)"
            + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
            + " SELECT 'flood' || i, 'f', '[]', 'authorization_code', 9000000000000 FROM n");
    OAuthApplication.registered(bourse);

    app.token(app.refreshing(tokens)).ok();
    commit("DELETE FROM oauth_client WHERE client_id LIKE 'flood%'");
  }

  @Test
  void aFloodOfDeviceCodesTakesNoMoreThanSoManyRows() {
    commit(
        "INSERT INTO oauth_device (device_sha256, user_code, client_id, scopes, resource, state,"
            + " created_at, expires_at, next_poll_at, interval_millis)"
            + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20050)"
            + " SELECT 'flood' || i, 'flood' || i, 'bourse-cli', '', '', 'pending', 1, i, 1, 5000"
            + " FROM n");
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    Map<String, String> asking = Map.of("client_id", "bourse-cli");
    JsonObject begun = program.post("/oauth/device_authorization", asking).ok();
    List<Long> rows =
        RunningBourse.await(
            bourse
                .database()
                .read(
                    "SELECT COUNT(*) AS counted FROM oauth_device",
                    List.of(),
                    row -> row.integer("counted")));
    assertEquals(List.of(20_000L), rows);
    Map<String, String> polling =
        Map.of(
            "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
            "client_id", "bourse-cli",
            "device_code", begun.getString("device_code"));
    refused(program.token(polling), "authorization_pending");
    commit("DELETE FROM oauth_device WHERE device_sha256 LIKE 'flood%'");
  }

  @Test
  void throttledAMemberGivesNoMoreThanSoManyPermissions() {
    OAuthApplication app = OAuthApplication.registered(bourse);
    Map<String, String> form = new LinkedHashMap<>(app.request());
    form.put("csrf", OAuthApplication.csrf(app.ask(app.request(), bob)));
    form.put("decision", "allow");
    int given = 0;
    HttpResponse<String> answer = app.browse("POST", "/oauth/authorize", form, bob);
    while (answer.statusCode() == 200) {
      assertTrue(++given <= 120, "not throttled");
      answer = app.browse("POST", "/oauth/authorize", form, bob);
    }
    assertEquals(429, answer.statusCode());
    assertTrue(answer.body().contains("permissions given by one member"), answer.body());
    assertTrue(given >= 100, "throttled after " + given);
  }

  private static void commit(String sql) {
    RunningBourse.await(bourse.database().commit(List.of(Statement.of(sql))));
  }
}
