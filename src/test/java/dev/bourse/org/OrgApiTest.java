package dev.bourse.org;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An organization's roster and tokens over HTTP. Each test has an organization of its own. */
@ReplayedOnPostgres
class OrgApiTest extends OrgApiFixture {
  private static Statement rule(String org, String id, String kind, String value, long at) {
    return Statement.of(
        "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by,"
            + " link_expires_at) VALUES (?, ?, ?, ?, ?, 'member:amy', ?)",
        id,
        org,
        kind,
        value,
        at,
        kind.equals("email") ? at + 259_200_000L : null);
  }

  @Test
  void membersAreListedWithWhatIsKnownOfThem() {
    TestMarket market = market();
    commit(
        member(market.red(), "zoe", "zoe@red.example"),
        member(market.red(), "amy", "amy@red.example"),
        member(market.blue(), "bob", "bob@blue.example"),
        Statement.of(
            "UPDATE member SET last_login_at = 1000 WHERE org_id = ? AND username = 'amy'",
            market.red()),
        Statement.of(
            "UPDATE member SET suspended_at = 5 WHERE org_id = ? AND username = 'zoe'",
            market.red()));
    JsonObject roster = market.red("bare").get("/api/org/members").ok();
    JsonObject amy =
        new JsonObject()
            .put("username", "amy")
            .put("email", "amy@red.example")
            .put("name", "amy the member")
            .put("is_active", true)
            .put("last_login", "1970-01-01T00:00:01.000Z")
            .put("role", "admin");
    JsonObject zoe =
        new JsonObject()
            .put("username", "zoe")
            .put("email", "zoe@red.example")
            .put("name", "zoe the member")
            .put("is_active", false)
            .putNull("last_login")
            .put("role", "admin");
    assertEquals(new JsonArray().add(amy).add(zoe), roster.getJsonArray("members"));
    assertEquals(new JsonArray(), roster.getJsonArray("rules"));
    assertEquals(new JsonArray(), roster.getJsonArray("invited"));
  }

  @Test
  void anEmailRuleInvitesUntilAMemberCarriesTheAddress() {
    TestMarket market = market();
    String red = market.red();
    commit(
        member(red, "amy", "Amy@Red.Example"),
        rule(red, "jr_" + red + "1", "domain", "red.example", 10),
        rule(red, "jr_" + red + "2", "email", "amy@red.example", 20),
        rule(red, "jr_" + red + "3", "email", "eve@partner.example", 30),
        rule(market.blue(), "jr_" + red + "4", "email", "mal@blue.example", 30));
    JsonObject roster = market.red("bound").get("/api/org/members").ok();
    assertEquals(
        new JsonArray()
            // As an earlier release stored it, which required no proof.
            .add(json("jr_" + red + "1", "domain", "red.example", "pending"))
            .add(json("jr_" + red + "2", "email", "amy@red.example", "active"))
            .add(json("jr_" + red + "3", "email", "eve@partner.example", "active")),
        roster.getJsonArray("rules"));
    assertEquals(
        new JsonArray()
            .add(
                new JsonObject()
                    .put("id", "jr_" + red + "3")
                    .put("email", "eve@partner.example")
                    .put("invited_at", "1970-01-01T00:00:00.030Z")
                    .put("invited_by", "member:amy")
                    .put("link_expires_at", "1970-01-04T00:00:00.030Z")),
        roster.getJsonArray("invited"));
    commit(member(red, "eve", "EVE@partner.example"));
    assertEquals(
        new JsonArray(), market.red("bare").get("/api/org/members").ok().getJsonArray("invited"));
  }

  private static JsonObject json(String id, String kind, String value, String state) {
    return new JsonObject().put("id", id).put("kind", kind).put("value", value).put("state", state);
  }

  // Tokens

  @Test
  void tokensAreListedNewestFirstLiveAndInactive() {
    TestMarket market = market();
    String red = market.red();
    commit(
        token("old" + red, red, "capacity:read capacity:write", 10, 20L),
        token("new" + red, red, "", System.currentTimeMillis() + 60_000, null),
        token("alien" + red, market.blue(), "", 10, null));
    List<JsonObject> tokens =
        market.red("bare").get("/api/org/tokens").ok().getJsonArray("tokens").stream()
            .map(JsonObject.class::cast)
            .toList();
    assertEquals(6, tokens.size());
    assertEquals("new" + red, tokens.get(0).getString("token_id"));
    JsonObject old = tokens.get(5);
    assertEquals(
        new JsonObject()
            .put("token_id", "old" + red)
            .put("name", "a token")
            .put("scopes", new JsonArray().add("capacity:read").add("capacity:write"))
            .put("cluster", red + "-a")
            .put("expires_at", "1970-01-01T00:00:00.090Z")
            .put("created_by", "member:amy")
            .put("created_at", "1970-01-01T00:00:00.010Z")
            .putNull("last_used_at")
            .putNull("limits")
            .put("revoked_at", "1970-01-01T00:00:00.020Z"),
        old);
    assertTrue(
        tokens.stream().anyMatch(t -> t.getString("token_id").equals(id(market.red("orgwide")))));
    assertNull(tokens.get(0).getString("revoked_at"));
  }

  @Test
  void secretsAndTheirHashesAreNowhere() {
    TestMarket market = market();
    ApiClient red = market.red("bare");
    String secret = bourse.secret(market.red(), "orgwide").split("_", -1)[2];
    commit(token("hash" + market.red(), market.red(), "", 1, null));
    String answer = red.get("/api/org/tokens").ok().encode();
    assertFalse(answer.contains(secret));
    assertFalse(answer.contains("c0ffee"));
    assertFalse(answer.contains("sha256"));
  }

  @Test
  void atMostAThousandTokensAreListedTheNewest() {
    TestMarket market = market();
    long now = System.currentTimeMillis() + 60_000;
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < 1_005; i++) {
      statements.add(token("many-" + i + market.red(), market.red(), "", now + i, 1L));
    }
    await(bourse.database().commit(statements));
    JsonArray tokens = market.red("bare").get("/api/org/tokens").ok().getJsonArray("tokens");
    assertEquals(1_000, tokens.size());
    assertEquals("many-1004" + market.red(), tokens.getJsonObject(0).getString("token_id"));
  }
}
