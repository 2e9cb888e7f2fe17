package dev.bourse.signin;

import dev.bourse.access.Members;
import dev.bourse.access.Organization;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads and writes the rows of sessions. */
final class SessionStore {
  /**
   * Sessions of one member: several browsers, each several times. A further one ends the oldest.
   */
  static final int MAX_PER_MEMBER = 20;

  /** Enough to distinguish browsers; the header may have kilobytes. */
  private static final int MAX_USER_AGENT = 256;

  private static final Columns<StoredSession> SESSION =
      Columns.<StoredSession>of("member_session")
          .fixed("session_sha256", StoredSession::id)
          .fixed("org_id", StoredSession::orgId)
          .fixed("username", StoredSession::username)
          .fixed("created_at", StoredSession::createdAtMillis)
          .changing("seen_at", StoredSession::seenAtMillis)
          .fixed("expires_at", StoredSession::expiresAtMillis)
          .changing("user_agent", session -> session.browser().userAgent())
          .changing("address", session -> session.browser().address());

  /** A member's sessions; its parameters are the organization and the username. */
  private static final String NEWEST_OF_MEMBER =
      """
      SELECT %s FROM member_session WHERE org_id = ? AND username = ?
      ORDER BY created_at DESC, session_sha256 LIMIT %d\
      """;

  private final Database database;

  SessionStore(Database database) {
    this.database = database;
  }

  /** A session as stored. */
  record StoredSession(
      String id,
      String orgId,
      String username,
      long createdAtMillis,
      long seenAtMillis,
      long expiresAtMillis,
      BrowserInfo browser) {}

  /**
   * A browser's data from its requests.
   *
   * @param userAgent its User-Agent, cut to {@link #MAX_USER_AGENT}
   * @param address its client address, as counted by address budgets
   */
  record BrowserInfo(String userAgent, String address) {
    BrowserInfo {
      userAgent =
          userAgent.length() > MAX_USER_AGENT ? userAgent.substring(0, MAX_USER_AGENT) : userAgent;
    }
  }

  /**
   * A session whose member may act.
   *
   * @param memberId identifies the owner of the member's items
   */
  record LiveSession(StoredSession session, Organization org, String memberId) {}

  /**
   * Sessions whose member may act: the member joined before the session started, is still on the
   * roster and not suspended, and the organization is not retired.
   */
  private static final String LIVE =
      """
      SELECT %s, o.display, o.kind, o.ssh_keys_need_write, %s AS member_id FROM member_session s
      JOIN member m ON m.org_id = s.org_id AND m.username = s.username
      JOIN org o ON o.org_id = s.org_id
      WHERE m.suspended_at IS NULL AND m.created_at <= s.created_at AND o.retired_at IS NULL
      AND s.session_sha256 IN\
      """
          .formatted(SESSION.names("s"), Members.ID);

  /** A session whose member may act. */
  Future<Optional<LiveSession>> find(String id) {
    return database.readFirst(LIVE + " (?)", List.of(id), SessionStore::live);
  }

  /** The sessions with these ids whose member may act. */
  Future<List<LiveSession>> listLive(Set<String> ids) {
    List<String> values = InList.of(List.copyOf(ids));
    return database.read(LIVE + InList.marks(values), values, SessionStore::live);
  }

  Future<Optional<Profile>> findProfile(String orgId, String username) {
    return database.readFirst(
        """
        SELECT o.display, m.email, m.name FROM member m JOIN org o ON o.org_id = m.org_id
        WHERE m.org_id = ? AND m.username = ?\
        """,
        List.of(orgId, username),
        row -> new Profile(row.text("display"), row.text("email"), row.text("name")));
  }

  /**
   * Starts a session, and ends the member's oldest beyond the maximum.
   *
   * @param along stored in the same commit
   */
  Future<Void> start(StoredSession session, Optional<String> replaced, List<Statement> along) {
    String orgId = session.orgId();
    String username = session.username();
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.guarded(
            () ->
                ApiException.of(
                    ErrorCode.FORBIDDEN, "this account was removed or suspended just now"),
            """
            UPDATE member SET last_login_at = ? WHERE org_id = ? AND username = ?
            AND suspended_at IS NULL\
            """,
            session.createdAtMillis(),
            orgId,
            username));
    statements.add(SESSION.insert(session));
    statements.add(
        Statement.of(
            """
            DELETE FROM member_session WHERE org_id = ? AND username = ?
            AND session_sha256 NOT IN (%s)\
            """
                .formatted(NEWEST_OF_MEMBER.formatted("session_sha256", MAX_PER_MEMBER)),
            orgId,
            username,
            orgId,
            username));
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

  /** Updates a session's browser data. */
  Future<Void> note(String id, BrowserInfo browser) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE member_session SET user_agent = ?, address = ? WHERE session_sha256 = ?",
                browser.userAgent(),
                browser.address(),
                id)));
  }

  Future<Void> end(String id) {
    return database.commit(List.of(ending(id)));
  }

  private static Statement ending(String id) {
    return Statement.of("DELETE FROM member_session WHERE session_sha256 = ?", id);
  }

  /** Deletes sessions that have expired or were idle too long. */
  Future<Void> sweep(long nowMillis, long idleMillis) {
    return database.commit(
        List.of(
            Statement.of(
                "DELETE FROM member_session WHERE expires_at <= ? OR seen_at <= ?",
                nowMillis,
                nowMillis - idleMillis)));
  }

  private static LiveSession live(Row row) {
    return new LiveSession(
        session(row),
        new Organization(
            row.text("org_id"),
            row.text("display"),
            row.text("kind"),
            row.truth("ssh_keys_need_write")),
        row.text("member_id"));
  }

  private static StoredSession session(Row row) {
    return new StoredSession(
        row.text("session_sha256"),
        row.text("org_id"),
        row.text("username"),
        row.integer("created_at"),
        row.integer("seen_at"),
        row.integer("expires_at"),
        new BrowserInfo(row.text("user_agent"), row.text("address")));
  }
}
