package dev.bourse.edge;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.logs.RequestContext;
import io.vertx.core.Future;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Whether the session of a request is still valid. It asks the store again if the last look-up is
 * too old.
 */
public final class SessionStanding implements RequestContext.Standing {
  private final String id;
  private final String actor;
  private final Function<Set<String>, Future<Set<String>>> inForce;
  private final LongSupplier nanos;
  private volatile long seenNanos;

  /**
   * Creates the standing of a session that was found valid just now.
   *
   * @param actor the name of the member or operator in audit rows
   * @param inForce see {@link dev.bourse.access.SessionAuthenticator#listInForce}
   * @param nanos the monotonic clock
   */
  public SessionStanding(
      String id,
      String actor,
      Function<Set<String>, Future<Set<String>>> inForce,
      LongSupplier nanos) {
    this.id = id;
    this.actor = actor;
    this.inForce = inForce;
    this.nanos = nanos;
    seenNanos = nanos.getAsLong();
  }

  @Override
  public String actor() {
    return actor;
  }

  @Override
  public Future<Void> confirm(long sinceNanos) {
    if (seenNanos - sinceNanos >= 0) {
      return Future.succeededFuture();
    }
    long asked = nanos.getAsLong();
    return inForce
        .apply(Set.of(id))
        .map(
            found -> {
              if (!found.contains(id)) {
                throw ended();
              }
              seenNanos = asked;
              return null;
            });
  }

  /** Returns the error for a session that is not valid. */
  public static ApiException ended() {
    return ApiException.of(ErrorCode.UNAUTHORIZED, "the session has ended; sign in again");
  }
}
