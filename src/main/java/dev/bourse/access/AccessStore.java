package dev.bourse.access;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;

/** Rows of organizations, usable tokens, and active members. */
public final class AccessStore {
  private static final Columns<Token> TOKEN =
      TokenLimits.columns(
          Columns.<Token>of("token")
              .fixed("token_id", Token::tokenId)
              .fixed("org_id", Token::orgId)
              .fixed("name", Token::name)
              .fixed("secret_sha256", Token::secretSha256)
              .fixed("scopes", token -> Scope.text(token.scopes()))
              .fixed("cluster", Token::cluster)
              .fixed("created_by", Token::createdBy)
              .fixed("created_at", Token::createdAtMillis)
              .fixed("expires_at", Token::expiresAtMillis),
          Token::limits);

  private static final Columns<OperatorToken> OPERATOR_TOKEN =
      Columns.<OperatorToken>of("operator_token")
          .fixed("token_id", OperatorToken::tokenId)
          .fixed("name", OperatorToken::name)
          .fixed("read_only", token -> token.reach().isReadOnly())
          .fixed("site", token -> token.reach().site())
          .fixed("is_narrow", AccessStore::isNarrow)
          .fixed("revoked_at", token -> isNarrow(token) ? token.createdAtMillis() : null)
          .fixed("secret_sha256", OperatorToken::secretSha256)
          .fixed("created_by", OperatorToken::createdBy)
          .fixed("created_at", OperatorToken::createdAtMillis)
          .fixed("expires_at", OperatorToken::expiresAtMillis);

  private static final String LIVE_TOKENS =
      "SELECT %s FROM token WHERE revoked_at IS NULL".formatted(TOKEN.names());

  private static final String ORGANIZATIONS =
      "SELECT org_id, display, kind, ssh_keys_need_write FROM org";

  private static final String LIVE_OPERATORS =
      "SELECT %s FROM operator_token WHERE %s IS NULL"
          .formatted(OPERATOR_TOKEN.names(), operatorRevokedAt(""));

  private static final String ACTIVE_MEMBERS =
      """
      SELECT m.org_id, m.username, %s AS member_id FROM member m JOIN org o ON o.org_id = m.org_id
      WHERE m.suspended_at IS NULL AND o.retired_at IS NULL\
      """
          .formatted(Members.ID);

  private final Database database;

  public AccessStore(Database database) {
    this.database = database;
  }

  public Future<List<Organization>> listOrganizations() {
    return database.read(ORGANIZATIONS + " ORDER BY org_id", List.of(), AccessStore::organization);
  }

  /** Returns every token that is not revoked. */
  public Future<List<Token>> listLiveTokens() {
    return database.read(LIVE_TOKENS, List.of(), AccessStore::token);
  }

  /** Returns the given tokens except revoked ones. */
  Future<List<Token>> listLiveTokens(List<String> tokenIds) {
    List<String> all = InList.of(tokenIds);
    return database.read(
        LIVE_TOKENS + " AND token_id IN " + InList.marks(all), all, AccessStore::token);
  }

