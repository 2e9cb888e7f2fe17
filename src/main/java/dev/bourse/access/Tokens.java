package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All live tokens, in memory. An entry takes about 400 bytes; a hundred thousand tokens take 40 MB.
 */
public final class Tokens implements Mirror {
  /** How often {@link #flushSome} is due: at most one write a minute for each token. */
  public static final long TOUCH_INTERVAL_MILLIS = 60_000;

  /** The topic of changes of tokens; the key is the token. */
  public static final String CHANGED = "tokens";

  /**
   * The topic of changes of organizations, or of several of their tokens at once; the key is the
   * organization. A process of the previous release does not know it and reads everything again.
   */
  public static final String ORGANIZATION_CHANGED = "organizations";

  /** Few enough that a client's write queued behind it waits a few milliseconds. */
  private static final int TOUCHES_PER_COMMIT = 256;

  private final AccessStore store;
  private final Clock clock;
  private final Map<String, CachedToken> byId = new ConcurrentHashMap<>();
  private final Map<String, Organization> orgs = new ConcurrentHashMap<>();

  public Tokens(AccessStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
  }

  private final SerialReadings readings = new SerialReadings();

  /** The rest of a round that stores times of last use. */
  private volatile Iterator<CachedToken> due = Collections.emptyIterator();

  /** True if a read failed, so that the memory may be out of date. */
  private volatile boolean isBehind;

  /**
   * Reads all organizations and tokens again. After success, every token that was minted or revoked
   * before the call is up to date, because reads run one after another.
   */
  public Future<Void> load() {
    return readings.next(() -> loadAll().onComplete(read -> isBehind = read.failed()));
  }

  /** Reads everything again if a read has failed since the last full one. */
  public Future<Void> catchUp() {
    return isBehind ? load() : Future.succeededFuture();
  }

  /** Reads one token again after it was minted or revoked. */
  public Future<Void> refresh(String tokenId) {
    return refresh(List.of(tokenId)).onFailure(e -> isBehind = true).mapEmpty();
  }

  /** Reads tokens again, after any read in progress, and organizations that are not known yet. */
  @Override
  public Future<Refreshed> refresh(List<String> tokenIds) {
    return readings.next(
        () ->
            store
                .listLiveTokens(tokenIds)
                .compose(
                    found ->
                        readOrganizations(found)
                            .map(
                                met -> {
                                  Set<String> changed = new HashSet<>();
                                  Set<String> gone = new HashSet<>(tokenIds);
                                  for (Token token : found) {
                                    gone.remove(token.tokenId());
                                    admit(token, changed);
                                  }
                                  gone.forEach(id -> remove(id, changed));
                                  return new Refreshed(changed, Set.of());
                                })));
  }

  /** Reads unknown organizations of tokens, which another process may just have created. */
  private Future<Void> readOrganizations(List<Token> tokens) {
    List<String> unknown =
        tokens.stream().map(Token::orgId).filter(id -> !orgs.containsKey(id)).distinct().toList();
    return unknown.isEmpty()
        ? Future.succeededFuture()
        : store
            .listOrganizations(unknown)
            .map(
                found -> {
                  found.forEach(org -> orgs.put(org.orgId(), org));
                  return null;
                });
  }

  /** Reads an organization and its tokens again, because it is new or has changed. */
  public Future<Void> refreshOrganization(String orgId) {
    return refreshOrganizations(List.of(orgId)).onFailure(e -> isBehind = true).mapEmpty();
  }

  private Future<Refreshed> refreshOrganizations(List<String> orgIds) {
    return readings.next(
        () ->
            store
                .listOrganizations(orgIds)
                .compose(
                    found ->
                        store
                            .listLiveTokensOf(orgIds)
                            .map(live -> putOrganizations(orgIds, found, live))));
  }

  private Refreshed putOrganizations(
      List<String> orgIds, List<Organization> found, List<Token> live) {
    Set<String> changed = new HashSet<>();
    for (Organization org : found) {
      if (!org.equals(orgs.put(org.orgId(), org))) {
        changed.add(org.orgId());
      }
    }
    Set<String> of = new HashSet<>(orgIds);
    Set<String> gone = new HashSet<>();
    for (CachedToken entry : byId.values()) {
      if (of.contains(entry.token.orgId())) {
        gone.add(entry.token.tokenId());
      }
    }
    Set<String> moved = new HashSet<>();
    for (Token token : live) {
      gone.remove(token.tokenId());
      if (orgs.containsKey(token.orgId()) && admit(token, moved)) {
        changed.add(token.orgId());
      }
    }
    for (String tokenId : gone) {
      CachedToken entry = byId.remove(tokenId);
      if (entry != null) {
        changed.add(entry.token.orgId());
      }
    }
    return new Refreshed(changed, Set.of());
  }

