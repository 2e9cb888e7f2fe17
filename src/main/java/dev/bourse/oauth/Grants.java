package dev.bourse.oauth;

import dev.bourse.access.MemberToken;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.Ids;
import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import dev.bourse.signin.Session;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Creates members' grants to applications and turns them into tokens. {@link GrantRevocation}
 * revokes them.
 */
final class Grants {
  static final long ACCESS_MILLIS = Duration.ofMinutes(10).toMillis();
  static final long CODE_MILLIS = Duration.ofMinutes(1).toMillis();
  static final long IDLE_MILLIS = Duration.ofDays(30).toMillis();
  static final long LONGEST_MILLIS = Duration.ofDays(90).toMillis();

  /** The prefix of codes, by which scanners find leaked ones. */
  private static final String CODE_PREFIX = SecretPrefix.AUTHORIZATION_CODE.text();

  private static final long KEPT_MILLIS = Duration.ofDays(1).toMillis();

  /** Grants of one member, all listed on the account page. A further one ends the oldest. */
  static final int MAX_OF_MEMBER = 100;

  private final Database database;
  private final GrantStore store;
  private final MemberTokens tokens;
  private final Members members;
  private final GrantRevocation revocation;
  private final Clock clock;
  private final RandomGenerator random;

  Grants(
      Database database,
      GrantStore store,
      GrantRevocation revocation,
      MemberTokens tokens,
      Members members,
      Clock clock,
      RandomGenerator random) {
    this.database = database;
    this.store = store;
    this.revocation = revocation;
    this.tokens = tokens;
    this.members = members;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Tokens issued to a client.
   *
   * @param refresh null when it gets none
   */
  record IssuedTokens(String access, @Nullable String refresh, Set<Scope> scopes) {}

  /**
   * A grant for a member's consent; nothing is stored yet.
   *
   * @param beginMillis how long the client has to fetch its first tokens, in milliseconds
   * @param limits the limits of declarations by its tokens
   */
  Grant grant(
      Session session,
      Client client,
      Set<Scope> scopes,
      String resource,
      long beginMillis,
      TokenLimits limits) {
    long now = clock.millis();
    return new Grant(
        Ids.next("grt", random),
        session.orgId(),
        session.username(),
        client.clientId(),
        client.name(),
        scopes,
        resource,
        client.isRefreshing(),
        now,
        now + beginMillis,
        now + LONGEST_MILLIS,
        null,
        null,
        limits);
  }

  /**
   * The statements that store a consent. The commit fails when the session of the consent has
   * ended; otherwise a consent that ran concurrently with its member's suspension would remain in
   * force.
   */
  static List<Statement> consented(Grant grant, Session session) {
    List<Statement> statements = new ArrayList<>(GrantStore.requireSession(session));
    statements.add(GrantStore.insert(grant));
    statements.add(AuditStore.insert(grant.row("oauth_grant", grant.createdAtMillis(), "")));
    return statements;
  }

  /** Stores a member's consent; returns the code with which the client gets its tokens. */
  Future<String> consent(Session session, AuthorizationRequest request, TokenLimits limits) {
    Grant grant =
        grant(session, request.client(), request.scopes(), request.resource(), CODE_MILLIS, limits);
    String code = CODE_PREFIX + Secrets.next(random);
    List<Statement> statements = new ArrayList<>(consented(grant, session));
    statements.add(
        GrantStore.insertCode(
            Secrets.stored(code), grant, request, grant.createdAtMillis() + CODE_MILLIS));
    return database.commit(statements).map(code);
  }

  /**
   * Exchanges a code for tokens; fails with {@link OAuthException}. A second use of a code ends the
   * grant with all its tokens.
   */
  Future<IssuedTokens> redeem(
      Client client, String code, String redirectUri, String verifier, @Nullable String resource) {
    String stored = Secrets.stored(code);
    return store
        .findCode(stored)
        .compose(
            found -> {
              if (found.isEmpty() || !found.get().grant().clientId().equals(client.clientId())) {
                throw invalid("the code is unknown");
              }
              GrantStore.Code known = found.get();
              if (known.isUsed()) {
                return revokeReplayed(known.grant(), "the code was used before");
              }
              if (clock.millis() >= known.expiresAtMillis()) {
                throw invalid("the code has expired");
              }
              if (!known.redirectUri().equals(redirectUri)) {
                throw invalid("redirect_uri: expected the one that the code was requested with");
              }
              if (!Pkce.isVerifierOf(known.challenge(), verifier)) {
                throw invalid("code_verifier: does not match the code_challenge");
              }
              requireResource(known.grant(), resource);
              return begin(
                  known.grant(),
                  GrantStore.useCode(stored, clock.millis()),
                  "the code was used before");
            });
  }

  /**
   * Exchanges a refresh token for new tokens; fails with {@link OAuthException}. A second use of a
   * refresh token ends the grant with all its tokens.
   */
  Future<IssuedTokens> refresh(
      Client client, String refresh, @Nullable String scope, @Nullable String resource) {
    RefreshToken presented = new RefreshToken(refresh);
    return store
        .findRefresh(presented)
        .compose(
            found -> {
              if (found.isEmpty() || !found.get().grant().clientId().equals(client.clientId())) {
                throw invalid("the refresh token is unknown");
              }
              Grant grant = found.get().grant();
              if (found.get().isUsed()) {
                return revokeReplayed(grant, "the refresh token was used before");
              }
              if (!grant.isInForce(clock.millis())) {
                throw invalid("the refresh token has expired or was revoked");
              }
              requireResource(grant, resource);
              RefreshToken next = presented.next(random);
              return issue(
                  grant,
                  Scopes.narrowed(scope, grant.scopes()),
                  List.of(GrantStore.useRefresh(presented, next)),
                  next,
                  "the refresh token was used before");
            });
  }

  private static void requireResource(Grant grant, @Nullable String resource) {
    if (resource != null && !resource.equals(grant.resource())) {
      throw new OAuthException(
          OAuthException.INVALID_TARGET, "resource: the member allowed " + grant.resource());
    }
  }

  /** Issues the first tokens of a grant to a device; fails if they were issued before. */
  Future<IssuedTokens> begin(String grantId, Statement use) {
    return store
        .find(grantId)
        .compose(
            found ->
                begin(
                    found.orElseThrow(() -> invalid("the permission does not exist any more")),
                    use,
                    "the device code was used before"));
  }

  private Future<IssuedTokens> begin(Grant grant, Statement use, String replay) {
    List<Statement> statements = new ArrayList<>(List.of(use));
    RefreshToken first = grant.refreshable() ? RefreshToken.first(random) : null;
    if (first != null) {
      statements.add(GrantStore.insertRefresh(first, grant.grantId()));
    }
    // Only a new grant can exceed the maximum.
    return issue(grant, grant.scopes(), statements, first, replay)
        .compose(issued -> trim(grant).otherwiseEmpty().map(issued));
  }

  /**
   * @param use marks the code or token as used, or fails the commit with {@link ReplayException};
   *     and stores the refresh token
   */
  private Future<IssuedTokens> issue(
      Grant grant,
      Set<Scope> scopes,
      List<Statement> use,
      @Nullable RefreshToken refresh,
      String replay) {
    if (grant.revokedAtMillis() != null) {
      throw grantRevoked();
    }
    if (!members.isActive(grant.orgId(), grant.username())) {
      throw invalid("the member was removed or suspended");
    }
    long now = clock.millis();
    long idleUntil = now + (grant.refreshable() ? IDLE_MILLIS : ACCESS_MILLIS);
    List<Statement> statements = new ArrayList<>(use);
    statements.add(GrantStore.prolong(grant.grantId(), now, idleUntil));
    statements.add(ClientRegistry.used(grant.clientId(), now));
    return database
        .commit(statements)
        .recover(
            fault ->
                fault instanceof ReplayException
                    ? revokeReplayed(grant, replay)
                    : Future.failedFuture(fault))
        .map(
            stored ->
                new IssuedTokens(
                    tokens.issue(
                        new MemberToken(
                            grant.orgId(),
                            grant.username(),
                            grant.resource(),
                            scopes,
                            grant.clientId(),
                            grant.grantId(),
                            ACCESS_MILLIS)),
                    refresh == null ? null : refresh.text(),
                    scopes));
  }

  /** Ends the grant, because one of two users of the same code or token is a thief. */
  private <T> Future<T> revokeReplayed(Grant grant, String why) {
    return revocation
        .end(grant, " reason=replay")
        .compose(ended -> Future.failedFuture(invalid(why + "; all its tokens are revoked")));
  }

  private Future<Void> trim(Grant grant) {
    return store
        .list(grant.orgId(), grant.username(), clock.millis(), MAX_OF_MEMBER, MAX_OF_MEMBER)
        .compose(
            older -> {
              Future<Void> ended = Future.succeededFuture();
              for (Grant one : older) {
                ended = ended.compose(done -> revocation.end(one, " reason=too-many"));
              }
              return ended;
            });
  }

  /**
   * Deletes expired rows.
   *
   * @param now confirmed time
   * @return false, because one run deletes all of them
   */
  Future<Boolean> sweep(long now) {
    List<Statement> statements = new ArrayList<>(GrantStore.sweep(now, KEPT_MILLIS));
    statements.addAll(ClientRegistry.sweep(now));
    return database.commit(statements).map(false);
  }

  static OAuthException grantRevoked() {
    return invalid("the permission was taken back");
  }

  private static OAuthException invalid(String description) {
    return new OAuthException(OAuthException.INVALID_GRANT, description);
  }
}
