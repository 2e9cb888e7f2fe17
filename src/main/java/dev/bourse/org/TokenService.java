package dev.bourse.org;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.TokenLimits;
import dev.bourse.access.Tokens;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.TokenSecret;
import dev.bourse.schemas.common.NewApiTokenJson;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Mints, renames, narrows and revokes an organization's tokens, for operators and members. */
public final class TokenService {
  /**
   * Live tokens of one organization: far more than people and programs need. Every process holds
   * all live tokens in memory.
   */
  static final int MAX_LIVE_TOKENS = 500;

  private final Database database;
  private final OrgStore orgs;
  private final TokenStore store;
  private final Tokens tokens;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param random a cryptographic source in production
   */
  public TokenService(Database database, Tokens tokens, Clock clock, RandomGenerator random) {
    this.database = database;
    this.orgs = new OrgStore(database);
    this.store = new TokenStore(database);
    this.tokens = tokens;
    this.clock = clock;
    this.random = random;
  }

  /** A page of an organization's tokens, revoked and expired ones included, the newest first. */
  public Future<Page<TokenView>> list(String orgId, int limit, Optional<String> after) {
    return orgs.get(orgId).compose(known -> store.list(orgId, limit, after));
  }

  /**
   * The properties of a token to mint.
   *
   * @param name a label for people
   * @param scopes the token's scopes
   * @param cluster the one cluster to bind it to, null for all
   * @param expiresAtMillis when it expires, null for never
   * @param member the member on whose behalf it is minted; removing the member revokes it
   * @param limits the limits of its declarations
   */
  public record Order(
      String name,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis,
      @Nullable String member,
      TokenLimits limits) {

    /** An order for a token without limits of its own. */
    public Order(
        String name,
        Set<Scope> scopes,
        @Nullable String cluster,
        @Nullable Long expiresAtMillis,
        @Nullable String member) {
      this(name, scopes, cluster, expiresAtMillis, member, TokenLimits.NONE);
    }
  }

  /**
   * A newly minted token.
   *
   * @param token the stored part
   * @param secret the whole token; shown once, never stored
   */
  public record MintedToken(Token token, TokenSecret secret) {

    /** Returns the token as its creator sees it. */
    public NewApiTokenJson toJson() {
      return new NewApiTokenJson(
          token.tokenId(),
          token.name(),
          Scope.labels(token.scopes()),
          token.cluster(),
          token.createdBy(),
          token.createdAtMillis(),
          token.expiresAtMillis(),
          null,
          null,
          token.limits().toJson(),
          secret.text());
    }
  }

  /**
   * Mints a token. Refused with {@code bad-request} for an unknown cluster or member or a time not
   * in the future, with {@code conflict} past {@link #MAX_LIVE_TOKENS}.
   */
  public Future<MintedToken> mint(String actor, String orgId, Order order) {
    long now = clock.millis();
    TokenSecret secret = TokenSecret.mint(random);
    Token token =
        new Token(
            secret.tokenId(),
            orgId,
            order.name(),
            HexFormat.of().formatHex(secret.sha256()),
            order.scopes(),
            order.cluster(),
            order.member() == null ? actor : "member:" + order.member(),
            now,
            order.expiresAtMillis(),
            order.limits());
    OrgWrite write = new OrgWrite(database, orgId, actor);
    if (order.cluster() != null) {
      write.demand(
          () ->
              ApiException.badField(
                  "cluster",
                  order.cluster(),
                  "the name of a cluster of " + orgId + ", not retired"),
          "EXISTS (SELECT 1 FROM cluster WHERE name = ? AND org_id = ? AND retired_at IS NULL)",
          order.cluster(),
          orgId);
    }
    if (order.member() != null) {
      write.demand(
          () ->
              ApiException.badField(
                  "member", order.member(), "the username of a member of " + orgId),
          "EXISTS (SELECT 1 FROM member WHERE org_id = ? AND username = ?)",
          orgId,
          order.member());
    }
    write.demand(
        () ->
            OrgWrite.conflict(
                "limit",
                "organization %s has %s live tokens, the most it may have; revoke one first",
                orgId,
                MAX_LIVE_TOKENS),
        """
        (SELECT COUNT(*) FROM token WHERE org_id = ? AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ?)) < %s\
        """
            .formatted(MAX_LIVE_TOKENS),
        orgId,
        now);
    return write
        .addAll(TokenStore.mintStatements(token, actor))
        .commit(new Change(Tokens.CHANGED, token.tokenId()))
        .compose(stored -> OrgWrite.inForce(tokens.refresh(token.tokenId())))
        .map(known -> new MintedToken(token, secret));
  }

