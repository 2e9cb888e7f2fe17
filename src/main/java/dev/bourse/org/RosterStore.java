package dev.bourse.org;

import dev.bourse.access.Offboarding;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Reads and writes the rows of members, of usernames ever given, and of removed addresses. */
public final class RosterStore {
  /** The longest roster read at once, far beyond any organization's: a few MB. */
  private static final int MAX_MEMBERS = 10_000;

  private static final Columns<Member> MEMBER =
      Columns.<Member>of("member")
          .fixed("org_id", Member::orgId)
          .fixed("username", Member::username)
          .changing("email", Member::email)
          .changing("name", Member::name)
          .fixed("created_at", Member::createdAtMillis)
          .changing("last_login_at", Member::lastLoginAtMillis)
          .changing("suspended_at", Member::suspendedAtMillis);

  /** Members of an organization, as SQL. */
  static final String SELECT = "SELECT %s FROM member WHERE org_id = ?".formatted(MEMBER.names());

  /**
   * A condition, as SQL, that a username has no present or past owner in the organization; its
   * parameters are the organization and the username. Usernames are never reused, because the
   * activity of a removed member stays under the name in trails, in lists of tokens and on files.
   */
  static final String IS_NEW_USERNAME =
      "NOT EXISTS (SELECT 1 FROM given_username WHERE org_id = ? AND username = ?)";

  private final Database database;

  RosterStore(Database database) {
    this.database = database;
  }

  /** Stores a new member. */
  public static Statement insert(Member member) {
    return MEMBER.insert(member);
  }

  /**
   * Stores the rows of a new member: the member, the username for good, and no removal of the
   * address.
   */
  static List<Statement> join(Member member) {
    return List.of(
        insert(member),
        Statement.of(
            """
            INSERT INTO given_username (org_id, username, given_at) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING\
            """,
            member.orgId(),
            member.username(),
            member.createdAtMillis()),
        Statement.of(
            "DELETE FROM removed_member WHERE org_id = ? AND email = ?",
            member.orgId(),
            Text.folded(member.email())));
  }

  /**
   * Stores, before a member is removed, the removed address, so that no domain rule readmits it,
   * and the given username. Also withdraws invitations of the address. There is one row per removed
   * address.
   */
  static List<Statement> remember(String orgId, String username, long nowMillis) {
    return List.of(
        // A member stored by an earlier version of this program may have no row for the name.
        Statement.of(
            """
            INSERT INTO given_username (org_id, username, given_at) SELECT org_id, username,
            created_at FROM member WHERE org_id = ? AND username = ? ON CONFLICT DO NOTHING\
            """,
            orgId,
            username),
        Statement.of(
            """
            INSERT INTO removed_member (org_id, email, removed_at)
            SELECT org_id, lower(email), ? FROM member WHERE org_id = ? AND username = ?
            ON CONFLICT (org_id, email) DO UPDATE SET removed_at = excluded.removed_at\
            """,
            nowMillis,
            orgId,
            username),
        removeRule(orgId, username));
  }

  /**
   * Removes the rule that the member's address uses; otherwise it would invite the address again.
   */
  static Statement removeRule(String orgId, String username) {
    return Statement.of(
        """
        DELETE FROM join_rule WHERE org_id = ? AND kind = 'email' AND value =
        (SELECT lower(email) FROM member WHERE org_id = ? AND username = ?)\
        """,
        orgId,
        orgId,
        username);
  }

  /**
   * Withdraws the open invitations that a member sent, with their mailed links and an audit row for
   * each, because one of them may be for another address of the member. Rules that other members
   * used stay.
   */
  static List<Statement> withdrawInvitations(String orgId, String username, long nowMillis) {
    String actor = "member:" + username;
    String sent = JoinRuleStore.SENT;
    return List.of(
        AuditStore.insertEach(
            new AuditRow(nowMillis, orgId, Offboarding.ACTOR, "invitation_withdraw", orgId, ""),
            "'rule_id=' || rule_id || ' email=' || value",
            sent + " ORDER BY created_at, rule_id",
            orgId,
            actor),
        Statement.of(
            "DELETE FROM sign_in_link WHERE org_id = ? AND email IN (SELECT value FROM %s)"
                .formatted(sent),
            orgId,
            orgId,
            actor),
        Statement.of("DELETE FROM " + sent, orgId, actor));
  }

  /** Counts a member's sessions that have not expired. */
  Future<Long> countSessions(String orgId, String username, long nowMillis) {
    return database.readOne(
        """
        SELECT COUNT(*) AS sessions FROM member_session
        WHERE org_id = ? AND username = ? AND expires_at > ?\
        """,
        List.of(orgId, username, nowMillis),
        row -> row.integer("sessions"));
  }

  /** Ends every session of every member of an organization. */
  static Statement endSessions(String orgId) {
    return Statement.of("DELETE FROM member_session WHERE org_id = ?", orgId);
  }

  /** Ends every session of a member. */
  static Statement endSessions(String orgId, String username) {
    return Statement.of(
        "DELETE FROM member_session WHERE org_id = ? AND username = ?", orgId, username);
  }

  /** All of an organization's members, by username. */
  Future<List<Member>> listAll(String orgId) {
    return list(orgId, "", MAX_MEMBERS);
  }

  /** A page of an organization's members, by username. */
  Future<Page<Member>> list(String orgId, int limit, Optional<String> after) {
    return list(orgId, after.orElse(""), limit + 1).map(found -> Page.of(found, limit));
  }

  private Future<List<Member>> list(String orgId, String after, int limit) {
    return database.read(
        SELECT + " AND username > ? ORDER BY username LIMIT ?",
        List.of(orgId, after, limit),
        RosterStore::member);
  }

  Future<Optional<Member>> find(String orgId, String username) {
    return database.readFirst(
        SELECT + " AND username = ?", List.of(orgId, username), RosterStore::member);
  }

  static Member member(Row row) {
    return new Member(
        row.text("org_id"),
        row.text("username"),
        row.text("email"),
        row.text("name"),
        row.integer("created_at"),
        row.integerOrNull("last_login_at"),
        row.integerOrNull("suspended_at"));
  }
}
