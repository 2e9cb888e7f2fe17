package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Minting, renaming and revoking API tokens, by members. */
@ReplayedOnPostgres
class ConsoleTokensApiTest extends ConsoleApiFixture {
  private static final String TOKENS = "/api/console/tokens";

  private static JsonObject order(String name, String... scopes) {
    return new JsonObject().put("name", name).put("scopes", new JsonArray(List.of(scopes)));
  }

  @Test
  void aMintedTokenIsItsMembersAndItsSecretIsShownOnce() {
    ApiClient alice = bourse.inSession("acme", "alice");
    HttpAnswer minted =
        alice.post(TOKENS, order("night job", "capacity:read").put("cluster", "acme-train"));
    assertEquals(201, minted.status());
    JsonObject token = minted.json();
    String secret = token.getString("token");
    assertEquals("member:alice", token.getString("created_by"));
    JsonObject who = bourse.with(secret).get("/api/whoami").ok();
    assertEquals("acme-train", who.getString("cluster"));
    String listed = alice.get(TOKENS).ok().encode();
    assertTrue(listed.contains(token.getString("token_id")));
    assertFalse(listed.contains(secret.split("_", -1)[2]));
  }

  @Test
  void aTokenIsRenamedWhileItIsLiveAndRevokedOnce() {
    String org = organization("alice", "bob");
    ApiClient alice = bourse.inSession(org, "alice");
    JsonObject token = alice.post(TOKENS, order("laptop")).json();
    String path = TOKENS + "/" + token.getString("token_id");
    ApiClient bob = bourse.inSession(org, "bob");
    JsonObject renamed = bob.patch(path, new JsonObject().put("name", "old 'laptop'")).ok();
    assertEquals("old 'laptop'", renamed.getString("name"));
    assertEquals("member:alice", renamed.getString("created_by"));
    assertEquals(
        List.of(
            "member:bob vm_token_rename token_id=%s name=laptop new_name=old 'laptop'"
                .formatted(token.getString("token_id"))),
        trail(org, "vm_token_rename"));
    JsonObject bad =
        bob.patch(path, new JsonObject().put("name", "")).refused(ErrorCode.BAD_REQUEST);
    assertTrue(bad.getString("detail").contains("name"), bad.encode());
    bob.delete(path).ok();
    bourse.with(token.getString("token")).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    bob.delete(path).refused(ErrorCode.NOT_FOUND);
    bob.patch(path, new JsonObject().put("name", "late")).refused(ErrorCode.NOT_FOUND);
    JsonObject dead = bob.get(TOKENS).ok().getJsonArray("tokens").getJsonObject(0);
    assertEquals("old 'laptop'", dead.getString("name"));
    assertTrue(dead.getString("revoked_at") != null);
  }

  @Test
  void aBadOrderIsRefusedNamingItsField() {
    ApiClient alice = bourse.inSession("acme", "alice");
    for (JsonObject bad :
        List.of(
            order("a", "org:write"),
            order("a", "checkpoints:read"),
            order("a").put("cluster", "globex-main"),
            order("a").put("expires_at", "2001-01-01T00:00:00Z"),
            order("a").put("member", "bob"))) {
      alice.post(TOKENS, bad).refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void anApplicationMintsNoTokenThatMayDoMoreThanItself() {
    String org = organization("alice");
    ApiClient application = application(org, "alice", Scope.ORG_WRITE, Scope.CAPACITY_READ);
    assertEquals(201, application.post(TOKENS, order("mine", "capacity:read")).status());
    JsonObject refusal =
        application
            .post(TOKENS, order("more", "capacity:read", "capacity:write"))
            .refused(ErrorCode.FORBIDDEN);
    assertTrue(refusal.getString("detail").contains("capacity:write"), refusal.encode());
    assertEquals(1, trail(org, "vm_token_mint").size());
  }

  @Test
  void aTokensTrailIsThere() {
    ApiClient alice = bourse.inSession("acme", "alice");
    JsonObject token = alice.post(TOKENS, order("traced", "capacity:read")).json();
    bourse.with(token.getString("token")).get("/api/vm/capacity?cluster=acme-train").ok();
    String trail = "/api/org/tokens/" + token.getString("token_id") + "/activity?reads=1";
    // Reads are recorded a moment after they are answered.
    RunningBourse.until(
        "the read in the token's trail",
        () -> alice.get(trail).ok().encode().contains("vm_capacity_get"));
  }
}
