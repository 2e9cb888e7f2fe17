package dev.bourse.access;

import static dev.bourse.access.OperatorTokenAdminApiTest.revoke;
import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Restricted operator tokens: they cannot run the platform, and a process of the previous release,
 * which does not know restrictions, rejects them.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@ReplayedOnPostgres
class NarrowOperatorTokenTest {
  private static final String OPERATORS = "/api/operator/operators";

  /** The restriction of a token. */
  private static final List<JsonObject> NARROW =
      List.of(
          new JsonObject().put("site", "demo"),
          new JsonObject().put("read_only", true),
          new JsonObject().put("site", "demo").put("read_only", true));

  private RunningBourse bourse;
  private ApiClient first;
  private int made;

  @BeforeEach
  void start() {
    bourse = RunningBourse.demo();
    first = bourse.operator();
  }

  @AfterEach
  void stop() {
    bourse.close();
  }

  private JsonObject minted(JsonObject reach) {
    made++;
    String name = made == 1 ? "narrow" : "narrow-" + made;
    HttpAnswer answer = first.post(OPERATORS, reach.copy().put("name", name));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private JsonObject listed(String name) {
    return ClusterClient.objects(first.get(OPERATORS).ok().getJsonArray("operators")).stream()
        .filter(token -> token.getString("name").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private List<String> texts(String sql, Object... parameters) {
    return await(bourse.database().read(sql, List.of(parameters), row -> row.text("found")));
  }

  private void commit(String sql) {
    await(bourse.database().commit(List.of(Statement.of(sql))));
  }

  /** Reads operators as a start does. */
  private Operators loaded() {
    Operators operators = new Operators(new AccessStore(bourse.database()), Clock.systemUTC());
    await(operators.load());
    return operators;
  }

  private ApiClient signedIn(JsonObject token) {
    return bourse.inOperatorSession(
        RunningBourse.sessionSecret(bourse.signInOperator(token.getString("token"))));
  }

  @Test
  void theLastTokenThatMayDoAllStays() {
    for (JsonObject reach : NARROW) {
      minted(reach);
    }
    JsonObject refusal = revoke(first, listed("first")).refused(ErrorCode.CONFLICT);
    assertEquals("last", refusal.getString("reason"));
    assertTrue(
        refusal.getString("detail").endsWith("operator token that may do all; mint another first"),
        refusal.encode());
  }

  @Test
  void nobodyRunsThePlatformWhoMayNotDoAll() {
    for (JsonObject reach : NARROW) {
      minted(reach);
    }
    Operators operators = loaded();
    assertEquals(false, operators.isEmpty());
    commit("UPDATE operator_token SET revoked_at = 1 WHERE name = 'first'");
    await(operators.load());
    assertTrue(operators.isEmpty(), "a start mints another first one");
  }

  @Test
  void oneThatIsRevokedIsRefusedAtOnceAndItsSessionsEnd() {
    for (JsonObject reach : NARROW) {
      JsonObject token = minted(reach);
      ApiClient caller = bourse.with(token.getString("token"));
      ApiClient session = signedIn(token);
      caller.get("/api/operator/pools").ok();
      session.get("/api/operator/pools").ok();
      revoke(first, token).ok();
      caller.get("/api/operator/pools").refused(ErrorCode.UNAUTHORIZED);
      session.get("/api/operator/pools").refused(ErrorCode.UNAUTHORIZED);
      revoke(first, token).refused(ErrorCode.NOT_FOUND);
    }
    assertNotNull(listed("narrow").getValue("revoked_at"));
  }

  @Test
  void oneThatIsRevokedMakesRoom() {
    for (int live = 1; live < OperatorTokenService.MAX_LIVE; live++) {
      JsonObject token = minted(NARROW.get(0));
      if (live == OperatorTokenService.MAX_LIVE - 1) {
        JsonObject order = new JsonObject().put("name", "one-more").put("site", "demo");
        first.post(OPERATORS, order).refused(ErrorCode.CONFLICT);
        revoke(first, token).ok();
        assertEquals(201, first.post(OPERATORS, order).status());
      }
    }
  }

  /**
   * Runs the previous release's statements, from {@code previous-statements.txt}; a session's by
   * its join.
   */
  @Test
  void theReleaseBeforeKnowsNoSuchToken() {
    for (JsonObject reach : NARROW) {
      signedIn(minted(reach));
    }
    signedIn(new JsonObject().put("token", bourse.operatorToken()));
    String live = "WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)";
    assertEquals(
        List.of("first"),
        texts(
            "SELECT name AS found FROM operator_token WHERE revoked_at IS NULL"
                + " ORDER BY created_at, token_id"));
    assertEquals(List.of("first"), texts("SELECT name AS found FROM operator_token " + live, 0));
    assertEquals(
        List.of("first"),
        texts(
            "SELECT t.name AS found FROM operator_session s"
                + " JOIN operator_token t ON t.token_id = s.token_id WHERE t.revoked_at IS NULL"));
  }

  /** Tokens from before the mark stay unrestricted and can be revoked. */
  @Test
  void oneOfBeforeThatOnlyReadsGoesOn() {
    JsonObject token = minted(new JsonObject().put("read_only", true));
    commit("UPDATE operator_token SET is_narrow = 0, revoked_at = NULL WHERE name = 'narrow'");
    Operators operators = loaded();
    TokenSecret shown = TokenSecret.parse(token.getString("token")).orElseThrow();
    assertEquals(new OperatorReach(true, null), operators.authenticate(shown).reach());
    revoke(first, token).ok();
    bourse
        .with(token.getString("token"))
        .get("/api/operator/status")
        .refused(ErrorCode.UNAUTHORIZED);
    assertNotNull(listed("narrow").getValue("revoked_at"));
  }
}
