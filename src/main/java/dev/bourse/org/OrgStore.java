package dev.bourse.org;

import dev.bourse.access.Tokens;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads about an organization, and the one write of its tokens: revoking themselves. */
public final class OrgStore {
  /** Longest roster shown: far over any organization's, and a few MB. */
  private static final int MAX_MEMBERS = 10_000;

  private static final int MAX_RULES = 10_000;

  /** Tokens listed: all live ones, which are fewer, and the newest of those that are not. */
  private static final int MAX_TOKENS = 1_000;

  /** What fails when a token to be revoked is revoked already. */
  private static final String LIVE = "token-live";

  private final Database database;

  public OrgStore(Database database) {
    this.database = database;
  }

  /** A cluster a token can address. */
  public record Addressable(
      String name, String kind, String gpuVendor, @Nullable String gpuModel) {}

  /**
   * An organization's clusters, by name.
   *
   * @param only the one a token is bound to, null for all
   */
  Future<List<Addressable>> listClusters(String orgId, @Nullable String only) {
    List<String> parameters = new ArrayList<>(List.of(orgId));
    if (only != null) {
      parameters.add(only);
    }
    return database.read(
        "SELECT c.name, c.kind, p.gpu_vendor, p.gpu_model FROM cluster c"
            + " JOIN pool p ON p.name = c.pool WHERE c.org_id = ?"
            + (only == null ? "" : " AND c.name = ?")
            + " ORDER BY c.name",
        parameters,
        row -> new Addressable(row.text(0), row.text(1), row.text(2), row.textOrNull(3)));
  }

  /** An organization's members, by username. */
  Future<List<Member>> listMembers(String orgId) {
    return database.read(
        "SELECT username, email, name, last_login_at, suspended_at FROM member"
            + " WHERE org_id = ? ORDER BY username LIMIT "
            + MAX_MEMBERS,
        List.of(orgId),
        row ->
            new Member(
                row.text(0), row.text(1), row.text(2), row.integerOrNull(3), row.integerOrNull(4)));
  }

  /** An organization's join rules, the oldest first. */
  Future<List<JoinRule>> listJoinRules(String orgId) {
    return database.read(
        "SELECT rule_id, kind, value, created_at, created_by, link_expires_at FROM join_rule"
            + " WHERE org_id = ? ORDER BY created_at, rule_id LIMIT "
            + MAX_RULES,
        List.of(orgId),
        row ->
            new JoinRule(
                row.text(0),
                row.text(1),
                row.text(2),
                row.integer(3),
                row.text(4),
                row.integerOrNull(5)));
  }

  /** An organization's tokens, live and not, the newest first. */
  Future<List<TokenView>> listTokens(String orgId) {
    return database.read(
        "SELECT token_id, name, scopes, cluster, expires_at, created_by, created_at, last_used_at,"
            + " revoked_at FROM token WHERE org_id = ?"
            + " ORDER BY created_at DESC, token_id DESC LIMIT "
            + MAX_TOKENS,
        List.of(orgId),
        row ->
            new TokenView(
                row.text(0),
                row.text(1),
                Stream.of(row.text(2).split(" ", -1)).filter(s -> !s.isEmpty()).toList(),
                row.textOrNull(3),
                row.integerOrNull(4),
                row.text(5),
                row.integer(6),
                row.integerOrNull(7),
                row.integerOrNull(8)));
  }

  /** Whether a token is or was one of the organization's. */
  Future<Boolean> hasToken(String orgId, String tokenId) {
    return database
        .read(
            "SELECT token_id FROM token WHERE token_id = ? AND org_id = ?",
            List.of(tokenId, orgId),
            row -> row.text(0))
        .map(found -> !found.isEmpty());
  }

  /**
   * Revokes a live token, which used itself for the last time now, in one commit with the row that
   * records it.
   *
   * @return false when it is revoked already, and nothing was written
   */
  Future<Boolean> revoke(String orgId, String tokenId, long atMillis, Statement audit) {
    Statement revoke =
        Statement.guarded(
            LIVE,
            "UPDATE token SET revoked_at = ?, last_used_at = ?"
                + " WHERE token_id = ? AND org_id = ? AND revoked_at IS NULL",
            atMillis,
            atMillis,
            tokenId,
            orgId);
    return database
        .commit(List.of(revoke, audit), List.of(new Change(Tokens.CHANGED, tokenId)))
        .map(true)
        .recover(
            e ->
                e instanceof GuardFailed failed && failed.guard().equals(LIVE)
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }
}
