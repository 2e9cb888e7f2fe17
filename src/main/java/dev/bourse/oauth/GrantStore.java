package dev.bourse.oauth;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.signin.Session;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads and writes the rows of grants, codes and refresh tokens. */
final class GrantStore {
  private static final Columns<Grant> GRANT =
      LimitStore.columns(
          Columns.<Grant>of("oauth_grant")
              .fixed("grant_id", Grant::grantId)
              .fixed("org_id", Grant::orgId)
              .fixed("username", Grant::username)
              .fixed("client_id", Grant::clientId)
              .fixed("client_name", Grant::clientName)
              .fixed("scopes", grant -> Scope.text(grant.scopes()))
              .fixed("resource", Grant::resource)
              .fixed("refreshable", Grant::refreshable)
              .fixed("created_at", Grant::createdAtMillis)
              .changing("idle_until", Grant::idleUntilMillis)
              .fixed("expires_at", Grant::expiresAtMillis)
              .changing("revoked_at", Grant::revokedAtMillis)
              .changing("used_at", Grant::usedAtMillis),
          Grant::limits);

  private static final String SELECT = "SELECT %s FROM oauth_grant g".formatted(GRANT.names("g"));

  private final Database database;

  GrantStore(Database database) {
    this.database = database;
  }

  /** A code with its grant. */
  record Code(
      Grant grant, String redirectUri, String challenge, long expiresAtMillis, boolean isUsed) {}

  /**
   * The grant of a refresh token.
   *
   * @param isUsed whether a later refresh token replaced this one
   */
  record Refresh(Grant grant, boolean isUsed) {}

  /**
   * Fails the commit when a session has ended. The first statement locks the member, as suspending,
   * removing and signing out do before they read the grants, so that these operations are
   * serialized. The second looks for the session under the lock, because PostgreSQL evaluates the
   * other conditions of the first statement on the state before it waited.
   */
  static List<Statement> requireSession(Session session) {
    String lock =
        """
        UPDATE member SET username = username WHERE org_id = ? AND username = ?
        AND suspended_at IS NULL\
        """;
    return List.of(
        Statement.guarded(GrantStore::signedOut, lock, session.orgId(), session.username()),
        Statement.guarded(
            GrantStore::signedOut,
            lock + " AND EXISTS (SELECT 1 FROM member_session WHERE session_sha256 = ?)",
            session.orgId(),
            session.username(),
            session.id()));
  }

