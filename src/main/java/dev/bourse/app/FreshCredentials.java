package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.access.NodeAgent;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Rejects all callers while this process may lack recent revocations, because another process could
 * have revoked a token without its knowledge.
 */
final class FreshCredentials implements Authenticator {
  private static final long RETRY_MILLIS = 5_000;

  private final Authenticator inner;
  private final Knowledge knowledge;
  private final LongSupplier nanos;
  private final long staleMillis;

  /** The freshness of a process's copy of revocations, by the monotonic clock. */
  interface Knowledge {
    /** Every revocation that was stored before this moment is in force here. */
    long knownAsOfNanos();

    /**
     * Completes with true when every revocation that was stored before a moment is in force here,
     * or with false if that takes too long or too many calls wait. Called on any thread.
     */
    Future<Boolean> awaitKnown(long sinceNanos);

    /** Returns the freshness for a store of one process, which is always current. */
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
   * @param staleMillis the greatest age of the copy when a request arrives; 0 for any age
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

  @Override
  public Optional<NodeAgent> findNode(@Nullable String authorizationHeader) {
    return inner.findNode(authorizationHeader);
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
        the store has been unreachable for %s s, so tokens cannot be checked for revocation\
        """
            .formatted(ageMillis / 1_000),
        RETRY_MILLIS);
  }
}
