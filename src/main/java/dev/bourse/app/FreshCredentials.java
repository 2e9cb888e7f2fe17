package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Refuses all callers while this process knows too little of revocations: other processes could
 * revoke a token without this one hearing of it.
 */
final class FreshCredentials implements Authenticator {
  private static final long RETRY_MILLIS = 5_000;

  private final Authenticator inner;
  private final Knowledge knowledge;
  private final LongSupplier nanos;
  private final long staleMillis;

  /** What a process knows of the revocations of others, by the monotonic clock. */
  interface Knowledge {
    /** Every revocation that was stored before this moment is in force here. */
    long knownAsOfNanos();

    /**
     * Completes once every revocation that was stored before a moment is in force here; with false
     * when that takes too long, or too many wait for it. Called on any thread.
     */
    Future<Boolean> awaitKnown(long sinceNanos);

    /** That of a process whose store nobody else changes. */
    static Knowledge complete(LongSupplier nanos) {
      return new Knowledge() {
        @Override
        public long knownAsOfNanos() {
          return nanos.getAsLong();
        }

        @Override
        public Future<Boolean> awaitKnown(long sinceNanos) {
          return Future.succeededFuture(true);
        }
      };
    }
  }

  /**
   * @param nanos the monotonic clock
   * @param staleMillis how old knowledge may be when a request arrives; at 0 it may be of any age
   */
  FreshCredentials(Authenticator inner, Knowledge knowledge, LongSupplier nanos, long staleMillis) {
    this.inner = inner;
    this.knowledge = staleMillis == 0 ? Knowledge.complete(nanos) : knowledge;
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
  public Future<Void> confirm(@Nullable String authorizationHeader, long sinceNanos) {
    return knowledge
        .awaitKnown(sinceNanos)
        .compose(
            isKnown ->
                isKnown
                    ? inner.confirm(authorizationHeader, sinceNanos)
                    : Future.failedFuture(stale(ageMillis())));
  }

  @Override
  public boolean isAgents(@Nullable String authorizationHeader) {
    return inner.isAgents(authorizationHeader);
  }

  /**
   * Refuses if the knowledge of revocations is too old.
   *
   * @throws ApiException {@code overloaded}
   */
  void check() {
    long ageMillis = ageMillis();
    if (ageMillis > staleMillis) {
      throw stale(ageMillis);
    }
  }

  private long ageMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - knowledge.knownAsOfNanos());
  }

  private static ApiException stale(long ageMillis) {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        """
        the store has not been reached for %s s; whether a token is still good cannot be told\
        """
            .formatted(ageMillis / 1_000),
        RETRY_MILLIS);
  }
}
