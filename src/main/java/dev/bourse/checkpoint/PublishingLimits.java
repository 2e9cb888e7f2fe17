package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import java.util.List;
import java.util.function.Supplier;

/**
 * Statements that hold a publishing credential to its limits in the commit that uses it, so that
 * they apply across processes and to concurrent uploads.
 *
 * <p>Bytes count from their announcement on: those of published revisions in {@code
 * published_bytes}, those of drafts by their rows, so that a withdrawn or expired draft returns its
 * bytes without further bookkeeping.
 */
final class PublishingLimits {
  /**
   * Condition that a row of {@code oauth_grant} has not ended, apart from its expiry. A credential
   * of a node ends when the node begins to be reclaimed.
   */
  static final String NOT_ENDED =
      """
      revoked_at IS NULL AND (allocation_id IS NULL OR EXISTS (SELECT 1 FROM allocation a \
      WHERE a.allocation_id = oauth_grant.allocation_id AND a.gone_at IS NULL \
      AND a.state <> 'RECLAIMING'))\
      """;

  private PublishingLimits() {}

  /** Returns statements that reserve the bytes of a draft, after its row is written. */
  static List<Statement> reserve(Revision draft, long nowMillis) {
    String credentialId = String.valueOf(draft.credentialId());
    return List.of(
        inForce(PublishingLimits::ended, "used_at = ?", credentialId, nowMillis, nowMillis),
        // A statement of its own, because PostgreSQL sums as of the start of the statement that
        // waits for the lock.
        Statement.guarded(
            full(draft),
            """
            UPDATE oauth_grant SET used_at = ? WHERE grant_id = ? AND publish_bytes >= \
            published_bytes + (SELECT COALESCE(SUM(r.bytes), 0) FROM checkpoint_revision r \
            WHERE r.credential_id = oauth_grant.grant_id AND r.state = 'pending')\
            """,
            nowMillis,
            credentialId));
  }

  /** Returns a statement that counts the bytes of a draft as published. */
  static Statement spend(Revision published, long nowMillis) {
    // The member may send this, too, and is signed in.
    return inForce(
        PublishingLimits::announcerEnded,
        "published_bytes = published_bytes + ?",
        String.valueOf(published.credentialId()),
        published.metadata().bytes(),
        nowMillis);
  }

  private static ApiException ended() {
    return ApiException.of(
        ErrorCode.UNAUTHORIZED, "the publishing credential has expired or was revoked");
  }

  private static ApiException announcerEnded() {
    return ApiException.of(
        ErrorCode.GONE,
        """
        the publishing credential that announced this file has expired or was revoked; \
        announce the file again\
        """);
  }

  private static Statement inForce(
      Supplier<ApiException> ended,
      String change,
      String credentialId,
      long value,
      long nowMillis) {
    return Statement.guarded(
        ended,
        "UPDATE oauth_grant SET %s WHERE grant_id = ? AND expires_at > ? AND %s"
            .formatted(change, NOT_ENDED),
        value,
        credentialId,
        nowMillis);
  }

  private static Supplier<ApiException> full(Revision draft) {
    return () ->
        ApiException.of(
                ErrorCode.TOKEN_LIMIT,
                """
                bytes: %s more exceed the limit of this publishing credential, which counts \
                published and announced bytes; mint one with a higher max_bytes\
                """,
                draft.metadata().bytes())
            .with("limit", "max_bytes");
  }
}
