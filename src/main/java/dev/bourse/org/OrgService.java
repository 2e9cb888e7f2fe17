package dev.bourse.org;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.access.Tokens;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailExport;
import dev.bourse.audit.TrailQuery;
import dev.bourse.audit.TrailStore;
import dev.bourse.audit.TrailText;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers the questions of an organization's tokens about the organization, and lets a token revoke
 * itself.
 */
public final class OrgService {
  /** Stands for the calling token in place of its id. No id has this length. */
  static final String SELF = "self";

  private final Database database;
  private final OrgStore orgs;
  private final RosterStore roster;
  private final JoinRuleStore rules;
  private final TokenStore tokenStore;
  private final TrailStore trails;
  private final Directory directory;
  private final Tokens tokens;
  private final Clock clock;

  public OrgService(
      Database database, TrailStore trails, Directory directory, Tokens tokens, Clock clock) {
    this.database = database;
    this.orgs = new OrgStore(database);
    this.roster = new RosterStore(database);
    this.rules = new JoinRuleStore(database);
    this.tokenStore = new TokenStore(database);
    this.trails = trails;
    this.directory = directory;
    this.tokens = tokens;
    this.clock = clock;
  }

  /** The clusters the caller can address, by name. */
  public Future<List<AddressableCluster>> listClusters(Principal caller) {
    return orgs.listClusters(caller.org().orgId(), caller.cluster());
  }

  /** The limits of the caller's declarations. */
  public Future<TokenLimits> readLimits(Principal caller) {
    return new LimitStore(database).limitsOf(caller);
  }

  /** Members, join rules and open invitations. */
  Future<Roster> readRoster(String orgId) {
    Future<List<JoinRule>> rules = this.rules.listAll(orgId);
    return roster
        .listAll(orgId)
        .compose(
            members ->
                Future.all(directory.find(members), rules)
                    .map(both -> Roster.of(members, both.resultAt(0), rules.result())));
  }

  /** A page of members as other members see them, by username. */
  public Future<Page<Colleague>> listColleagues(String orgId, int limit, Optional<String> after) {
    Future<Map<String, Long>> liveTokens = tokenStore.countLive(orgId, clock.millis());
    return roster
        .list(orgId, limit, after)
        .compose(
            page ->
                Future.all(directory.find(page.items()), liveTokens)
                    .map(
                        both -> {
                          Map<String, Directory.Person> people = both.resultAt(0);
                          return new Page<>(
                              page.items().stream()
                                  .map(
                                      member ->
                                          Colleague.of(
                                              member,
                                              Optional.ofNullable(people.get(member.username())),
                                              liveTokens
                                                  .result()
                                                  .getOrDefault(member.username(), 0L)))
                                  .toList(),
                              page.more());
                        }));
  }

  /** Tokens, live and not, the newest first. */
  Future<List<TokenView>> listTokens(String orgId) {
    return tokenStore.listNewest(orgId);
  }

  /** A page of the organization's trail. */
  Future<Page<TrailEntry>> listActivity(String orgId, TrailQuery query) {
    return trails.listEntries(orgId, Optional.empty(), query);
  }

  /** The organization's trail as one text. */
  TrailExport exportActivity(String orgId, TrailText form, TrailQuery query) {
    return new TrailExport(trails, orgId, form, query);
  }

  /**
   * A page of one token's activity.
   *
   * @param tokenId {@code self} for the caller's own
   * @throws ApiException {@code not-found}, with the same wording for another organization's token
   *     and for a token that does not exist
   */
  Future<Page<TrailEntry>> listTokenActivity(Principal caller, String tokenId, TrailQuery query) {
    String orgId = caller.org().orgId();
    // A member has no token that self could refer to.
    if (tokenId.equals(SELF) && caller.member() == null) {
      return trails.listEntries(orgId, Optional.of(caller.actor()), query);
    }
    return tokenStore
        .has(orgId, tokenId)
        .compose(
            known ->
                known
                    ? trails.listEntries(orgId, Optional.of("token:" + tokenId), query)
                    : Future.failedFuture(ApiException.notFound("token", tokenId)));
  }

  /**
   * Revokes the caller's own token. When this succeeds, later requests with the token are refused:
   * here at once, on other replicas within a second. The second of two concurrent calls fails with
   * {@code unauthorized}, as if it had come later.
   *
   * @return when it was revoked
   */
  Future<Long> revokeOwnToken(Principal caller) {
    long now = clock.millis();
    String orgId = caller.org().orgId();
    AuditRow row =
        new AuditRow(
            now, orgId, caller.actor(), "vm_token_revoke", orgId, "token_id=" + caller.tokenId());
    return database
        .commit(
            List.of(
                TokenStore.revokeOwn(orgId, caller.tokenId(), now)
                    .orElse(TokenRevokedException::new),
                AuditStore.insert(row)),
            List.of(new Change(Tokens.CHANGED, caller.tokenId())))
        .recover(
            e ->
                e instanceof TokenRevokedException
                    ? tokens
                        .drop(caller.tokenId())
                        .compose(dropped -> Future.failedFuture(unauthorized()))
                    : Future.failedFuture(e))
        .compose(stored -> tokens.drop(caller.tokenId()))
        .map(dropped -> now);
  }

  private static ApiException unauthorized() {
    return ApiException.of(ErrorCode.UNAUTHORIZED, "the token is unknown or revoked");
  }

  /** Another call revoked the token first. */
  private static final class TokenRevokedException extends RuntimeException {
    TokenRevokedException() {
      super("the token is revoked already", null, false, false);
    }
  }
}
