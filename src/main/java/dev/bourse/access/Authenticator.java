package dev.bourse.access;

import dev.bourse.core.ApiError;
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
   * Whether a header presents what is no member's token: one that was minted for a program or an
   * operator, if it is one at all. Told by its form, so that nobody learns which tokens there are.
   */
  boolean isAgents(@Nullable String authorizationHeader);
}
