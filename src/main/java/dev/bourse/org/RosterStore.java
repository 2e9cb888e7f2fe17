package dev.bourse.org;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of members. */
public final class RosterStore {
  private static final String COLUMNS =
      "SELECT username, email, name, created_at, last_login_at, suspended_at FROM member"
          + " WHERE org_id = ?";

  private final Database database;

  RosterStore(Database database) {
    this.database = database;
  }

  /**
   * A member.
   *
   * @param username unique in the organization
   * @param email where mail reaches them
   * @param name for people
   * @param createdAtMillis since when they are a member
   * @param lastLoginAtMillis when they last signed in, null for never
   * @param suspendedAtMillis since when they may not sign in, null while they may
   */
  public record Member(
      String username,
      String email,
      String name,
      long createdAtMillis,
      @Nullable Long lastLoginAtMillis,
      @Nullable Long suspendedAtMillis) {}

  /** A new member. */
  public static Statement insert(
      String orgId, String username, String email, String name, long nowMillis) {
    return Statement.of(
        "INSERT INTO member (org_id, username, email, name, created_at) VALUES (?, ?, ?, ?, ?)",
        orgId,
        username,
        email,
        name,
        nowMillis);
  }

  /**
   * A username that nobody of the organization has or had, in SQL with organization and username as
   * parameters. A name is never given twice: what a removed member did and made stands under it in
   * trails, in lists of tokens, at files, for good.
   */
  static final String UNGIVEN =
      "NOT EXISTS (SELECT 1 FROM given_username WHERE org_id = ? AND username = ?)";

  /** Keeps that a username was given. Rows are as many as members ever were. */
  static Statement give(String orgId, String username, long nowMillis) {
    return Statement.of(
        "INSERT INTO given_username (org_id, username, given_at) VALUES (?, ?, ?)"
            + " ON CONFLICT DO NOTHING",
        orgId,
        username,
        nowMillis);
  }

  /**
   * Keeps that a member was removed, so that no rule of a domain brings them back, nobody gets
   * their username, and takes back invitations of theirs. Before the removal. Rows are as many as
   * removed addresses.
   */
  static List<Statement> remember(String orgId, String username, long nowMillis) {
    return List.of(
        // The version before gave names and did not keep that it did.
        Statement.of(
            "INSERT INTO given_username (org_id, username, given_at) SELECT org_id, username,"
                + " created_at FROM member WHERE org_id = ? AND username = ? ON CONFLICT DO"
                + " NOTHING",
            orgId,
            username),
        Statement.of(
            "INSERT INTO removed_member (org_id, email, removed_at)"
                + " SELECT org_id, lower(email), ? FROM member WHERE org_id = ? AND username = ?"
                + " ON CONFLICT (org_id, email) DO UPDATE SET removed_at = excluded.removed_at",
            nowMillis,
            orgId,
            username),
        Statement.of(
            "DELETE FROM join_rule WHERE org_id = ? AND kind = 'email' AND value ="
                + " (SELECT lower(email) FROM member WHERE org_id = ? AND username = ?)",
            orgId,
            orgId,
            username));
  }

  /** Somebody let the address in again. */
  static Statement forgetRemoval(String orgId, String address) {
    return Statement.of(
        "DELETE FROM removed_member WHERE org_id = ? AND email = ?", orgId, address);
  }

  /** An invitation is for one sign-in. */
  static Statement consumeInvitation(String orgId, String address) {
    return Statement.of(
        "DELETE FROM join_rule WHERE org_id = ? AND kind = 'email' AND value = ?", orgId, address);
  }

  /** Ends every session of a member. */
  static Statement endSessions(String orgId, String username) {
    return Statement.of(
        "DELETE FROM member_session WHERE org_id = ? AND username = ?", orgId, username);
  }

  /** A page of an organization's members, by username. */
  Future<Page<Member>> list(String orgId, int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    return database
        .read(
            COLUMNS + (after.isPresent() ? " AND username > ?" : "") + " ORDER BY username LIMIT ?",
            parameters,
            RosterStore::member)
        .map(found -> Page.of(found, limit));
  }

  Future<Optional<Member>> find(String orgId, String username) {
    return database
        .read(COLUMNS + " AND username = ?", List.of(orgId, username), RosterStore::member)
        .map(found -> found.stream().findFirst());
  }

  private static Member member(Row row) {
    return new Member(
        row.text(0),
        row.text(1),
        row.text(2),
        row.integer(3),
        row.integerOrNull(4),
        row.integerOrNull(5));
  }
}
