package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Rows of operator tokens. */
final class OperatorTokenStore {
  /** Selects the oldest row. Rows are never deleted, so every process selects the same one. */
  private static final String OLDEST =
      """
      UPDATE operator_token SET name = name WHERE token_id =
      (SELECT token_id FROM operator_token ORDER BY created_at, token_id LIMIT 1)\
      """;

  private static final String REVOKED_AT = AccessStore.operatorRevokedAt("");

  private static final String LIVE =
      REVOKED_AT + " IS NULL AND (expires_at IS NULL OR expires_at > ?)";

  private final Database database;

  OperatorTokenStore(Database database) {
    this.database = database;
  }

  /** Returns a page of all tokens, by id, including revoked and expired ones. */
  Future<Page<OperatorTokenView>> list(int limit, Optional<String> after) {
    return database
        .read(
            """
            SELECT token_id, name, read_only, site, created_by, created_at, expires_at,
            %s AS truly_revoked_at FROM operator_token WHERE token_id > ? ORDER BY token_id LIMIT ?\
            """
                .formatted(REVOKED_AT),
            List.of(after.orElse(""), limit + 1),
            OperatorTokenStore::view)
        .map(found -> Page.of(found, limit));
  }

  /** Returns a statement that serializes writes to operator tokens; must come first in a commit. */
  static Statement lock() {
    return Statement.of(OLDEST);
  }

  /** Returns a statement that fails unless fewer than {@code most} tokens are live. */
  static Statement requireFewer(int most, long nowMillis) {
    return Statement.guarded(
        () ->
            conflict(
                "limit", "%s operator tokens are live, which is the limit; revoke one first", most),
        "%s AND (SELECT COUNT(*) FROM operator_token WHERE %s) < %s".formatted(OLDEST, LIVE, most),
        nowMillis);
  }

  /** Returns the error for a name that another token has or had. */
  static ApiException nameTaken(String name) {
    return conflict(
        "exists",
        "name: %s is taken; a name is never used again, so that the trail tells operators apart",
        name);
  }

  static Statement revoke(String tokenId, long nowMillis) {
    return Statement.guarded(
        () -> ApiException.notFound("live operator token", tokenId),
        """
        UPDATE operator_token SET revoked_at = COALESCE(revoked_at, ?), ended_at = ?
        WHERE token_id = ? AND %s IS NULL\
        """
            .formatted(REVOKED_AT),
        nowMillis,
        nowMillis,
        tokenId);
  }

  /** Returns a statement that fails unless another live operator token is unrestricted. */
  static Statement requireAnyLive(String revokedId, long nowMillis) {
    return Statement.guarded(
        () ->
            conflict(
                "last",
                "token %s is the last live operator token that may do all; mint another first",
                revokedId),
        "%s AND EXISTS (SELECT 1 FROM operator_token WHERE read_only = 0 AND site IS NULL AND %s)"
            .formatted(OLDEST, LIVE),
        nowMillis);
  }

  private static ApiException conflict(String reason, String template, Object argument) {
    return ApiException.of(ErrorCode.CONFLICT, template, argument).with("reason", reason);
  }

  private static OperatorTokenView view(Row row) {
    return new OperatorTokenView(
        row.text("token_id"),
        row.text("name"),
        AccessStore.reach(row),
        row.text("created_by"),
        row.integer("created_at"),
        row.integerOrNull("expires_at"),
        row.integerOrNull("truly_revoked_at"));
  }
}
