package dev.bourse.access;

import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Rows of organizations and tokens. */
public final class AccessStore {
  private static final String LIVE_TOKENS =
      "SELECT token_id, org_id, name, secret_sha256, scopes, cluster, created_by, created_at,"
          + " expires_at FROM token WHERE revoked_at IS NULL";

  private static final String ORGANIZATIONS = "SELECT org_id, display, kind FROM org";

  private static final String LIVE_OPERATORS =
      "SELECT token_id, name, secret_sha256, created_by, created_at, expires_at"
          + " FROM operator_token WHERE revoked_at IS NULL";

  private static final String ACTIVE_MEMBERS =
      "SELECT m.org_id, m.username, "
          + Members.ID
          + " FROM member m JOIN org o ON o.org_id = m.org_id"
          + " WHERE m.suspended_at IS NULL AND o.retired_at IS NULL";

  private final Database database;

  public AccessStore(Database database) {
    this.database = database;
  }

  /** Every organization. */
  public Future<List<Organization>> listOrganizations() {
    return database.read(ORGANIZATIONS + " ORDER BY org_id", List.of(), AccessStore::organization);
  }

  /** Every token that can still be used; revoked ones are left out. */
  public Future<List<Token>> listLiveTokens() {
    return database.read(LIVE_TOKENS, List.of(), AccessStore::token);
  }

  /** Those of these tokens that can still be used. */
  Future<List<Token>> listLiveTokens(List<String> tokenIds) {
    List<String> all = InList.of(tokenIds);
    return database.read(
        LIVE_TOKENS + " AND token_id IN " + InList.marks(all), all, AccessStore::token);
  }

  /** Every token of these organizations that can still be used. */
  Future<List<Token>> listLiveTokensOf(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        LIVE_TOKENS + " AND org_id IN " + InList.marks(all), all, AccessStore::token);
  }

  /** So many tokens that can still be used, by id, after this one. */
  Future<List<Token>> listLiveTokens(String after, int limit) {
    return database.read(
        LIVE_TOKENS + " AND token_id > ? ORDER BY token_id LIMIT ?",
        List.of(after, limit),
        AccessStore::token);
  }

  /** Those of these organizations that are there. */
  Future<List<Organization>> listOrganizations(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        ORGANIZATIONS + " WHERE org_id IN " + InList.marks(all), all, AccessStore::organization);
  }

  /** So many organizations, by id, after this one. */
  Future<List<Organization>> listOrganizations(String after, int limit) {
    return database.read(
        ORGANIZATIONS + " WHERE org_id > ? ORDER BY org_id LIMIT ?",
        List.of(after, limit),
        AccessStore::organization);
  }

  /** Every operator's token that can still be used, with the SHA-256 of its secret in hex. */
  Future<List<OperatorToken>> listLiveOperatorTokens() {
    return database.read(
        LIVE_OPERATORS + " ORDER BY created_at, token_id", List.of(), AccessStore::operator);
  }

  /** Those of these operators' tokens that can still be used. */
  Future<List<OperatorToken>> listLiveOperatorTokens(List<String> tokenIds) {
    List<String> all = InList.of(tokenIds);
    return database.read(
        LIVE_OPERATORS + " AND token_id IN " + InList.marks(all), all, AccessStore::operator);
  }

  /** So many operators' tokens that can still be used, by id, after this one. */
  Future<List<OperatorToken>> listLiveOperatorTokens(String after, int limit) {
    return database.read(
        LIVE_OPERATORS + " AND token_id > ? ORDER BY token_id LIMIT ?",
        List.of(after, limit),
        AccessStore::operator);
  }

  private static OperatorToken operator(Row row) {
    return new OperatorToken(
        row.text(0), row.text(1), row.text(2), row.text(3), row.integer(4), row.integerOrNull(5));
  }

  public static Statement insert(OperatorToken token) {
    return Statement.of(
        "INSERT INTO operator_token (token_id, name, secret_sha256, created_by, created_at,"
            + " expires_at) VALUES (?, ?, ?, ?, ?, ?)",
        token.tokenId(),
        token.name(),
        token.secretSha256(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis());
  }

  /** Somebody who is on a roster and not suspended. */
  record ActiveMember(String orgId, String username, String memberId) {}

  /** Everybody who is on a roster and not suspended. */
  Future<List<ActiveMember>> listActiveMembers() {
    return database.read(ACTIVE_MEMBERS, List.of(), AccessStore::member);
  }

  /** The same of some organizations. */
  Future<List<ActiveMember>> listActiveMembers(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        ACTIVE_MEMBERS + " AND m.org_id IN " + InList.marks(all), all, AccessStore::member);
  }

  private static ActiveMember member(Row row) {
    return new ActiveMember(row.text(0), row.text(1), row.text(2));
  }

  private static Organization organization(Row row) {
    return new Organization(row.text(0), row.text(1), row.text(2));
  }

  public static Statement insert(Organization org, long nowMillis) {
    return Statement.of(
        "INSERT INTO org (org_id, display, kind, created_at) VALUES (?, ?, ?, ?)",
        org.orgId(),
        org.display(),
        org.kind(),
        nowMillis);
  }

  public static Statement insert(Token token) {
    return Statement.of(
        "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes, cluster, created_by,"
            + " created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        token.tokenId(),
        token.orgId(),
        token.name(),
        token.secretSha256(),
        token.scopes().stream().map(Scope::label).sorted().collect(Collectors.joining(" ")),
        token.cluster(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis());
  }

  /** Another process may have stored a later use. */
  static Statement touch(String tokenId, long lastUsedAtMillis) {
    return Statement.of(
        "UPDATE token SET last_used_at = ?"
            + " WHERE token_id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
        lastUsedAtMillis,
        tokenId,
        lastUsedAtMillis);
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  private static Token token(Row row) {
    return new Token(
        row.text(0),
        row.text(1),
        row.text(2),
        row.text(3),
        scopes(row.text(4)),
        row.textOrNull(5),
        row.text(6),
        row.integer(7),
        row.integerOrNull(8));
  }

  private static Set<Scope> scopes(String labels) {
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    for (String label : labels.split(" ", -1)) {
      Optional<Scope> scope = Scope.find(label);
      scope.ifPresent(scopes::add);
    }
    return scopes;
  }
}
