package dev.bourse.access;

import dev.bourse.core.ApiException;
import io.vertx.core.Future;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Authenticates callers. Never blocks, because all data is in memory. */
public interface Authenticator {
  /**
   * Returns the caller of an {@code Authorization} header.
   *
   * @throws ApiException {@code unauthorized} if the header is missing or malformed, or its token
   *     is unknown, expired or revoked
   */
  Caller authenticate(@Nullable String authorizationHeader);

  /**
   * Fails if an authenticated credential was revoked, as {@link #authenticate} does, and with
   * {@code overloaded} if this process may lack revocations from before the given moment. Expiry is
   * ignored, because a long upload may outlive a token. Called on any thread.
   *
   * @param authorizationHeader a header that {@link #authenticate} accepted
   * @param sinceNanos the moment, on the monotonic clock, up to which revocations must be known
   */
  Future<Void> confirm(@Nullable String authorizationHeader, long sinceNanos);

  /**
   * Returns whether a header does not have the form of a person's token, so that it can only be a
   * token of a program, a job or an operator. It checks the form only, so the answer does not
   * reveal which tokens exist.
   */
  boolean isAgents(@Nullable String authorizationHeader);

  /** Finds the held node whose valid credential a header has; empty for every other header. */
  Optional<NodeAgent> findNode(@Nullable String authorizationHeader);
}
