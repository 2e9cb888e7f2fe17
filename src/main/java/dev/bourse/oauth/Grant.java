package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a member allowed an application.
 *
 * @param clientName what the application called itself then
 * @param resource what its tokens are for
 * @param refreshable whether it gets refresh tokens
 * @param idleUntilMillis when it ends, unless it is used before
 * @param expiresAtMillis when it ends, however it is used
 * @param revokedAtMillis when it was ended, null while it was not
 * @param usedAtMillis when it last gave tokens, null before the first
 * @param limits how far declarations by its tokens may go
 */
record Grant(
    String grantId,
    String orgId,
    String username,
    String clientId,
    String clientName,
    Set<Scope> scopes,
    String resource,
    boolean refreshable,
    long createdAtMillis,
    long idleUntilMillis,
    long expiresAtMillis,
    @Nullable Long revokedAtMillis,
    @Nullable Long usedAtMillis,
    TokenLimits limits) {
  Grant {
    scopes = Set.copyOf(scopes);
    if (grantId.isEmpty() || orgId.isEmpty() || username.isEmpty()) {
      throw new IllegalArgumentException(
          "a grant has an id and a member, not '%s' and '%s/%s'"
              .formatted(grantId, orgId, username));
    }
  }

  boolean isInForce(long nowMillis) {
    return revokedAtMillis == null && nowMillis < idleUntilMillis && nowMillis < expiresAtMillis;
  }

  /** The same under other limits. */
  Grant under(TokenLimits other) {
    return new Grant(
        grantId,
        orgId,
        username,
        clientId,
        clientName,
        scopes,
        resource,
        refreshable,
        createdAtMillis,
        idleUntilMillis,
        expiresAtMillis,
        revokedAtMillis,
        usedAtMillis,
        other);
  }

  String actor() {
    return "member:" + username;
  }

  /**
   * The audit row that says what became of it.
   *
   * @param further what to add to the description of the grant, with a space in front; may be empty
   */
  AuditRow row(String action, long atMillis, String further) {
    return new AuditRow(
        atMillis,
        orgId,
        actor(),
        action,
        orgId,
        "grant_id=%s client_id=%s scopes=%s resource=%s%s%s"
            .formatted(
                grantId,
                clientId,
                String.join(",", Scope.labels(scopes)),
                resource,
                limits.detail(),
                further));
  }
}
