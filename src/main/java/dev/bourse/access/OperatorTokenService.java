package dev.bourse.access;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiError;
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

/** What operators do to their own kind of token. */
public final class OperatorTokenService {
  /** Live operators' tokens: as many as people who run a platform, with room for programs. */
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

  /** A page of all of them, by id, including those that are revoked or have expired. */
  public Future<Page<OperatorTokenView>> list(int limit, Optional<String> after) {
    return store.list(limit, after);
  }

  /**
   * A token just minted.
   *
   * @param token what is stored of it
   * @param secret all of it; shown once, kept nowhere
   */
  public record Minted(OperatorToken token, TokenSecret secret) {}

  /**
   * Mints one; {@code conflict} past {@link #MAX_LIVE}, and when the name is or was another's.
   *
   * @param reach how far it reaches; its site may be one that has no pool yet
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
    List<Statement> statements = new ArrayList<>(demandingRoom(now));
    statements.add(AccessStore.insert(token, () -> OperatorTokenStore.nameTaken(name)));
    statements.add(minting(token));
    return commit(token.tokenId(), statements).map(loaded -> new Minted(token, secret));
  }

  /**
   * Rejects the commit with {@code conflict} when {@link #MAX_LIVE} tokens are live. They go first
   * in the commit, and need a store with at least one token, whose row is the lock.
   */
  public static List<Statement> demandingRoom(long nowMillis) {
    return List.of(OperatorTokenStore.lock(), OperatorTokenStore.demandFewer(MAX_LIVE, nowMillis));
  }

  /** The row that records a mint. */
  public static Statement minting(OperatorToken token) {
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
                    token.reach().told(),
                    expiresAt == null ? "" : " expires_at=" + Times.rfc3339(expiresAt))));
  }

  /**
   * Revokes one, the caller's own too; {@code not-found} when it is not live, {@code conflict} when
   * nobody would be left.
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
                OperatorTokenStore.demandAnyLive(tokenId, now),
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
                    .recover(e -> Future.failedFuture(ApiError.storedOnly())));
  }

  private static AuditRow row(long now, String actor, String action, String detail) {
    return new AuditRow(now, Trails.PLATFORM, actor, action, "platform", detail);
  }
}
