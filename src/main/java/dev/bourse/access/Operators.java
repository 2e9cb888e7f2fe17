package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import io.vertx.core.Future;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All live operator tokens, in memory; they are few. */
public final class Operators implements Mirror {
  /** The topic of changes of operator tokens; the key is the token. */
  public static final String CHANGED = "operators";

  private final AccessStore store;
  private final Clock clock;
  private volatile Map<String, OperatorToken> byId = Map.of();
  private final SerialReadings readings = new SerialReadings();
  private volatile boolean isBehind;

  public Operators(AccessStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Reads all tokens again, after any read in progress. */
  public Future<Void> load() {
    return readings.next(
        () ->
            store
                .listLiveOperatorTokens()
                .map(
                    found -> {
                      byId =
                          found.stream().collect(Collectors.toMap(OperatorToken::tokenId, t -> t));
                      return (Void) null;
                    })
                .onComplete(read -> isBehind = read.failed()));
  }

  /** Reads one token again after it was minted or revoked. */
  Future<Void> refresh(String tokenId) {
    return refresh(List.of(tokenId)).onFailure(e -> isBehind = true).mapEmpty();
  }

  @Override
  public Future<Refreshed> refresh(List<String> tokenIds) {
    return readings.next(
        () ->
            store
                .listLiveOperatorTokens(tokenIds)
                .map(
                    found -> {
                      Map<String, OperatorToken> next = new HashMap<>(byId);
                      next.keySet().removeAll(new HashSet<>(tokenIds));
                      found.forEach(token -> next.put(token.tokenId(), token));
                      Set<String> changed = new HashSet<>(tokenIds);
                      changed.removeIf(id -> Objects.equals(byId.get(id), next.get(id)));
                      byId = Map.copyOf(next);
                      return new Refreshed(changed, Set.of());
                    }));
  }

  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        after -> store.listLiveOperatorTokens(after, SliceComparison.ROWS),
        OperatorToken::tokenId,
        stored -> stored.equals(byId.get(stored.tokenId())),
        () -> byId.keySet());
  }

  /** Reads all tokens again if the last read failed. */
  public Future<Void> catchUp() {
    return isBehind ? load() : Future.succeededFuture();
  }

  /**
   * Returns whether there is no valid unrestricted token, so that nobody could run the platform.
   */
  public boolean isEmpty() {
    return byId.values().stream().allMatch(token -> !token.reach().isAll() || isExpired(token));
  }

  private boolean isExpired(OperatorToken token) {
    Long expiresAt = token.expiresAtMillis();
    return expiresAt != null && clock.millis() >= expiresAt;
  }

  /**
   * Returns the operator of a token.
   *
   * @throws ApiException {@code unauthorized} if the token is unknown, expired or revoked
   */
  Operator authenticate(TokenSecret presented) {
    OperatorToken token = find(presented);
    return new Operator(token.tokenId(), token.name(), token.reach(), Operator.SCHEME);
  }

  /** Returns whether the text is a valid operator token. */
  public boolean isLive(String text) {
    return TokenSecret.parse(text)
        .flatMap(presented -> Optional.ofNullable(matching(presented)))
        .filter(token -> !isExpired(token))
        .isPresent();
  }

  private @Nullable OperatorToken matching(TokenSecret presented) {
    OperatorToken token = byId.get(presented.tokenId());
    return token != null
            && MessageDigest.isEqual(
                HexFormat.of().parseHex(token.secretSha256()), presented.sha256())
        ? token
        : null;
  }

  /**
   * Returns a token that is not revoked; it may have expired.
   *
   * @throws ApiException {@code unauthorized} if it is unknown or revoked
   */
  OperatorToken requireInForce(TokenSecret presented) {
    OperatorToken token = matching(presented);
    if (token == null) {
      throw BearerAuthenticator.unauthorized("the token is unknown or revoked");
    }
    return token;
  }

  /** Returns a valid token; fails as {@link #authenticate} does. */
  OperatorToken find(TokenSecret presented) {
    OperatorToken token = requireInForce(presented);
    if (isExpired(token)) {
      throw BearerAuthenticator.unauthorized("the token has expired");
    }
    return token;
  }
}
