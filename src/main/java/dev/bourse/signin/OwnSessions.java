package dev.bourse.signin;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;

/** Lists and ends a member's own sessions. */
public final class OwnSessions {
  /** The part of a session's id that a trail shows, enough to distinguish sessions. */
  private static final int SHOWN_ID = 12;

  private final Database database;
  private final ConnectedApplications applications;
  private final Clock clock;

  public OwnSessions(Database database, ConnectedApplications applications, Clock clock) {
    this.database = database;
    this.applications = applications;
    this.clock = clock;
  }

  /**
   * A browser in which the member is signed in.
   *
   * @param id the session's id, useless to a thief
   * @param browser its common name
   * @param address its last client address, as counted by address budgets; empty when unknown
   * @param usedAtMillis when it was last used, to the minute
   * @param endsAtMillis when it ends unless it is used before, or at the latest
   */
  public record OwnSession(
      String id,
      String browser,
      String address,
      long createdAtMillis,
      long usedAtMillis,
      long endsAtMillis) {}

  /** A member's sessions in force, the newest first. */
  public Future<List<OwnSession>> list(String orgId, String username) {
    long now = clock.millis();
    return database.read(
        """
        SELECT session_sha256, user_agent, address, created_at, seen_at, expires_at
        FROM member_session WHERE org_id = ? AND username = ? AND expires_at > ? AND seen_at > ?
        ORDER BY created_at DESC, session_sha256 LIMIT %d\
        """
            .formatted(SessionStore.MAX_PER_MEMBER),
        List.of(orgId, username, now, now - Sessions.IDLE.toMillis()),
        row ->
            new OwnSession(
                row.text("session_sha256"),
                BrowserName.of(row.text("user_agent")),
                row.text("address"),
                row.integer("created_at"),
                row.integer("seen_at"),
                Math.min(
                    row.integer("expires_at"), row.integer("seen_at") + Sessions.IDLE.toMillis())));
  }

  /**
   * Ends one session. Fails with {@code not-found}, with the same wording for another member's
   * session and for a session that does not exist.
   */
  public Future<Void> end(String orgId, String username, String id) {
    return database.commit(
        List.of(
            Statement.guarded(
                () -> ApiException.notFound("session", id),
                """
                DELETE FROM member_session
                WHERE session_sha256 = ? AND org_id = ? AND username = ?\
                """,
                id,
                orgId,
                username),
            row(
                orgId,
                username,
                "session_end",
                "session_id=" + id.substring(0, Math.min(id.length(), SHOWN_ID)))));
  }

  /** Ends all sessions and grants of a member, in one commit. */
  public Future<Void> endEverywhere(String orgId, String username) {
    return applications.revokeAll(
        orgId,
        username,
        List.of(
            Statement.of(
                "DELETE FROM member_session WHERE org_id = ? AND username = ?", orgId, username),
            row(orgId, username, "sign_out_everywhere", "")));
  }

  private Statement row(String orgId, String username, String action, String detail) {
    return AuditStore.insert(
        new AuditRow(clock.millis(), orgId, "member:" + username, action, orgId, detail));
  }
}
