package dev.bourse.oauth;

import dev.bourse.signin.Session;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of grants, codes and refresh tokens. */
final class GrantStore {
  private static final String GRANT =
      "g.grant_id, g.org_id, g.username, g.client_id, g.client_name, g.scopes, g.resource,"
          + " g.refreshable, g.created_at, g.idle_until, g.expires_at, g.revoked_at";

  /** The guard of whoever comes second. */
  static final String USED = "used";

  /** The guard of a consent whose session has ended. */
  static final String SESSION = "session";

  private final Database database;

  GrantStore(Database database) {
    this.database = database;
  }

  /** A code and the grant it begins. */
  record Code(
      Grant grant, String redirectUri, String challenge, long expiresAtMillis, boolean isUsed) {}

  /** The grant a refresh token goes on with, and whether another has come after the token. */
  record Refresh(Grant grant, boolean isUsed) {}

  /**
   * Fails the commit when a session has ended. It locks the member, as suspending and removing do
   * before they look which grants there are: of the two, either waits for the other.
   */
  static Statement requireSession(Session session) {
    return Statement.guarded(
        SESSION,
        "UPDATE member SET username = username WHERE org_id = ? AND username = ?"
            + " AND suspended_at IS NULL"
            + " AND EXISTS (SELECT 1 FROM member_session WHERE session_sha256 = ?)",
        session.orgId(),
        session.username(),
        session.id());
  }

  static Statement insert(Grant grant) {
    return Statement.of(
        "INSERT INTO oauth_grant (grant_id, org_id, username, client_id, client_name, scopes,"
            + " resource, refreshable, created_at, idle_until, expires_at)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        grant.grantId(),
        grant.orgId(),
        grant.username(),
        grant.clientId(),
        grant.clientName(),
        Scopes.text(grant.scopes()),
        grant.resource(),
        grant.refreshable(),
        grant.createdAtMillis(),
        grant.idleUntilMillis(),
        grant.expiresAtMillis());
  }

  static Statement insertCode(
      String codeSha256, Grant grant, AuthorizationRequest request, long expiresAtMillis) {
    return Statement.of(
        "INSERT INTO oauth_code (code_sha256, grant_id, redirect_uri, challenge, expires_at)"
            + " VALUES (?, ?, ?, ?, ?)",
        codeSha256,
        grant.grantId(),
        request.redirectUri(),
        request.challenge(),
        expiresAtMillis);
  }

  /** Begins the one family of a grant. */
  static Statement insertRefresh(RefreshToken first, String grantId) {
    return Statement.of(
        "INSERT INTO oauth_refresh (family_sha256, grant_id, refresh_sha256) VALUES (?, ?, ?)",
        first.familySha256(),
        grantId,
        first.sha256());
  }

  static Statement useCode(String codeSha256, long nowMillis) {
    return Statement.guarded(
        USED,
        "UPDATE oauth_code SET used_at = ? WHERE code_sha256 = ? AND used_at IS NULL",
        nowMillis,
        codeSha256);
  }

  /** Puts the next token in the place of one that is its family's newest. */
  static Statement useRefresh(RefreshToken used, RefreshToken next) {
    return Statement.guarded(
        USED,
        "UPDATE oauth_refresh SET refresh_sha256 = ? WHERE family_sha256 = ?"
            + " AND refresh_sha256 = ?",
        next.sha256(),
        used.familySha256(),
        used.sha256());
  }

  /** The grant goes on; fails the commit when it was revoked, or its member is away. */
  static Statement prolong(String grantId, long nowMillis, long idleUntilMillis) {
    return Statement.guarded(
        "revoked",
        "UPDATE oauth_grant SET begun_at = COALESCE(begun_at, CAST(? AS BIGINT)), idle_until = ?"
            + " WHERE grant_id = ? AND revoked_at IS NULL AND EXISTS (SELECT 1 FROM member m"
            // Whoever came later by the same name allowed nothing.
            + " WHERE m.org_id = oauth_grant.org_id AND m.username = oauth_grant.username"
            + " AND m.suspended_at IS NULL AND m.created_at <= oauth_grant.created_at)",
        nowMillis,
        idleUntilMillis,
        grantId);
  }

