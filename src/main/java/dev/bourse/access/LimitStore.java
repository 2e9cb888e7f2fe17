package dev.bourse.access;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The limits of callers' declarations. A token's limits are in memory with the token. An
 * application's limits are read with its member's consent on each check, so a change applies at
 * once in every process, to access tokens issued earlier too.
 */
public final class LimitStore {
  /** The columns of limits, in a table of tokens or of consents. */
  public static final String COLUMNS =
      "max_gpus, max_price_cents, max_hourly_cents, max_lease_millis";

  private final Database database;

  public LimitStore(Database database) {
    this.database = database;
  }

  /** Adds the limits' columns to a table's. */
  public static <T> Columns<T> columns(Columns<T> table, Function<T, TokenLimits> limits) {
    return TokenLimits.columns(table, limits);
  }

  /**
   * Returns the current limits of a caller's declarations.
   *
   * <p>Fails with {@code unauthorized} if the caller's consent has been withdrawn.
   */
  public Future<TokenLimits> limitsOf(Principal caller) {
    String grantId = caller.grantId();
    return grantId == null
        ? Future.succeededFuture(caller.limits())
        : database
            .readFirst(
                "SELECT " + COLUMNS + " FROM oauth_grant WHERE grant_id = ?",
                List.of(grantId),
                TokenLimits::of)
            .map(
                found ->
                    found.orElseThrow(
                        () ->
                            BearerAuthenticator.unauthorized("the member's permission has ended")));
  }

  /**
   * Rejects operations of a limited application that could create authority without limits: another
   * member, token, key or receiver of events. Members in person and API tokens pass.
   *
   * <p>Fails with {@code token-limit}, or with {@code unauthorized} if the consent has been
   * withdrawn.
   *
   * @param what the operation's name, used in the error message
   */
  public Future<Void> requireNone(Principal caller, String what) {
    return caller.grantId() == null
        ? Future.succeededFuture()
        : limitsOf(caller)
            .map(
                limits -> {
                  limits.requireNone(what);
                  return null;
                });
  }

  /**
   * Returns a statement that makes other writes of a token or an application wait for the end of
   * this commit, in every process.
   *
   * @param grantId the consent of an application, null for a token
   */
  public static Statement lock(String tokenId, @Nullable String grantId) {
    return grantId == null
        ? Statement.of("UPDATE token SET token_id = token_id WHERE token_id = ?", tokenId)
        : Statement.of("UPDATE oauth_grant SET grant_id = grant_id WHERE grant_id = ?", grantId);
  }

  /**
   * Returns a statement that narrows the limits of a live row. The stored limits must still equal
   * those that the new ones were checked against.
   *
   * @param table {@code token} or {@code oauth_grant}
   * @param key the column that identifies the row
   * @param refusal creates the exception of the commit if the limits have changed
   */
  public static Statement narrow(
      String table,
      String key,
      String id,
      TokenLimits standing,
      TokenLimits next,
      Supplier<? extends RuntimeException> refusal) {
    return Statement.guarded(
        refusal,
        """
        UPDATE %s SET max_gpus = ?, max_price_cents = ?, max_hourly_cents = ?, max_lease_millis = ?
        WHERE %s = ? AND revoked_at IS NULL AND COALESCE(max_gpus, -1) = ?
        AND COALESCE(max_price_cents, -1) = ? AND COALESCE(max_hourly_cents, -1) = ?
        AND COALESCE(max_lease_millis, -1) = ?\
        """
            .formatted(table, key),
        next.maxGpus(),
        next.maxPriceCents(),
        next.maxHourlyCents(),
        next.maxLeaseMillis(),
        id,
        orNone(standing.maxGpus()),
        orNone(standing.maxPriceCents()),
        orNone(standing.maxHourlyCents()),
        orNone(standing.maxLeaseMillis()));
  }

  private static long orNone(@Nullable Number limit) {
    return limit == null ? -1 : limit.longValue();
  }
}
