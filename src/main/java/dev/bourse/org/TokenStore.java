package dev.bourse.org;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rows of an organization's tokens, with the audit rows that go with them. */
public final class TokenStore {
  /** The actor of revokes that a member's removal or an organization's retirement brings about. */
  static final String OFFBOARD = "system:offboard";

  /** What a revoke's audit row tells. */
  private static final String REVOKED = "'token_id=' || token_id || ' name=' || name";

  private static final String COLUMNS =
      "SELECT token_id, name, scopes, cluster, created_by, created_at, expires_at, last_used_at,"
          + " revoked_at FROM token WHERE org_id = ?";

  private final Database database;

  TokenStore(Database database) {
    this.database = database;
  }

  /**
   * A token as people see it.
   *
   * @param tokenId its public part
   * @param name a label for people
   * @param scopes what it may do
   * @param cluster the one cluster it is bound to, null for all
   * @param createdBy the actor who minted it
   * @param createdAtMillis when
   * @param expiresAtMillis when it stops working, null for never
   * @param lastUsedAtMillis when it was last used, to the minute; null for never
   * @param revokedAtMillis when it was revoked, null when it was not
   */
  public record Listed(
      String tokenId,
      String name,
      List<String> scopes,
      @Nullable String cluster,
      String createdBy,
      long createdAtMillis,
      @Nullable Long expiresAtMillis,
      @Nullable Long lastUsedAtMillis,
      @Nullable Long revokedAtMillis) {}

  /** A new token, and the row that records who minted it. */
  public static List<Statement> minted(Token token, String actor) {
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
    return "token_id="
        + token.tokenId()
        + " name="
        + Text.shown(token.name())
        + token.scopes().stream()
            .map(Scope::label)
            .sorted()
            .collect(Collectors.joining(",", " scopes=[", "]"))
        + (token.cluster() == null ? "" : " cluster=" + token.cluster())
        + (expiresAt == null ? "" : " expires_at=" + Times.rfc3339(expiresAt))
        + " created_by="
        + token.createdBy();
  }

  /** The row that records a revoke; goes before the revoke itself, whose name it reads. */
  static Statement revoking(AuditRow row, String tokenId) {
    return AuditStore.insertEach(
        row, REVOKED, "token WHERE token_id = ? AND org_id = ?", tokenId, row.orgId());
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
        // Locks them first, so that none is revoked by its holder between its row and its revoke.
        Statement.of("UPDATE token SET revoked_at = NULL WHERE " + live, parameters.toArray()),
        AuditStore.insertEach(
            new AuditRow(nowMillis, orgId, OFFBOARD, "vm_token_revoke", orgId, ""),
            REVOKED,
            "token WHERE " + live + " ORDER BY created_at, token_id",
            parameters.toArray()),
        new Statement("UPDATE token SET revoked_at = ? WHERE " + live, revoke, null, 0));
  }

  /**
   * A page of an organization's tokens, the newest first.
   *
   * @param after the token the page goes on after; fails with {@code bad-request} when the
   *     organization has none such
   */
  Future<Page<Listed>> list(String orgId, int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    return requireKnown(orgId, after)
        .compose(
            known ->
                database.read(
                    COLUMNS
                        + (after.isPresent()
                            ? " AND (created_at, token_id) <"
                                + " (SELECT created_at, token_id FROM token WHERE token_id = ?)"
                            : "")
                        + " ORDER BY created_at DESC, token_id DESC LIMIT ?",
                    parameters,
                    TokenStore::listed))
        .map(found -> Page.of(found, limit));
  }

  private Future<Void> requireKnown(String orgId, Optional<String> after) {
    return after.isEmpty()
        ? Future.succeededFuture()
        : database
            .read(
                "SELECT 1 FROM token WHERE token_id = ? AND org_id = ?",
                List.of(after.get(), orgId),
                row -> true)
            .compose(
                found ->
                    found.isEmpty()
                        ? Future.failedFuture(
                            ApiError.badField(
                                "after", after.get(), "the token_id that ended the page before"))
                        : Future.succeededFuture());
  }

  /** Ids of tokens of a member that were revoked at that moment, oldest first. */
  Future<List<String>> listRevoked(String orgId, String username, long atMillis) {
    return database.read(
        "SELECT token_id FROM token WHERE org_id = ? AND created_by = ? AND revoked_at = ?"
            + " ORDER BY created_at, token_id",
        List.of(orgId, "member:" + username, atMillis),
        row -> row.text(0));
  }

  private static Listed listed(Row row) {
    String scopes = row.text(2);
    return new Listed(
        row.text(0),
        row.text(1),
        scopes.isEmpty() ? List.of() : List.of(scopes.split(" ", -1)),
        row.textOrNull(3),
        row.text(4),
        row.integer(5),
        row.integerOrNull(6),
        row.integerOrNull(7),
        row.integerOrNull(8));
  }
}
