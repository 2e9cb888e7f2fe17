package dev.bourse.org;

import dev.bourse.access.AccessStore;
import dev.bourse.access.LimitStore;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the rows of an organization's tokens, and the audit rows of mints and revokes.
 */
public final class TokenStore {
  /** The detail of a token's audit rows, as SQL. */
  private static final String NAMED = "'token_id=' || token_id || ' name=' || name";

  private static final String SELECT =
      """
      SELECT token_id, name, scopes, cluster, created_by, created_at, expires_at, last_used_at,
      revoked_at, %s FROM token WHERE org_id = ?\
      """
          .formatted(LimitStore.COLUMNS);

  private static final String NEWEST_FIRST = " ORDER BY created_at DESC, token_id DESC LIMIT ?";

  /** Tokens shown at once: all live ones, which are fewer, and the newest of the others. */
  private static final int MAX_TOKENS = 1_000;

  private final Database database;

  TokenStore(Database database) {
    this.database = database;
  }

  /** A new token, and the audit row of its mint. */
  public static List<Statement> mintStatements(Token token, String actor) {
    return List.of(
        AccessStore.insert(token),
        AuditStore.insert(
            new AuditRow(
                token.createdAtMillis(),
                token.orgId(),
                actor,
                "vm_token_mint",
                token.orgId(),
                detail(token))));
  }

  private static String detail(Token token) {
    Long expiresAt = token.expiresAtMillis();
    return "token_id=%s name=%s scopes=[%s]%s%s%s created_by=%s"
        .formatted(
            token.tokenId(),
            Text.shown(token.name()),
            String.join(",", Scope.labels(token.scopes())),
            token.cluster() == null ? "" : " cluster=" + token.cluster(),
            expiresAt == null ? "" : " expires_at=" + Times.rfc3339(expiresAt),
            token.limits().detail(),
            token.createdBy());
  }

  /** The audit row of a revoke; it precedes the revoke because it reads the token's name. */
  static Statement revokeRow(AuditRow row, String tokenId) {
    return AuditStore.insertEach(
        row, NAMED, "token WHERE token_id = ? AND org_id = ?", tokenId, row.orgId());
  }

  /** The audit row of a renaming; it precedes the renaming because it reads the old name. */
  static Statement renameRow(AuditRow row, String tokenId, String name) {
    return AuditStore.insertEach(
        row,
        NAMED + " || ' new_name=' || CAST(? AS TEXT)",
        "token WHERE token_id = ? AND org_id = ?",
        Text.shown(name),
        tokenId,
        row.orgId());
  }

  /**
   * The audit row of narrowed limits.
   *
   * @param next the new limits
   */
  static Statement narrowRow(AuditRow row, String tokenId, TokenLimits next) {
    return AuditStore.insertEach(
        row,
        NAMED + " || CAST(? AS TEXT)",
        "token WHERE token_id = ? AND org_id = ?",
        next.detail(),
        tokenId,
        row.orgId());
  }

  /** Revokes every live token a member minted, with a row for each. */
  static List<Statement> offboard(String orgId, String username, long nowMillis) {
    return offboard(
        orgId, "org_id = ? AND created_by = ?", nowMillis, List.of(orgId, "member:" + username));
  }

  /** Revokes every live token of an organization, with a row for each. */
  static List<Statement> offboard(String orgId, long nowMillis) {
    return offboard(orgId, "org_id = ?", nowMillis, List.of(orgId));
  }

  private static List<Statement> offboard(
      String orgId, String whose, long nowMillis, List<String> parameters) {
    String live = whose + " AND revoked_at IS NULL";
    List<@Nullable Object> revoke = new ArrayList<>(List.of(nowMillis));
    revoke.addAll(parameters);
    return List.of(
        // Locks them first, so that no holder revokes one between its audit row and its revoke.
        Statement.of("UPDATE token SET revoked_at = NULL WHERE " + live, parameters.toArray()),
        AuditStore.insertEach(
            new AuditRow(nowMillis, orgId, Offboarding.ACTOR, "vm_token_revoke", orgId, ""),
            NAMED,
            "token WHERE " + live + " ORDER BY created_at, token_id",
            parameters.toArray()),
        new Statement("UPDATE token SET revoked_at = ? WHERE " + live, revoke, null, 0));
  }

