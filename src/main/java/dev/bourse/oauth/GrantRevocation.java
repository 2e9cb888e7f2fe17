package dev.bourse.oauth;

import dev.bourse.access.MemberTokens;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Ends what members allowed applications: when the member takes it back, when the application gives
 * it back, or when somebody else holds what was issued.
 */
final class GrantRevocation implements ConnectedApplications {
  private final GrantStore store;
  private final MemberTokens tokens;
  private final Revocations revocations;
  private final Clock clock;

  GrantRevocation(GrantStore store, MemberTokens tokens, Revocations revocations, Clock clock) {
    this.store = store;
    this.tokens = tokens;
    this.revocations = revocations;
    this.clock = clock;
  }

  /** The grant that was to be ended has ended already. */
  private static final class EndedAlready extends RuntimeException {
    EndedAlready() {
      super("the grant has ended already", null, false, false);
    }
  }

  /** Ends a grant with all its tokens, here at once; nothing happens when it has ended. */
  Future<Void> end(Grant grant, String further) {
    long now = clock.millis();
    return revocations
        .revokeGrant(
            grant.grantId(),
            List.of(
                GrantStore.revoke(grant.grantId(), now, EndedAlready::new),
                AuditStore.insert(grant.row("oauth_revoke", now, further))))
        .recover(
            fault ->
                // That its tokens are refused is stored once more, which does no harm.
                fault instanceof EndedAlready
                    ? revocations.revokeGrant(grant.grantId(), List.of())
                    : Future.failedFuture(fault));
  }

  /** Ends the grant of a token (RFC 7009); nothing happens for one that is not the client's. */
  Future<Void> revoke(Client client, String token) {
    if (RefreshToken.isOne(token)) {
      return store
          .findRefresh(new RefreshToken(token))
          .compose(
              found ->
                  endIfFound(
                      found
                          .map(GrantStore.Refresh::grant)
                          .filter(grant -> grant.clientId().equals(client.clientId())),
                      " reason=client"));
    }
    return tokens
        .findGrant(token, client.clientId())
        .map(grantId -> store.find(grantId).compose(found -> endIfFound(found, " reason=client")))
        .orElseGet(Future::succeededFuture);
  }

  private Future<Void> endIfFound(Optional<Grant> grant, String further) {
    return grant.isPresent() ? end(grant.get(), further) : Future.succeededFuture();
  }

  @Override
  public Future<List<Application>> list(String orgId, String username) {
    return store
        .list(orgId, username, clock.millis(), Grants.MAX_OF_MEMBER, 0)
        .map(
            found ->
                found.stream()
                    .map(
                        grant ->
                            new Application(
                                grant.grantId(),
                                grant.clientName(),
                                String.join("; ", Scopes.words(grant.scopes())),
                                Scope.labels(grant.scopes()),
                                grant.createdAtMillis(),
                                grant.usedAtMillis(),
                                Math.min(grant.idleUntilMillis(), grant.expiresAtMillis()),
                                grant.limits()))
                    .toList());
  }

  @Override
  public Future<Boolean> revoke(String orgId, String username, String id) {
    return store
        .find(id)
        .map(
            found ->
                found.filter(
                    grant -> grant.orgId().equals(orgId) && grant.username().equals(username)))
        .compose(
            theirs ->
                endIfFound(theirs, " reason=member")
                    .map(
                        ended ->
                            theirs.filter(grant -> grant.isInForce(clock.millis())).isPresent()));
  }

  @Override
  public Future<Boolean> narrow(String orgId, String username, String id, TokenLimits asked) {
    long now = clock.millis();
    return store
        .find(id)
        .compose(
            found -> {
              Grant grant =
                  found
                      .filter(one -> one.orgId().equals(orgId) && one.username().equals(username))
                      .filter(one -> one.isInForce(now))
                      .orElse(null);
              if (grant == null) {
                return Future.succeededFuture(false);
              }
              TokenLimits next = grant.limits().narrowedTo(asked);
              return next.equals(grant.limits())
                  ? Future.succeededFuture(true)
                  : store.narrow(grant, next, now).map(true);
            });
  }

  @Override
  public Future<Void> revokeAll(String orgId, String username, List<Statement> along) {
    List<Statement> statements = new ArrayList<>();
    // A consent that is under way locks the member, too: it is before this or finds itself refused.
    statements.add(
        Statement.of(
            "UPDATE member SET username = username WHERE org_id = ? AND username = ?",
            orgId,
            username));
    statements.addAll(along);
    statements.add(
        AuditStore.insert(
            new AuditRow(
                clock.millis(), orgId, "member:" + username, "oauth_revoke", orgId, "all grants")));
    return revocations.revokeMember(orgId, username, statements);
  }
}
