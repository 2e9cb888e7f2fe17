package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Applications exchange refresh tokens for new tokens. */
@ReplayedOnPostgres
class OAuthRefreshApiTest extends OAuthApiFixture {
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
    // Clients repeat the scopes they requested, including the one for a refresh token.
    less.put("scope", "checkpoints:read offline_access");
    JsonObject narrowed = app.token(less).ok();
    assertEquals("checkpoints:read", narrowed.getString("scope"));
    // The grant itself keeps its scopes.
    JsonObject whole = app.token(app.refreshing(narrowed)).ok();
    assertEquals("capacity:read checkpoints:read", whole.getString("scope"));
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
                .database()
                .read(
                    "SELECT COUNT(*) AS counted FROM oauth_refresh WHERE grant_id = ?",
                    List.of(claims(first).getString("gid")),
                    row -> row.integer("counted")));
    assertEquals(List.of(1L), rows);
    // The oldest token is still recognized.
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
}
