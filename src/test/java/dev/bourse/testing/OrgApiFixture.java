package dev.bourse.testing;

import static dev.bourse.testing.RunningBourse.await;

import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Organizations with members and tokens, on one service. */
public abstract class OrgApiFixture {
  protected static RunningBourse bourse;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.withMarkets(20);
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }

  protected static void commit(Statement... statements) {
    await(bourse.database().commit(List.of(statements)));
  }

  protected static Statement member(String org, String username, String email) {
    return Statement.of(
        "INSERT INTO member (org_id, username, email, name, created_at) VALUES (?, ?, ?, ?, 1)",
        org,
        username,
        email,
        username + " the member");
  }

  protected static String id(ApiClient caller) {
    return caller.actor().substring("token:".length());
  }

  /** Two organizations whose trails are empty yet, without the mints of the tokens they have. */
  protected static TestMarket market() {
    TestMarket market = bourse.market();
    for (String org : List.of(market.red(), market.blue())) {
      await(
          bourse
              .database()
              .commit(List.of(Statement.of("DELETE FROM audit WHERE org_id = ?", org))));
    }
    return market;
  }

  protected static Statement token(
      String id, String org, String scopes, long createdAt, @Nullable Long revokedAt) {
    return Statement.of(
        "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes, cluster, created_by,"
            + " created_at, expires_at, revoked_at)"
            + " VALUES (?, ?, 'a token', 'c0ffee', ?, ?, 'member:amy', ?, 90, ?)",
        id,
        org,
        scopes,
        org + "-a",
        createdAt,
        revokedAt);
  }

  /** The body that makes an organization by the operators' API. */
  public static JsonObject org(String orgId) {
    return new JsonObject().put("org_id", orgId).put("display", "Lab").put("kind", "standard");
  }
}
