package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A member's grant to an application.
 *
 * @param clientName the application's name at the time
 * @param resource the address its tokens are for
 * @param refreshable whether it gets refresh tokens
 * @param idleUntilMillis when it expires unless it is used before
 * @param expiresAtMillis when it expires despite use
 * @param revokedAtMillis when it was revoked, null if it was not
 * @param usedAtMillis when it last issued tokens, null before the first
 * @param limits the limits of declarations by its tokens
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

  /** The same grant with other limits. */
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
   * The audit row of a change of the grant.
   *
   * @param further text to append to the description of the grant, with a space in front; may be
   *     empty
   */
  AuditRow row(String action, long atMillis, String further) {
    return row(actor(), action, atMillis, further);
  }

  /** Returns the same audit row in the name of another actor than the member. */
  AuditRow row(String actor, String action, long atMillis, String further) {
    return new AuditRow(
        atMillis,
        orgId,
        actor,
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
