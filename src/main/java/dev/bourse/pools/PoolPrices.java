package dev.bourse.pools;

import dev.bourse.core.Price;
import dev.bourse.schemas.common.PoolPricesJson;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A pool as its bidders see it.
 *
 * @param pool its terms in force for the bidder
 * @param clearingCents the price of the bidder's organization as of the last tick, or the clearing
 *     price without a bidder; null if no organization holds a node
 * @param admissionCents the lowest ceiling that would win a node; null if none would
 */
public record PoolPrices(Pool pool, @Nullable Long clearingCents, @Nullable Long admissionCents) {

  /** Returns the pool with the prices of its market's last quote, if it has one. */
  public static PoolPrices of(Pool pool, @Nullable Quote quote) {
    return quote == null
        ? new PoolPrices(pool, null, null)
        : new PoolPrices(pool, quote.clearingCents(), quote.admissionCents());
  }

  /** Returns the prices for one organization. */
  public static PoolPrices of(Pool pool, @Nullable Quote quote, String orgId) {
    return quote == null
        ? new PoolPrices(pool, null, null)
        : new PoolPrices(pool, quote.centsOf(orgId), quote.admissionCents());
  }

  /** True if both have the same prices. */
  public boolean agreesWith(PoolPrices other) {
    return Objects.equals(clearingCents, other.clearingCents)
        && Objects.equals(admissionCents, other.admissionCents);
  }

  /** Returns the prices as all contracts show them. */
  public PoolPricesJson toJson() {
    return new PoolPricesJson(
        pool.name(),
        pool.site(),
        Price.toUsdOrNull(clearingCents),
        Price.toUsdOrNull(admissionCents),
        Price.toUsd(pool.reserveCents()),
        Price.toUsd(pool.capCents()));
  }
}
