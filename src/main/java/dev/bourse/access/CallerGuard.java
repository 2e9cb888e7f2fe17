package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import java.util.List;

/**
 * Makes a commit fail if its caller was removed, suspended or revoked after the request was
 * authenticated. Use it for objects that a removal deletes together with the caller; without it, a
 * request in flight during the removal leaves an object behind. All other audited writes are
 * checked before they are committed, with information that may be a second old.
 */
public final class CallerGuard {
  private static final String MEMBER = "member:";
  private static final String TOKEN = "token:";
  private static final String LIVE_ORG =
      "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL AND ";

  private CallerGuard() {}

  /**
   * Returns statements for the start of a commit. The first one locks the organization's row, which
   * a removal locks too. PostgreSQL evaluates a condition on other tables as of the statement's
   * start, so the condition is a statement of its own. Callers of a retired organization are
   * rejected.
   *
   * @param actor the actor's name in audit rows; actors other than members and tokens always pass
   */
  public static List<Statement> of(String orgId, String actor) {
    if (actor.startsWith(MEMBER)) {
      return List.of(
          lock(orgId),
          Statement.guarded(
              () -> ApiException.of(ErrorCode.FORBIDDEN, "you were removed or suspended just now"),
              LIVE_ORG
                  + """
                  EXISTS (SELECT 1 FROM member WHERE org_id = ? AND username = ?
                  AND suspended_at IS NULL)\
                  """,
              orgId,
              orgId,
              actor.substring(MEMBER.length())));
    }
    if (actor.startsWith(TOKEN)) {
      return List.of(
          lock(orgId),
          Statement.guarded(
              () -> BearerAuthenticator.unauthorized("the token is unknown or revoked"),
              LIVE_ORG
                  + """
                  NOT EXISTS (SELECT 1 FROM token WHERE token_id = ? AND revoked_at IS NOT NULL)\
                  """,
              orgId,
              actor.substring(TOKEN.length())));
    }
    return List.of();
  }

  /**
   * Returns the statement that locks an organization's row, so that commits that begin with it
   * follow each other.
   */
  public static Statement lock(String orgId) {
    return Statement.of("UPDATE org SET retired_at = retired_at WHERE org_id = ?", orgId);
  }
}