  /** Returns all tokens of the given organizations except revoked ones. */
  Future<List<Token>> listLiveTokensOf(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        LIVE_TOKENS + " AND org_id IN " + InList.marks(all), all, AccessStore::token);
  }

  /** Returns up to {@code limit} unrevoked tokens after an id, ordered by id. */
  Future<List<Token>> listLiveTokens(String after, int limit) {
    return database.read(
        LIVE_TOKENS + " AND token_id > ? ORDER BY token_id LIMIT ?",
        List.of(after, limit),
        AccessStore::token);
  }

  /** Returns the given organizations; unknown ids are omitted. */
  Future<List<Organization>> listOrganizations(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        ORGANIZATIONS + " WHERE org_id IN " + InList.marks(all), all, AccessStore::organization);
  }

  /** Returns up to {@code limit} organizations after an id, ordered by id. */
  Future<List<Organization>> listOrganizations(String after, int limit) {
    return database.read(
        ORGANIZATIONS + " WHERE org_id > ? ORDER BY org_id LIMIT ?",
        List.of(after, limit),
        AccessStore::organization);
  }

  /** Returns every operator token that is not revoked, oldest first. */
  public Future<List<OperatorToken>> listLiveOperatorTokens() {
    return database.read(
        LIVE_OPERATORS + " ORDER BY created_at, token_id", List.of(), AccessStore::operator);
  }

  /** Returns the given operator tokens except revoked ones. */
  Future<List<OperatorToken>> listLiveOperatorTokens(List<String> tokenIds) {
    List<String> all = InList.of(tokenIds);
    return database.read(
        LIVE_OPERATORS + " AND token_id IN " + InList.marks(all), all, AccessStore::operator);
  }

  /** Returns up to {@code limit} unrevoked operator tokens after an id, ordered by id. */
  Future<List<OperatorToken>> listLiveOperatorTokens(String after, int limit) {
    return database.read(
        LIVE_OPERATORS + " AND token_id > ? ORDER BY token_id LIMIT ?",
        List.of(after, limit),
        AccessStore::operator);
  }

  /** A member on the roster of an organization, not suspended. */
  record ActiveMember(String orgId, String username, String memberId) {}

  /** Returns all members of all organizations except suspended members. */
  Future<List<ActiveMember>> listActiveMembers() {
    return database.read(ACTIVE_MEMBERS, List.of(), AccessStore::member);
  }

  /** Returns all members of the given organizations except suspended members. */
  Future<List<ActiveMember>> listActiveMembers(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        ACTIVE_MEMBERS + " AND m.org_id IN " + InList.marks(all), all, AccessStore::member);
  }

  private static boolean isNarrow(OperatorToken token) {
    return !token.reach().isAll();
  }

  /**
   * Returns an SQL expression for the time an operator token was revoked; null if it was not. A
   * release that knows only unrestricted tokens treats every row as one. So a restricted token has
   * {@code revoked_at} from the start, which makes such a release reject it, and {@code ended_at}
   * for its revocation.
   *
   * @param of the table's name and a dot, or nothing
   */
  static String operatorRevokedAt(String of) {
    return "CASE WHEN %1$sis_narrow = 0 THEN %1$srevoked_at ELSE %1$sended_at END".formatted(of);
  }

  static OperatorReach reach(Row row) {
    return new OperatorReach(row.truth("read_only"), row.textOrNull("site"));
  }

  /**
   * Returns the statement that stores an operator token.
   *
   * @param taken creates the exception of the commit if another token has or had the name
   */
  public static Statement insert(OperatorToken token, Supplier<? extends RuntimeException> taken) {
    return OPERATOR_TOKEN.insert(token, "ON CONFLICT (name) DO NOTHING").orElse(taken);
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
    return TOKEN.insert(token);
  }

  /** Returns the statement that stores a token's time of last use, unless a later one is stored. */
  static Statement touch(String tokenId, long lastUsedAtMillis) {
    return Statement.of(
        """
        UPDATE token SET last_used_at = ?
        WHERE token_id = ? AND (last_used_at IS NULL OR last_used_at < ?)\
        """,
        lastUsedAtMillis,
        tokenId,
        lastUsedAtMillis);
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  private static OperatorToken operator(Row row) {
    return new OperatorToken(
        row.text("token_id"),
        row.text("name"),
        reach(row),
        row.text("secret_sha256"),
        row.text("created_by"),
        row.integer("created_at"),
        row.integerOrNull("expires_at"));
  }

  private static ActiveMember member(Row row) {
    return new ActiveMember(row.text("org_id"), row.text("username"), row.text("member_id"));
  }

  private static Organization organization(Row row) {
    return new Organization(
        row.text("org_id"),
        row.text("display"),
        row.text("kind"),
        row.truth("ssh_keys_need_write"));
  }

  private static Token token(Row row) {
    return new Token(
        row.text("token_id"),
        row.text("org_id"),
        row.text("name"),
        row.text("secret_sha256"),
        Scope.parse(row.text("scopes")),
        row.textOrNull("cluster"),
        row.text("created_by"),
        row.integer("created_at"),
        row.integerOrNull("expires_at"),
        TokenLimits.of(row));
  }
}