  /**
   * Changes a live token's label; {@code not-found} when it is not live.
   *
   * @return the changed token
   */
  public Future<TokenView> rename(String actor, String orgId, String tokenId, String name) {
    long now = clock.millis();
    AuditRow row = new AuditRow(now, orgId, actor, "vm_token_rename", orgId, "");
    return new OrgWrite(database, orgId, actor)
        .add(TokenStore.renameRow(row, tokenId, name))
        .add(
            Statement.guarded(
                () -> ApiException.notFound("live token", tokenId),
                """
                UPDATE token SET name = ? WHERE token_id = ? AND org_id = ? AND revoked_at IS NULL
                AND (expires_at IS NULL OR expires_at > ?)\
                """,
                name,
                tokenId,
                orgId,
                now))
        .commit(new Change(Tokens.CHANGED, tokenId))
        .compose(stored -> OrgWrite.inForce(tokens.refresh(tokenId)))
        .compose(known -> OrgWrite.inForce(store.find(orgId, tokenId)))
        .map(found -> found.orElseThrow(() -> ApiException.notFound("live token", tokenId)));
  }

  /**
   * Narrows the limits of a live token's declarations, with effect from this answer on here and
   * within a second in other processes. Null values in {@code asked} leave the limit unchanged.
   * Refused with {@code not-found} when the token is not live, with {@code token-limit} when a
   * limit would be wider.
   *
   * @return the changed token
   */
  public Future<TokenView> narrow(String actor, String orgId, String tokenId, TokenLimits asked) {
    long now = clock.millis();
    return live(orgId, tokenId, now)
        // A retired organization has no live token, but the refusal should name the retirement.
        .recover(
            e ->
                new OrgWrite(database, orgId, actor)
                    .commit()
                    .compose(orgIsLive -> Future.failedFuture(e)))
        .compose(
            token -> {
              TokenLimits next = token.limits().narrowedTo(asked);
              return next.equals(token.limits())
                  ? Future.succeededFuture(token)
                  : narrow(actor, orgId, token, next, now);
            });
  }

  private Future<TokenView> narrow(
      String actor, String orgId, TokenView token, TokenLimits next, long now) {
    String tokenId = token.tokenId();
    return new OrgWrite(database, orgId, actor)
        .add(
            TokenStore.narrowRow(
                new AuditRow(now, orgId, actor, "vm_token_narrow", orgId, ""), tokenId, next))
        .add(
            LimitStore.narrow(
                "token",
                "token_id",
                tokenId,
                token.limits(),
                next,
                () ->
                    ApiException.retryLater(
                        ErrorCode.OVERLOADED,
                        "the token's limits were changed at the same time; nothing was written",
                        1_000)))
        .commit(new Change(Tokens.CHANGED, tokenId))
        .compose(stored -> OrgWrite.inForce(tokens.refresh(tokenId)))
        .compose(known -> OrgWrite.inForce(live(orgId, tokenId, now)));
  }

  /** Returns a live token; fails with {@code not-found} when it is not live. */
  private Future<TokenView> live(String orgId, String tokenId, long now) {
    return store
        .find(orgId, tokenId)
        .map(
            found ->
                found
                    .filter(token -> token.revokedAtMillis() == null)
                    .filter(
                        token -> token.expiresAtMillis() == null || token.expiresAtMillis() > now)
                    .orElseThrow(() -> ApiException.notFound("live token", tokenId)));
  }

  /**
   * Revokes a token. When this succeeds, the token is refused here, and within a second in other
   * processes.
   *
   * @return when it was revoked
   */
  public Future<Long> revoke(String actor, String orgId, String tokenId) {
    long now = clock.millis();
    return new OrgWrite(database, orgId, actor)
        .add(
            TokenStore.revokeRow(
                new AuditRow(now, orgId, actor, "vm_token_revoke", orgId, ""), tokenId))
        .add(
            Statement.guarded(
                () -> ApiException.notFound("live token", tokenId),
                """
                UPDATE token SET revoked_at = ?
                WHERE token_id = ? AND org_id = ? AND revoked_at IS NULL\
                """,
                now,
                tokenId,
                orgId))
        .commit(new Change(Tokens.CHANGED, tokenId))
        .compose(stored -> OrgWrite.inForce(tokens.refresh(tokenId)))
        .map(known -> now);
  }
}
