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
 * The limits that callers are under. A token's are in memory with it. An application's are read
 * with its member's consent at each look: they are then in force on every process as soon as they
 * are stored, whatever its access tokens were issued under.
 */
public final class LimitStore {
  /** Their columns, in a table of tokens or of consents. */
  public static final String COLUMNS =
      "max_gpus, max_price_cents, max_hourly_cents, max_lease_millis";

  private final Database database;

  public LimitStore(Database database) {
    this.database = database;
  }

  /** Adds their columns to a table's. */
  public static <T> Columns<T> columns(Columns<T> table, Function<T, TokenLimits> limits) {
    return TokenLimits.columns(table, limits);
  }

  /**
   * What a caller's declarations are held to now.
   *
   * <p>Fails with {@code unauthorized} when the consent it acts by is gone.
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
   * Refuses an application under limits what could lead to something that is under none: another
   * member, token, key or receiver of events. Members in person and API tokens pass.
   *
   * <p>Fails with {@code token-limit}, or with {@code unauthorized} when the consent is gone.
   *
   * @param what the operation, for the refusal
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
   * Keeps other writes of a token or an application waiting until this commit is over, in every
   * process.
   *
   * @param grantId the consent that an application acts by, null for a token
   */
  public static Statement lock(String tokenId, @Nullable String grantId) {
    return grantId == null
        ? Statement.of("UPDATE token SET token_id = token_id WHERE token_id = ?", tokenId)
        : Statement.of("UPDATE oauth_grant SET grant_id = grant_id WHERE grant_id = ?", grantId);
  }

  /**
   * Narrows the limits of a live row; they must still be those that the new ones were judged by.
   *
   * @param table {@code token} or {@code oauth_grant}
   * @param key the column that names the row
   * @param refusal what the commit fails with when they are not
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
