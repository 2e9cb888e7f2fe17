package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every live token, in memory. One entry is about 400 bytes; a hundred thousand tokens are 40 MB.
 */
public final class Tokens implements Authenticator {
  private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);
  private static final String SCHEME = "Bearer ";

  /** How often the time of last use is written: once a minute a token, whatever its traffic. */
  private static final long TOUCH_INTERVAL_MILLIS = 60_000;

  /** What other processes are told when tokens or organizations come or go. */
  public static final String CHANGED = "tokens";

  /** Small enough that a client's write queued behind it waits a few milliseconds. */
  private static final int TOUCHES_PER_COMMIT = 256;

  private final AccessStore store;
  private final Clock clock;
  private final Map<String, Entry> byId = new ConcurrentHashMap<>();
  private final Map<String, Organization> orgs = new ConcurrentHashMap<>();

  public Tokens(AccessStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Reads everything, then keeps the times of last use up to date. */
  public Future<Void> start(Vertx vertx) {
    vertx.setPeriodic(
        TOUCH_INTERVAL_MILLIS,
        timer -> flush().onFailure(e -> LOG.warn("times of last use not stored", e)));
    return load();
  }

  /** Reads all organizations and tokens anew. */
  public Future<Void> load() {
    return store
        .listOrganizations()
        .compose(
            list -> {
              list.forEach(org -> orgs.put(org.orgId(), org));
              return store.listLiveTokens();
            })
        .map(
            list -> {
              Set<String> live = new HashSet<>();
              list.forEach(
                  token -> {
                    live.add(token.tokenId());
                    admit(token);
                  });
              byId.keySet().retainAll(live);
              return null;
            });
  }

  @Override
  public Principal authenticate(@Nullable String authorizationHeader) {
    if (authorizationHeader == null) {
      throw unauthorized("missing Authorization header; expected 'Bearer <API token>'");
    }
    if (!authorizationHeader.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      throw unauthorized("the Authorization header is not of the form 'Bearer <API token>'");
    }
    Optional<TokenSecret> presented =
        TokenSecret.parse(authorizationHeader.substring(SCHEME.length()).trim());
    if (presented.isEmpty()) {
      throw unauthorized("the token is malformed");
    }
    long now = clock.millis();
    Entry entry = byId.get(presented.get().tokenId());
    if (entry == null || !MessageDigest.isEqual(entry.secretSha256, presented.get().sha256())) {
      throw unauthorized("the token is unknown or revoked");
    }
    Long expiresAt = entry.token.expiresAtMillis();
    if (expiresAt != null && now >= expiresAt) {
      throw unauthorized("the token has expired");
    }
    entry.lastUsedAtMillis = now;
    return entry.principal;
  }

  /**
   * Stores the times of last use that moved since they were last stored. What could not be stored
   * is tried again the next time.
   */
  public Future<Void> flush() {
    List<Entry> moved = new ArrayList<>();
    byId.values().stream().filter(e -> e.lastUsedAtMillis > e.storedAtMillis).forEach(moved::add);
    List<Future<Void>> commits = new ArrayList<>();
    for (int from = 0; from < moved.size(); from += TOUCHES_PER_COMMIT) {
      commits.add(store(moved.subList(from, Math.min(moved.size(), from + TOUCHES_PER_COMMIT))));
    }
    return Future.join(commits).mapEmpty();
  }

  private Future<Void> store(List<Entry> moved) {
    long[] lastUsed = moved.stream().mapToLong(entry -> entry.lastUsedAtMillis).toArray();
    List<Statement> touches = new ArrayList<>();
    for (int i = 0; i < lastUsed.length; i++) {
      touches.add(AccessStore.touch(moved.get(i).token.tokenId(), lastUsed[i]));
    }
    return store
        .commit(touches)
        .onSuccess(
            stored -> {
              for (int i = 0; i < lastUsed.length; i++) {
                moved.get(i).storedAtMillis = lastUsed[i];
              }
            });
  }

  private void admit(Token token) {
    Organization org = orgs.get(token.orgId());
    if (org == null) {
      throw new IllegalStateException(
          "token " + token.tokenId() + " names no organization: " + token.orgId());
    }
    byId.putIfAbsent(token.tokenId(), new Entry(token, org));
  }

  private static ApiError unauthorized(String detail) {
    return ApiError.of(ErrorCode.UNAUTHORIZED, detail);
  }

  private static final class Entry {
    final Token token;
    final byte[] secretSha256;
    final Principal principal;
    volatile long lastUsedAtMillis;
    volatile long storedAtMillis;

    Entry(Token token, Organization org) {
      this.token = token;
      this.secretSha256 = HexFormat.of().parseHex(token.secretSha256());
      this.principal =
          new Principal(
              org,
              "token:" + token.tokenId(),
              token.tokenId(),
              token.scopes(),
              token.cluster(),
              token.expiresAtMillis());
    }
  }
}