  /** Ends a grant; fails the commit when it has ended. */
  static Statement revoke(String grantId, long nowMillis) {
    return Statement.guarded(
        "revoked",
        "UPDATE oauth_grant SET revoked_at = ? WHERE grant_id = ? AND revoked_at IS NULL",
        nowMillis,
        grantId);
  }

  Future<Optional<Code>> findCode(String codeSha256) {
    return database
        .read(
            "SELECT "
                + GRANT
                + ", c.redirect_uri, c.challenge, c.expires_at, c.used_at FROM oauth_code c"
                + " JOIN oauth_grant g ON g.grant_id = c.grant_id WHERE c.code_sha256 = ?",
            List.of(codeSha256),
            row ->
                new Code(
                    grant(row),
                    row.text(12),
                    row.text(13),
                    row.integer(14),
                    row.integerOrNull(15) != null))
        .map(found -> found.stream().findFirst());
  }

  Future<Optional<Refresh>> findRefresh(RefreshToken token) {
    return database
        .read(
            "SELECT "
                + GRANT
                + ", r.refresh_sha256 FROM oauth_refresh r"
                + " JOIN oauth_grant g ON g.grant_id = r.grant_id WHERE r.family_sha256 = ?",
            List.of(token.familySha256()),
            row -> new Refresh(grant(row), !row.text(12).equals(token.sha256())))
        .map(found -> found.stream().findFirst());
  }

  Future<Optional<Grant>> find(String grantId) {
    return database
        .read(
            "SELECT " + GRANT + " FROM oauth_grant g WHERE g.grant_id = ?",
            List.of(grantId),
            GrantStore::grant)
        .map(found -> found.stream().findFirst());
  }

  /** A member's that are in force and got a token, the newest first. */
  Future<List<Grant>> list(String orgId, String username, long nowMillis, int limit, int skip) {
    return database.read(
        "SELECT "
            + GRANT
            + " FROM oauth_grant g WHERE g.org_id = ? AND g.username = ? AND g.revoked_at IS NULL"
            + " AND g.begun_at IS NOT NULL AND g.idle_until > ? AND g.expires_at > ?"
            + " ORDER BY g.created_at DESC, g.grant_id LIMIT ? OFFSET ?",
        List.of(orgId, username, nowMillis, nowMillis, limit, skip),
        GrantStore::grant);
  }

  /** Deletes what nothing can come of any more; a day late, so that errors can tell why. */
  static List<Statement> sweep(long nowMillis, long keptMillis) {
    long before = nowMillis - keptMillis;
    String ended =
        "SELECT grant_id FROM oauth_grant WHERE idle_until < ? OR expires_at < ?"
            + " OR revoked_at < ?";
    return List.of(
        Statement.of(
            "DELETE FROM oauth_refresh WHERE grant_id IN (" + ended + ")", before, before, before),
        Statement.of("DELETE FROM oauth_code WHERE expires_at < ?", before),
        Statement.of(
            "DELETE FROM oauth_code WHERE grant_id IN (" + ended + ")", before, before, before),
        Statement.of("DELETE FROM oauth_device WHERE expires_at < ?", before),
        Statement.of(
            "DELETE FROM oauth_grant WHERE idle_until < ? OR expires_at < ? OR revoked_at < ?",
            before,
            before,
            before));
  }

  private static Grant grant(Row row) {
    @Nullable Long revokedAt = row.integerOrNull(11);
    return new Grant(
        row.text(0),
        row.text(1),
        row.text(2),
        row.text(3),
        row.text(4),
        Scopes.stored(row.text(5)),
        row.text(6),
        row.truth(7),
        row.integer(8),
        row.integer(9),
        row.integer(10),
        revokedAt);
  }
}
