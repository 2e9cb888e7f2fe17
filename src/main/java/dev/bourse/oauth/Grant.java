package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a member allowed an application.
 *
 * @param clientName what the application called itself then
 * @param resource what its tokens are for
 * @param refreshable whether it gets refresh tokens
 * @param idleUntilMillis it ends then, unless it is used before
 * @param expiresAtMillis it ends then, however it is used
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
    @Nullable Long revokedAtMillis) {

  boolean isInForce(long nowMillis) {
    return revokedAtMillis == null && nowMillis < idleUntilMillis && nowMillis < expiresAtMillis;
  }

  String actor() {
    return "member:" + username;
  }

  /**
   * The trail's row of what became of it.
   *
   * @param further what is told beyond the grant itself, with a space in front; empty for nothing
   */
  AuditRow row(String action, long atMillis, String further) {
    return new AuditRow(
        atMillis,
        orgId,
        actor(),
        action,
        orgId,
        "grant_id="
            + grantId
            + " client_id="
            + clientId
            + " scopes="
            + Scopes.text(scopes).replace(' ', ',')
            + " resource="
            + resource
            + further);
  }
}
