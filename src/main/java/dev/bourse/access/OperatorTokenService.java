package dev.bourse.access;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Mints, lists and revokes operator tokens. */
public final class OperatorTokenService {
  /**
   * The limit of live operator tokens: enough for the operators of a platform and their programs.
   */
  static final int MAX_LIVE = 200;

  private final Database database;
  private final OperatorTokenStore store;
  private final Operators operators;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param random a cryptographic source in production
   */
  public OperatorTokenService(
      Database database, Operators operators, Clock clock, RandomGenerator random) {
    this.database = database;
    this.store = new OperatorTokenStore(database);
    this.operators = operators;
    this.clock = clock;
    this.random = random;
  }

  /** Returns a page of all tokens, by id, including revoked and expired ones. */
  public Future<Page<OperatorTokenView>> list(int limit, Optional<String> after) {
    return store.list(limit, after);
  }

  /**
   * A new token.
   *
   * @param token the stored part
   * @param secret the whole token; shown once, never stored
   */
  public record Minted(OperatorToken token, TokenSecret secret) {}

  /**
   * Mints a token. Fails with {@code conflict} beyond {@link #MAX_LIVE} tokens, and if another
   * token has or had the name.
   *
   * @param reach its reach; its site may still be without a pool
   */
  public Future<Minted> mint(
      String actor, String name, OperatorReach reach, @Nullable Long expiresAtMillis) {
    long now = clock.millis();
    TokenSecret secret = TokenSecret.mint(TokenSecret.Kind.OPERATOR, random);
    OperatorToken token =
        new OperatorToken(
            secret.tokenId(),
            name,
            reach,
            HexFormat.of().formatHex(secret.sha256()),
            actor,
            now,
            expiresAtMillis);
    List<Statement> statements = new ArrayList<>(requireRoom(now));
    statements.add(AccessStore.insert(token, () -> OperatorTokenStore.nameTaken(name)));
    statements.add(mintRow(token));
    return commit(token.tokenId(), statements).map(loaded -> new Minted(token, secret));
  }

  /**
   * Returns statements that fail with {@code conflict} if {@link #MAX_LIVE} tokens are live. They
   * must come first in the commit, and need a store with at least one token, whose row is the lock.
   */
  public static List<Statement> requireRoom(long nowMillis) {
    return List.of(OperatorTokenStore.lock(), OperatorTokenStore.requireFewer(MAX_LIVE, nowMillis));
  }

  /** Returns the audit row of a mint. */
  public static Statement mintRow(OperatorToken token) {
    Long expiresAt = token.expiresAtMillis();
    return AuditStore.insert(
        row(
            token.createdAtMillis(),
            token.createdBy(),
            "operator_mint",
            "token_id=%s name=%s%s%s"
                .formatted(
                    token.tokenId(),
                    token.name(),
                    token.reach().detail(),
                    expiresAt == null ? "" : " expires_at=" + Times.rfc3339(expiresAt))));
  }

  /**
   * Revokes a token, which may be the caller's own. Fails with {@code not-found} if it is not live,
   * and with {@code conflict} if no unrestricted token would be left.
   *
   * @return when it was revoked
   */
  public Future<Long> revoke(String actor, String tokenId) {
    long now = clock.millis();
    return commit(
            tokenId,
            List.of(
                OperatorTokenStore.lock(),
                OperatorTokenStore.revoke(tokenId, now),
                OperatorTokenStore.requireAnyLive(tokenId, now),
                AuditStore.insertEach(
                    row(now, actor, "operator_revoke", ""),
                    "'token_id=' || token_id || ' name=' || name",
                    "operator_token WHERE token_id = ?",
                    tokenId)))
        .map(loaded -> now);
  }

  private Future<Void> commit(String tokenId, List<Statement> statements) {
    return database
        .commit(statements, List.of(new Change(Operators.CHANGED, tokenId)))
        .compose(
            stored ->
                operators
                    .refresh(tokenId)
                    .recover(e -> Future.failedFuture(ApiException.storedOnly())));
  }

  private static AuditRow row(long now, String actor, String action, String detail) {
    return new AuditRow(now, Trails.PLATFORM, actor, action, "platform", detail);
  }
}