  /**
   * Fails the commit when the grant of the caller's token has ended, or its member was suspended or
   * removed. Both rows are locked, in the order in which signing out everywhere writes them.
   *
   * @param grantId null for a token without a grant
   */
  static List<Statement> requireGrant(String orgId, String username, @Nullable String grantId) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.guarded(
            GrantStore::signedOut,
            """
            UPDATE member SET username = username WHERE org_id = ? AND username = ?
            AND suspended_at IS NULL\
            """,
            orgId,
            username));
    if (grantId != null) {
      statements.add(
          Statement.guarded(
              () ->
                  ApiException.of(ErrorCode.UNAUTHORIZED, "the permission was taken back just now"),
              """
              UPDATE oauth_grant SET revoked_at = revoked_at
              WHERE grant_id = ? AND revoked_at IS NULL\
              """,
              grantId));
    }
    return statements;
  }

  static ApiException signedOut() {
    return ApiException.of(
        ErrorCode.FORBIDDEN, "you were signed out in the meantime; sign in again");
  }

  static Statement insert(Grant grant) {
    return GRANT.insert(grant);
  }

  static Statement insertCode(
      String codeSha256, Grant grant, AuthorizationRequest request, long expiresAtMillis) {
    return Statement.of(
        """
        INSERT INTO oauth_code (code_sha256, grant_id, redirect_uri, challenge, expires_at)
        VALUES (?, ?, ?, ?, ?)\
        """,
        codeSha256,
        grant.grantId(),
        request.redirectUri(),
        request.challenge(),
        expiresAtMillis);
  }

  /** Stores the first refresh token of a grant's family. */
  static Statement insertRefresh(RefreshToken first, String grantId) {
    return Statement.of(
        "INSERT INTO oauth_refresh (family_sha256, grant_id, refresh_sha256) VALUES (?, ?, ?)",
        first.familySha256(),
        grantId,
        first.sha256());
  }

  /** Marks a code used; fails the commit with {@link ReplayException} if it was used before. */
  static Statement useCode(String codeSha256, long nowMillis) {
    return Statement.guarded(
        ReplayException::new,
        "UPDATE oauth_code SET used_at = ? WHERE code_sha256 = ? AND used_at IS NULL",
        nowMillis,
        codeSha256);
  }

  /**
   * Replaces a family's newest refresh token with the next; fails the commit with {@link
   * ReplayException} if the token is no longer the newest.
   */
  static Statement useRefresh(RefreshToken used, RefreshToken next) {
    return Statement.guarded(
        ReplayException::new,
        """
        UPDATE oauth_refresh SET refresh_sha256 = ? WHERE family_sha256 = ?
        AND refresh_sha256 = ?\
        """,
        next.sha256(),
        used.familySha256(),
        used.sha256());
  }

  /**
   * Prolongs a grant; fails the commit when it was revoked or its member may not act. A member who
   * joined after the grant was made is not its author, even with the same name.
   */
  static Statement prolong(String grantId, long nowMillis, long idleUntilMillis) {
    return Statement.guarded(
        Grants::grantRevoked,
        """
        UPDATE oauth_grant SET begun_at = COALESCE(begun_at, CAST(? AS BIGINT)), idle_until = ?,
        used_at = ?
        WHERE grant_id = ? AND revoked_at IS NULL AND EXISTS (SELECT 1 FROM member m
        WHERE m.org_id = oauth_grant.org_id AND m.username = oauth_grant.username
        AND m.suspended_at IS NULL AND m.created_at <= oauth_grant.created_at)\
        """,
        nowMillis,
        idleUntilMillis,
        nowMillis,
        grantId);
  }

  /**
   * Revokes a grant.
   *
   * @param ended the failure of the commit when the grant was revoked before
   */
  static Statement revoke(
      String grantId, long nowMillis, Supplier<? extends RuntimeException> ended) {
    return Statement.guarded(
        ended,
        "UPDATE oauth_grant SET revoked_at = ? WHERE grant_id = ? AND revoked_at IS NULL",
        nowMillis,
        grantId);
  }

  Future<Optional<Code>> findCode(String codeSha256) {
    return database.readFirst(
        """
        SELECT %s, c.redirect_uri, c.challenge, c.expires_at AS code_expires_at,
        c.used_at AS code_used_at
        FROM oauth_code c JOIN oauth_grant g ON g.grant_id = c.grant_id
        WHERE c.code_sha256 = ?\
        """
            .formatted(GRANT.names("g")),
        List.of(codeSha256),
        row ->
            new Code(
                grant(row),
                row.text("redirect_uri"),
                row.text("challenge"),
                row.integer("code_expires_at"),
                row.integerOrNull("code_used_at") != null));
  }

  Future<Optional<Refresh>> findRefresh(RefreshToken token) {
    return database.readFirst(
        """
        SELECT %s, r.refresh_sha256 FROM oauth_refresh r
        JOIN oauth_grant g ON g.grant_id = r.grant_id WHERE r.family_sha256 = ?\
        """
            .formatted(GRANT.names("g")),
        List.of(token.familySha256()),
        row -> new Refresh(grant(row), !row.text("refresh_sha256").equals(token.sha256())));
  }

  Future<Optional<Grant>> find(String grantId) {
    return database.readFirst(
        SELECT + " WHERE g.grant_id = ?", List.of(grantId), GrantStore::grant);
  }

  /** A member's grants to applications in force that have issued tokens, the newest first. */
  Future<List<Grant>> list(String orgId, String username, long nowMillis, int limit, int skip) {
    return database.read(
        SELECT
            + """
             WHERE g.org_id = ? AND g.username = ? AND g.revoked_at IS NULL
            AND g.publish_bytes IS NULL AND g.begun_at IS NOT NULL AND g.idle_until > ?
            AND g.expires_at > ?
            ORDER BY g.created_at DESC, g.grant_id LIMIT ? OFFSET ?\
            """,
        List.of(orgId, username, nowMillis, nowMillis, limit, skip),
        GrantStore::grant);
  }

  /** The names of a member's live publishing credentials, the newest first. */
  Future<List<String>> listCredentials(String orgId, String username, long nowMillis) {
    return database.read(
        """
        SELECT client_name FROM oauth_grant WHERE org_id = ? AND username = ?
        AND publish_bytes IS NOT NULL AND revoked_at IS NULL AND expires_at > ?
        ORDER BY created_at DESC, grant_id\
        """,
        List.of(orgId, username, nowMillis),
        row -> row.text("client_name"));
  }

  /** Stores narrower limits of a grant, which apply from the next write of its tokens. */
  Future<Void> narrow(Grant grant, TokenLimits next, long nowMillis) {
    return database.commit(
        List.of(
            LimitStore.narrow(
                "oauth_grant",
                "grant_id",
                grant.grantId(),
                grant.limits(),
                next,
                () ->
                    ApiException.retryLater(
                        ErrorCode.OVERLOADED,
                        "the limits were changed at the same time; nothing was written",
                        1_000)),
            AuditStore.insert(grant.under(next).row("oauth_narrow", nowMillis, ""))));
  }

  /** Deletes expired rows one day late, so that errors can give the reason until then. */
  static List<Statement> sweep(long nowMillis, long keptMillis) {
    long before = nowMillis - keptMillis;
    String ended = "idle_until < ? OR expires_at < ? OR revoked_at < ?";
    String ofEnded =
        "DELETE FROM %s WHERE grant_id IN (SELECT grant_id FROM oauth_grant WHERE " + ended + ")";
    return List.of(
        Statement.of(ofEnded.formatted("oauth_refresh"), before, before, before),
        Statement.of("DELETE FROM oauth_code WHERE expires_at < ?", before),
        Statement.of(ofEnded.formatted("oauth_code"), before, before, before),
        Statement.of("DELETE FROM oauth_device WHERE expires_at < ?", before),
        Statement.of("DELETE FROM oauth_grant WHERE " + ended, before, before, before));
  }

  private static Grant grant(Row row) {
    return new Grant(
        row.text("grant_id"),
        row.text("org_id"),
        row.text("username"),
        row.text("client_id"),
        row.text("client_name"),
        Scope.parse(row.text("scopes")),
        row.text("resource"),
        row.truth("refreshable"),
        row.integer("created_at"),
        row.integer("idle_until"),
        row.integer("expires_at"),
        row.integerOrNull("revoked_at"),
        row.integerOrNull("used_at"),
        TokenLimits.of(row));
  }
}
