package dev.bourse.access;

import dev.bourse.core.ApiError;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Finds the caller of a request. Never blocks: all it needs is in memory. */
public interface Authenticator {
  /**
   * The caller an {@code Authorization} header stands for.
   *
   * @throws ApiError {@code unauthorized} when the header is missing or malformed, or its token is
   *     unknown, expired or revoked
   */
  Caller authenticate(@Nullable String authorizationHeader);

  /**
   * Fails if an authenticated credential was revoked, as {@link #authenticate} does, and with
   * {@code overloaded} if revocations until the given moment are not all known. Expiry does not
   * count, because a long upload may outlive a token. Called on any thread.
   *
   * @param authorizationHeader a header that {@link #authenticate} accepted
   * @param sinceNanos the moment, by the monotonic clock, up to which revocations must be known
   */
  Future<Void> confirm(@Nullable String authorizationHeader, long sinceNanos);

  /**
   * Whether a header presents what is no member's token: one that was minted for a program or an
   * operator, if it is one at all. Told by its form, so that nobody learns which tokens there are.
   */
  boolean isAgents(@Nullable String authorizationHeader);
}