  /**
   * Revokes the token that makes this call, and records the call as its last use.
   *
   * @return changes no row when the token is revoked already
   */
  static Statement revokeOwn(String orgId, String tokenId, long atMillis) {
    return Statement.of(
        """
        UPDATE token SET revoked_at = ?, last_used_at = ?
        WHERE token_id = ? AND org_id = ? AND revoked_at IS NULL\
        """,
        atMillis,
        atMillis,
        tokenId,
        orgId);
  }

  /** An organization's tokens, live and not, the newest first. */
  Future<List<TokenView>> listNewest(String orgId) {
    return database.read(SELECT + NEWEST_FIRST, List.of(orgId, MAX_TOKENS), TokenStore::view);
  }

  /**
   * A page of an organization's tokens, the newest first.
   *
   * @param after the token before the page; fails with {@code bad-request} if the organization has
   *     no such token
   */
  Future<Page<TokenView>> list(String orgId, int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    String from =
        after.isEmpty()
            ? ""
            : """
             AND (created_at, token_id) <
            (SELECT created_at, token_id FROM token WHERE token_id = ?)\
            """;
    return requireKnown(orgId, after)
        .compose(known -> database.read(SELECT + from + NEWEST_FIRST, parameters, TokenStore::view))
        .map(found -> Page.of(found, limit));
  }

  private Future<Void> requireKnown(String orgId, Optional<String> after) {
    return after
        .map(tokenId -> has(orgId, tokenId))
        .orElseGet(() -> Future.succeededFuture(true))
        .compose(
            known ->
                known
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        ApiException.badField(
                            "after", after.get(), "the last token_id of the previous page")));
  }

  /** A token of the organization's, live or not. */
  Future<Optional<TokenView>> find(String orgId, String tokenId) {
    return database.readFirst(
        SELECT + " AND token_id = ?", List.of(orgId, tokenId), TokenStore::view);
  }

  /**
   * The number of live tokens each member minted, by username; members without any are left out.
   */
  Future<Map<String, Long>> countLive(String orgId, long nowMillis) {
    return database
        .read(
            """
            SELECT created_by, COUNT(*) AS live FROM token WHERE org_id = ?
            AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
            AND created_by LIKE 'member:%' GROUP BY created_by\
            """,
            List.of(orgId, nowMillis),
            row ->
                Map.entry(
                    row.text("created_by").substring("member:".length()), row.integer("live")))
        .map(
            found ->
                found.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
  }

  /** Whether a token is or was one of the organization's. */
  Future<Boolean> has(String orgId, String tokenId) {
    return database.exists(
        "SELECT 1 FROM token WHERE token_id = ? AND org_id = ?", List.of(tokenId, orgId));
  }

  /** Live tokens that a member minted, oldest first. */
  Future<List<TokenView>> listLive(String orgId, String username, long nowMillis) {
    return database.read(
        SELECT
            + """
               AND created_by = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
              ORDER BY created_at, token_id LIMIT\
              """
            + ' '
            + MAX_TOKENS,
        List.of(orgId, "member:" + username, nowMillis),
        TokenStore::view);
  }

  /** Ids of tokens of a member that were revoked at that moment, oldest first. */
  Future<List<String>> listRevoked(String orgId, String username, long atMillis) {
    return database.read(
        """
        SELECT token_id FROM token WHERE org_id = ? AND created_by = ? AND revoked_at = ?
        ORDER BY created_at, token_id\
        """,
        List.of(orgId, "member:" + username, atMillis),
        row -> row.text("token_id"));
  }

  private static TokenView view(Row row) {
    return new TokenView(
        row.text("token_id"),
        row.text("name"),
        Stream.of(row.text("scopes").split(" ", -1)).filter(label -> !label.isEmpty()).toList(),
        row.textOrNull("cluster"),
        row.text("created_by"),
        row.integer("created_at"),
        row.integerOrNull("expires_at"),
        row.integerOrNull("last_used_at"),
        row.integerOrNull("revoked_at"),
        TokenLimits.of(row));
  }
}
