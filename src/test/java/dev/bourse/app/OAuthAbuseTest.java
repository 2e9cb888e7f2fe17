package dev.bourse.app;

import static dev.bourse.app.Application.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What permissions do not outlast, what leads nowhere else, and what drives out nobody. */
@EachEngine
class OAuthAbuseTest extends OAuthScene {
  @Test
  void whoIsAddedAnewByTheNameOfARemovedMemberIsNotActedFor() {
    JsonObject erin =
        new JsonObject().put("username", "erin").put("email", "erin@acme.example").put("name", "E");
    String members = "/api/operator/orgs/acme/members";
    assertEquals(201, bourse.operator().post(members, erin).status());
    Application app = Application.registered(bourse);
    String cookie = Application.signIn(bourse, "acme", "erin");
    JsonObject tokens = app.tokens(cookie);
    String waiting = app.code(app.request(), cookie);
    files(tokens).ok();
    bourse.operator().delete(members + "/erin").ok();
    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    assertEquals(201, bourse.operator().post(members, erin).status());

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
    refused(app.token(app.refreshing(tokens)), "invalid_grant");
    refused(app.token(app.redemption(waiting)), "invalid_grant");
    String anew = Application.signIn(bourse, "acme", "erin");
    String account = app.browse("GET", "/account", null, anew).body();
    assertFalse(account.contains("Test application"), account);
  }

  @Test
  void openRedirectAFaultyRequestOfWhoIsNotSignedInLeadsToSignInAlone() {
    Application app = Application.registered(bourse);
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
      assertTrue(Application.parameters(app.ask(request, alice)).containsKey("error"));
    }
  }

  @Test
  void aFloodOfRegistrationsDrivesOutNoApplicationInUse() {
    Application app = Application.registered(bourse);
    JsonObject tokens = app.tokens(alice);
    commit(
        "INSERT INTO oauth_client (client_id, name, redirect_uris, grant_types, created_at)"
            + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
            + " SELECT 'flood' || i, 'f', '[]', 'authorization_code', 9000000000000 FROM n");
    Application.registered(bourse);

    app.token(app.refreshing(tokens)).ok();
    commit("DELETE FROM oauth_client WHERE client_id LIKE 'flood%'");
  }

  private static void commit(String sql) {
    RunningBourse.await(bourse.service().database().commit(List.of(Statement.of(sql))));
  }
}
