package dev.bourse.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.signin.Session;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A consent at one process while another signs its member out everywhere. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ConsentRaceTest extends StoreFixture {
  private static final Session SESSION = new Session("s1", "acme", "ann", "c", 0, 1, 1);

  private String url;

  @Override
  protected Future<? extends Database> open() throws Exception {
    url = SharedPostgres.server().newStore();
    return SharedPostgres.openStore(vertx, url, clock);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static boolean somebodyWaitsForALock(Connection connection) {
    try (java.sql.Statement statement = connection.createStatement();
        ResultSet waiting =
            statement.executeQuery(
                """
                SELECT COUNT(*) FROM pg_stat_activity
                WHERE wait_event_type = 'Lock' AND datname = current_database()\
                """)) {
      return waiting.next() && waiting.getInt(1) > 0;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whoWaitsForASignOutFindsTheSessionEnded() throws Exception {
    isRefusedAfterWaitingFor(
        "DELETE FROM member_session",
        ErrorCode.FORBIDDEN,
        () -> GrantStore.requireSession(SESSION));
  }

  @Test
  void whoWaitsForTheEndOfAnApplicationFindsItsGrantEnded() throws Exception {
    isRefusedAfterWaitingFor(
        "UPDATE oauth_grant SET revoked_at = 1",
        ErrorCode.UNAUTHORIZED,
        () -> GrantStore.requireGrant("acme", "ann", "g1"));
  }

  private void isRefusedAfterWaitingFor(
      String end, ErrorCode code, Supplier<List<Statement>> required) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO member (org_id, username, email, name, created_at)
                    VALUES ('acme', 'ann', 'ann@acme.example', 'Ann', 0)\
                    """),
                Statement.of(
                    """
                    INSERT INTO member_session
                    (session_sha256, org_id, username, created_at, seen_at, expires_at)
                    VALUES ('s1', 'acme', 'ann', 0, 0, 1)\
                    """),
                Statement.of(
                    """
                    INSERT INTO oauth_grant (grant_id, org_id, username, client_id, client_name,
                    scopes, resource, refreshable, created_at, idle_until, expires_at)
                    VALUES ('g1', 'acme', 'ann', 'app', 'App', '', '', ?, 0, 1, 1)\
                    """,
                    true))));
    await(database.commit(required.get()));
    try (Connection other = SharedPostgres.server().connect(url);
        Connection watching = SharedPostgres.server().connect(url)) {
      other.setAutoCommit(false);
      execute(other, "UPDATE member SET username = username WHERE username = 'ann'");
      execute(other, end);
      Future<Void> consent = database.commit(required.get());
      eventually("it waits for the other", () -> somebodyWaitsForALock(watching));
      assertFalse(consent.isComplete());
      other.commit();
      assertEquals(code, fails(ApiException.class, consent).code());
    }
  }
}
