package dev.bourse.access;

import dev.bourse.core.ApiError;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every live token, in memory. One entry is about 400 bytes; a hundred thousand tokens are 40 MB.
 */
public final class Tokens {
  private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);

  /** How often the time of last use is written: once a minute a token, whatever its traffic. */
  private static final long TOUCH_INTERVAL_MILLIS = 60_000;

  /**
   * What other processes are told when tokens or organizations come or go; the key is the one token
   * it is about, or empty.
   */
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

  /** Readings of the store, one after the other; see {@link #load}. */
  private Future<Void> lastReading = Future.succeededFuture();

  /** Whether a reading failed, so that what is in memory may be out of date. */
  private volatile boolean isBehind;

  /** Reads everything, then keeps the times of last use up to date. */
  public Future<Void> start(Vertx vertx) {
    vertx.setPeriodic(
        TOUCH_INTERVAL_MILLIS,
        timer -> flush().onFailure(e -> LOG.warn("times of last use not stored", e)));
    return load();
  }

  /**
   * Reads all organizations and tokens anew. When this succeeds, every token minted or revoked
   * before the call counts as such: readings never overtake each other, so what an earlier one
   * found cannot undo a later one.
   */
  public synchronized Future<Void> load() {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> loadAll())
            .onComplete(read -> isBehind = read.failed());
    return lastReading;
  }

  /** Reads everything anew when a reading failed since everything was read last. */
  public void catchUp() {
    if (isBehind) {
      load();
    }
  }

  /** Reads one token anew: it was minted or revoked just now. */
  public synchronized Future<Void> refresh(String tokenId) {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> store.findLiveToken(tokenId))
            .compose(
                found -> {
                  if (found.isPresent() && !orgs.containsKey(found.get().orgId())) {
                    // Another process made its organization a moment ago.
                    return loadAll();
                  }
                  found.ifPresentOrElse(this::admit, () -> byId.remove(tokenId));
                  return Future.<Void>succeededFuture();
                })
            .onFailure(e -> isBehind = true);
    return lastReading;
  }

  /**
   * Forgets a token whose revocation is stored. Readings begun before the call end first, so that
   * none brings it back; the store is not asked, so that its being away cannot keep the token
   * alive.
   */
  public synchronized Future<Void> drop(String tokenId) {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .map(
                read -> {
                  byId.remove(tokenId);
                  return null;
                });
    return lastReading;
  }

  private Future<Void> loadAll() {
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

  /** An organization by its id; retired ones, too. */
  public Optional<Organization> findOrganization(String orgId) {
    return Optional.ofNullable(orgs.get(orgId));
  }

  /**
   * The caller a token stands for.
   *
   * @throws ApiError {@code unauthorized} when it is unknown, expired or revoked
   */
  Principal authenticate(TokenSecret presented) {
    Entry entry = byId.get(presented.tokenId());
    if (entry == null || !MessageDigest.isEqual(entry.secretSha256, presented.sha256())) {
      throw Credentials.unauthorized("the token is unknown or revoked");
    }
    long now = clock.millis();
    Long expiresAt = entry.token.expiresAtMillis();
    if (expiresAt != null && now >= expiresAt) {
      throw Credentials.unauthorized("the token has expired");
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
    byId.compute(
        token.tokenId(),
        (id, known) ->
            known != null && known.standsFor(token, org) ? known : new Entry(token, org));
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

    /** Whether nothing of it changed, so that its times of use are kept. */
    boolean standsFor(Token read, Organization org) {
      return token.equals(read) && principal.org().equals(org);
    }
  }
}
