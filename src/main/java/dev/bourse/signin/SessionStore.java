package dev.bourse.signin;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Rows of sessions. */
final class SessionStore {
  /** Sessions of one member: browsers, each some times; the oldest goes when one more starts. */
  static final int MAX_PER_MEMBER = 20;

  /** What fails when a session is started for who may not sign in. */
  static final String ACTIVE = "active";

  private final Database database;

  SessionStore(Database database) {
    this.database = database;
  }

  /** A session as stored. */
  record Row(
      String id,
      String orgId,
      String username,
      long createdAtMillis,
      long seenAtMillis,
      long expiresAtMillis) {}

  /** Who a member is. */
  record Profile(String orgDisplay, String email, String name) {}

  /**
   * A session whose member may act: is on the roster since before it began, not suspended, of an
   * organization that is not retired.
   */
  Future<Optional<Row>> find(String id) {
    return database
        .read(
            "SELECT s.session_sha256, s.org_id, s.username, s.created_at, s.seen_at, s.expires_at"
                + " FROM member_session s"
                + " JOIN member m ON m.org_id = s.org_id AND m.username = s.username"
                + " JOIN org o ON o.org_id = s.org_id"
                + " WHERE s.session_sha256 = ? AND m.suspended_at IS NULL"
                + " AND m.created_at <= s.created_at AND o.retired_at IS NULL",
            List.of(id),
            SessionStore::row)
        .map(found -> found.stream().findFirst());
  }

  /** A member's sessions, the newest first. */
  Future<List<Row>> list(String orgId, String username) {
    return database.read(
        "SELECT session_sha256, org_id, username, created_at, seen_at, expires_at"
            + " FROM member_session WHERE org_id = ? AND username = ?"
            + " ORDER BY created_at DESC, session_sha256 LIMIT "
            + MAX_PER_MEMBER,
        List.of(orgId, username),
        SessionStore::row);
  }

  Future<Optional<Profile>> findProfile(String orgId, String username) {
    return database
        .read(
            "SELECT o.display, m.email, m.name FROM member m JOIN org o ON o.org_id = m.org_id"
                + " WHERE m.org_id = ? AND m.username = ?",
            List.of(orgId, username),
            row -> new Profile(row.text(0), row.text(1), row.text(2)))
        .map(found -> found.stream().findFirst());
  }

  /** Starts one, and ends the member's oldest beyond the most there may be. */
  Future<Void> start(Row session, Optional<String> replaced, List<Statement> along) {
    List<Statement> statements =
        new java.util.ArrayList<>(
            List.of(
                Statement.guarded(
                    ACTIVE,
                    "UPDATE member SET last_login_at = ? WHERE org_id = ? AND username = ?"
                        + " AND suspended_at IS NULL",
                    session.createdAtMillis(),
                    session.orgId(),
                    session.username()),
                Statement.of(
                    "INSERT INTO member_session (session_sha256, org_id, username, created_at,"
                        + " seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                    session.id(),
                    session.orgId(),
                    session.username(),
                    session.createdAtMillis(),
                    session.seenAtMillis(),
                    session.expiresAtMillis()),
                Statement.of(
                    "DELETE FROM member_session WHERE org_id = ? AND username = ?"
                        + " AND session_sha256 NOT IN (SELECT session_sha256 FROM member_session"
                        + " WHERE org_id = ? AND username = ?"
                        + " ORDER BY created_at DESC, session_sha256 LIMIT "
                        + MAX_PER_MEMBER
                        + ")",
                    session.orgId(),
                    session.username(),
                    session.orgId(),
                    session.username())));
    replaced.ifPresent(id -> statements.add(ending(id)));
    statements.addAll(along);
    return database.commit(statements);
  }

  Future<Void> seen(String id, long atMillis) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE member_session SET seen_at = ? WHERE session_sha256 = ? AND seen_at < ?",
                atMillis,
                id,
                atMillis)));
  }

  Future<Void> end(String id) {
    return database.commit(List.of(ending(id)));
  }

  private static Statement ending(String id) {
    return Statement.of("DELETE FROM member_session WHERE session_sha256 = ?", id);
  }

  Future<Void> endAll(String orgId, String username) {
    return database.commit(
        List.of(
            Statement.of(
                "DELETE FROM member_session WHERE org_id = ? AND username = ?", orgId, username)));
  }

  /** Deletes what is past its time. */
  Future<Void> sweep(long nowMillis, long idleMillis) {
    return database.commit(
        List.of(
            Statement.of(
                "DELETE FROM member_session WHERE expires_at <= ? OR seen_at <= ?",
                nowMillis,
                nowMillis - idleMillis)));
  }

  private static Row row(dev.bourse.store.Row row) {
    return new Row(
        row.text(0), row.text(1), row.text(2), row.integer(3), row.integer(4), row.integer(5));
  }
}
