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

/** Revokes grants: by the member, by the application, or after a leak of a code or token. */
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

  /** The grant was revoked already. */
  private static final class GrantEndedException extends RuntimeException {
    GrantEndedException() {
      super("the grant has ended already", null, false, false);
    }
  }

  /**
   * Revokes a grant with all its tokens, with immediate effect here; does nothing if it was revoked
   * before.
   */
  Future<Void> end(Grant grant, String further) {
    return end(grant, grant.actor(), further);
  }

  /** Does the same in the name of another actor than the member. */
  Future<Void> end(Grant grant, String actor, String further) {
    long now = clock.millis();
    return revocations
        .revokeGrant(
            grant.grantId(),
            grant.expiresAtMillis(),
            List.of(
                GrantStore.revoke(grant.grantId(), now, GrantEndedException::new),
                AuditStore.insert(grant.row(actor, "oauth_revoke", now, further))))
        .recover(
            fault ->
                // Stores once more that its tokens are refused, which is harmless.
                fault instanceof GrantEndedException
                    ? revocations.revokeGrant(grant.grantId(), grant.expiresAtMillis(), List.of())
                    : Future.failedFuture(fault));
  }

  /** Revokes the grant of a token (RFC 7009); does nothing for a token of another client. */
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
  public Future<List<String>> listCredentials(String orgId, String username) {
    return store.listCredentials(orgId, username, clock.millis());
  }

  @Override
  public Future<Boolean> revoke(String orgId, String username, String id) {
    return find(orgId, username, id)
        .compose(
            theirs ->
                endIfFound(theirs, " reason=member")
                    .map(
                        ended ->
                            theirs.filter(grant -> grant.isInForce(clock.millis())).isPresent()));
  }

  /** Finds a member's grant to an application. A publishing credential is not one. */
  private Future<Optional<Grant>> find(String orgId, String username, String id) {
    return store
        .find(id)
        .map(
            found ->
                found.filter(
                    grant ->
                        grant.orgId().equals(orgId)
                            && grant.username().equals(username)
                            && !Revocations.isCredential(grant.grantId())));
  }

  @Override
  public Future<Boolean> narrow(String orgId, String username, String id, TokenLimits asked) {
    long now = clock.millis();
    return find(orgId, username, id)
        .compose(
            theirs -> {
              Grant grant = theirs.filter(one -> one.isInForce(now)).orElse(null);
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
    // A concurrent consent locks the member, too: it either commits before this or is refused.
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