  private void remove(String tokenId, Set<String> changed) {
    if (byId.remove(tokenId) != null) {
      changed.add(tokenId);
    }
  }

  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        after -> store.listLiveTokens(after, SliceComparison.ROWS),
        Token::tokenId,
        stored -> {
          CachedToken held = byId.get(stored.tokenId());
          return held != null && held.token.equals(stored);
        },
        () -> List.copyOf(byId.keySet()));
  }

  /**
   * Returns the mirror of organizations by id, including retired ones. It reads their tokens too.
   */
  public Mirror organizations() {
    return new Mirror() {
      @Override
      public Future<Refreshed> refresh(List<String> orgIds) {
        return refreshOrganizations(orgIds);
      }

      @Override
      public Comparison compare() {
        return new SliceComparison<>(
            after -> store.listOrganizations(after, SliceComparison.ROWS),
            Organization::orgId,
            stored -> stored.equals(orgs.get(stored.orgId())),
            List::of);
      }
    };
  }

  /**
   * Removes a token whose revocation is stored. It waits for reads in progress, so that none
   * restores the token. It does not read the store, so that an outage cannot keep the token alive.
   */
  public Future<Void> drop(String tokenId) {
    return readings.next(
        () -> {
          byId.remove(tokenId);
          return Future.succeededFuture();
        });
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

  /** Returns an organization by its id, including retired ones. */
  public Optional<Organization> findOrganization(String orgId) {
    return Optional.ofNullable(orgs.get(orgId));
  }

  /**
   * Returns the caller of a token.
   *
   * @throws ApiException {@code unauthorized} if the token is unknown, expired or revoked
   */
  Principal authenticate(TokenSecret presented) {
    CachedToken entry = requireInForce(presented);
    long now = clock.millis();
    Long expiresAt = entry.token.expiresAtMillis();
    if (expiresAt != null && now >= expiresAt) {
      throw BearerAuthenticator.unauthorized("the token has expired");
    }
    entry.lastUsedAtMillis = now;
    return entry.principal;
  }

  /**
   * Returns a token that is not revoked; it may have expired.
   *
   * @throws ApiException {@code unauthorized} if it is unknown or revoked
   */
  CachedToken requireInForce(TokenSecret presented) {
    CachedToken entry = byId.get(presented.tokenId());
    if (entry == null || !MessageDigest.isEqual(entry.secretSha256, presented.sha256())) {
      throw BearerAuthenticator.unauthorized("the token is unknown or revoked");
    }
    return entry;
  }

  /**
   * Stores changed times of last use, one commit after another, because a hundred thousand at once
   * would fill the store's queue and make it reject other writes. Failed ones are retried in the
   * next round.
   */
  public Future<Void> flush() {
    due = moved();
    return flushRest();
  }

  private Future<Void> flushRest() {
    return flushSome().compose(isMore -> isMore ? flushRest() : Future.succeededFuture());
  }

  /**
   * Stores some of the times that changed before a round; returns whether the round has more. A
   * token that is used during the round waits for the next one, so that a round ends however many
   * tokens are in constant use.
   */
  public Future<Boolean> flushSome() {
    if (!due.hasNext()) {
      due = moved();
    }
    List<CachedToken> next = new ArrayList<>();
    while (due.hasNext() && next.size() < TOUCHES_PER_COMMIT) {
      next.add(due.next());
    }
    return next.isEmpty()
        ? Future.succeededFuture(false)
        : store(next).map(stored -> due.hasNext());
  }

  private Iterator<CachedToken> moved() {
    return byId.values().stream()
        .filter(entry -> entry.lastUsedAtMillis > entry.storedAtMillis)
        .toList()
        .iterator();
  }

  private Future<Void> store(List<CachedToken> moved) {
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
    admit(token, new HashSet<>());
  }

  /** Adds a token; records it as changed if it was unknown or different. */
  private boolean admit(Token token, Set<String> changed) {
    Organization org = orgs.get(token.orgId());
    if (org == null) {
      throw new IllegalStateException(
          "token " + token.tokenId() + " names no organization: " + token.orgId());
    }
    CachedToken before = byId.get(token.tokenId());
    CachedToken after =
        byId.compute(
            token.tokenId(),
            (id, known) ->
                known != null && known.matches(token, org) ? known : new CachedToken(token, org));
    if (after == before) {
      return false;
    }
    changed.add(token.tokenId());
    return true;
  }

  /** A token, its secret's digest and its last use. */
  static final class CachedToken {
    final Token token;
    final byte[] secretSha256;
    final Principal principal;
    volatile long lastUsedAtMillis;
    volatile long storedAtMillis;

    CachedToken(Token token, Organization org) {
      this.token = token;
      this.secretSha256 = HexFormat.of().parseHex(token.secretSha256());
      this.principal =
          new Principal(
              org,
              "token:" + token.tokenId(),
              token.tokenId(),
              token.scopes(),
              token.cluster(),
              token.expiresAtMillis(),
              token.limits());
    }

    /** Returns whether the token is unchanged, so that its times of use are kept. */
    boolean matches(Token read, Organization org) {
      return token.equals(read) && principal.org().equals(org);
    }
  }
}
