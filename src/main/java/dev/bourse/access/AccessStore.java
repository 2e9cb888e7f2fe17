package dev.bourse.access;

import dev.bourse.store.Database;
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

  private final Database database;

  public AccessStore(Database database) {
    this.database = database;
  }

  /** Every organization. */
  public Future<List<Organization>> listOrganizations() {
    return database.read(
        "SELECT org_id, display, kind FROM org ORDER BY org_id",
        List.of(),
        row -> new Organization(row.text(0), row.text(1), row.text(2)));
  }

  /** Every token that can still be used; revoked ones are left out. */
  public Future<List<Token>> listLiveTokens() {
    return database.read(LIVE_TOKENS, List.of(), AccessStore::token);
  }

  /** A token that can still be used. */
  Future<Optional<Token>> findLiveToken(String tokenId) {
    return database
        .read(LIVE_TOKENS + " AND token_id = ?", List.of(tokenId), AccessStore::token)
        .map(found -> found.stream().findFirst());
  }

  /** Every operator's token that can still be used, with the SHA-256 of its secret in hex. */
  Future<List<OperatorToken>> listLiveOperatorTokens() {
    return database.read(
        "SELECT token_id, name, secret_sha256, created_by, created_at, expires_at"
            + " FROM operator_token WHERE revoked_at IS NULL ORDER BY created_at, token_id",
        List.of(),
        row ->
            new OperatorToken(
                row.text(0),
                row.text(1),
                row.text(2),
                row.text(3),
                row.integer(4),
                row.integerOrNull(5)));
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

  /** Organization and username of everybody who is on a roster and not suspended. */
  Future<List<List<String>>> listActiveMembers() {
    return database.read(
        "SELECT m.org_id, m.username FROM member m JOIN org o ON o.org_id = m.org_id"
            + " WHERE m.suspended_at IS NULL AND o.retired_at IS NULL",
        List.of(),
        row -> List.of(row.text(0), row.text(1)));
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

  static Statement touch(String tokenId, long lastUsedAtMillis) {
    return Statement.of(
        "UPDATE token SET last_used_at = ? WHERE token_id = ?", lastUsedAtMillis, tokenId);
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
