package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets nobody in on what was known too long ago: while other processes can revoke a token and this
 * one cannot hear of it, it had better not say that the token is good.
 */
final class FreshCredentials implements Authenticator {
  private static final long RETRY_MILLIS = 5_000;

  private final Authenticator inner;
  private final LongSupplier lastKnownNanos;
  private final LongSupplier nanos;
  private final long staleMillis;

  /**
   * @param lastKnownNanos when, on the same clock as {@code nanos}, it was last sure that no
   *     revocation of another process has gone unheard
   * @param staleMillis how long that may be ago
   */
  FreshCredentials(
      Authenticator inner, LongSupplier lastKnownNanos, LongSupplier nanos, long staleMillis) {
    this.inner = inner;
    this.lastKnownNanos = lastKnownNanos;
    this.nanos = nanos;
    this.staleMillis = staleMillis;
  }

  @Override
  public Caller authenticate(@Nullable String authorizationHeader) {
    if (authorizationHeader != null) {
      check();
    }
    return inner.authenticate(authorizationHeader);
  }

  @Override
  public boolean isAgents(@Nullable String authorizationHeader) {
    return inner.isAgents(authorizationHeader);
  }

  /**
   * Refuses when too little is known.
   *
   * @throws ApiError {@code overloaded}
   */
  void check() {
    long ageMillis = TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - lastKnownNanos.getAsLong());
    if (ageMillis > staleMillis) {
      throw ApiError.retryLater(
          ErrorCode.OVERLOADED,
          """
          the store has not been reached for %s s; whether a token is still good cannot be told\
          """
              .formatted(ageMillis / 1_000),
          RETRY_MILLIS);
    }
  }
}
