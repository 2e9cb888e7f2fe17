package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
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

/**
 * Every live token, in memory. One entry is about 400 bytes; a hundred thousand tokens are 40 MB.
 */
public final class Tokens implements Mirror {
  /** How often {@link #flushSome} is due: one write a minute for a token, whatever its traffic. */
  public static final long TOUCH_INTERVAL_MILLIS = 60_000;

  /** What other processes are told when tokens come or go; the key is the one it is about. */
  public static final String CHANGED = "tokens";

  /**
   * What other processes are told when an organization comes, changes or goes, or loses several
   * tokens at once; the key is the organization. A process of the release before does not know it,
   * and reads everything anew.
   */
  public static final String ORGANIZATION_CHANGED = "organizations";

  /** Small enough that a client's write queued behind it waits a few milliseconds. */
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

  /** Whether a reading failed, so that what is in memory may be out of date. */
  private volatile boolean isBehind;

  /**
   * Reads all organizations and tokens anew. When this succeeds, every token minted or revoked
   * before the call counts as such: readings never overtake each other, so what an earlier one
   * found cannot undo a later one.
   */
  public Future<Void> load() {
    return readings.next(() -> loadAll().onComplete(read -> isBehind = read.failed()));
  }

  /** Reads everything anew when a reading failed since everything was read last. */
  public Future<Void> catchUp() {
    return isBehind ? load() : Future.succeededFuture();
  }

  /** Reads one token anew: it was minted or revoked just now. */
  public Future<Void> refresh(String tokenId) {
    return refresh(List.of(tokenId)).onFailure(e -> isBehind = true).mapEmpty();
  }

  /** Reads tokens anew, after any reading under way, and organizations that are not known yet. */
  @Override
  public Future<Refreshed> refresh(List<String> tokenIds) {
    return readings.next(
        () ->
            store
                .listLiveTokens(tokenIds)
                .compose(
                    found ->
                        meet(found)
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

  /** Another process may have made the organization of a token a moment ago. */
  private Future<Void> meet(List<Token> tokens) {
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

  /** Reads an organization and its tokens anew: it is new, changed or lost some. */
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

  /** The organizations, by id; retired ones, too. With one come its tokens. */
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
   * Forgets a token whose revocation is stored. Readings begun before the call end first, so that
   * none brings it back; the store is not asked, so that its being away cannot keep the token
   * alive.
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
   * Returns a token that was not revoked; it may have expired.
   *
   * @throws ApiError {@code unauthorized} when it is unknown or revoked
   */
  CachedToken requireInForce(TokenSecret presented) {
    CachedToken entry = byId.get(presented.tokenId());
    if (entry == null || !MessageDigest.isEqual(entry.secretSha256, presented.sha256())) {
      throw BearerAuthenticator.unauthorized("the token is unknown or revoked");
    }
    return entry;
  }

  /**
   * Stores the times of last use that moved since they were last stored, one commit after the
   * other: of a hundred thousand tokens all at once would fill the store's queue, and writers would
   * be refused. What could not be stored is tried again the next time.
   */
  public Future<Void> flush() {
    return flushSome().compose(isMore -> isMore ? flush() : Future.succeededFuture());
  }

  /** Stores some of the times that {@link #flush} stores; returns whether there are more. */
  public Future<Boolean> flushSome() {
    List<CachedToken> moved =
        byId.values().stream()
            .filter(e -> e.lastUsedAtMillis > e.storedAtMillis)
            .limit(TOUCHES_PER_COMMIT)
            .toList();
    return moved.isEmpty()
        ? Future.succeededFuture(false)
        : store(moved).map(moved.size() == TOUCHES_PER_COMMIT);
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

  /** Tells whether it was not known as it is. */
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
                known != null && known.standsFor(token, org) ? known : new CachedToken(token, org));
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

    /** Whether nothing of it changed, so that its times of use are kept. */
    boolean standsFor(Token read, Organization org) {
      return token.equals(read) && principal.org().equals(org);
    }
  }
}
