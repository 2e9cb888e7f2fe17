package dev.bourse.market;

import dev.bourse.core.Price;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.schemas.market.DepthJson;
import dev.bourse.schemas.market.DepthLevelJson;
import dev.bourse.schemas.market.FeedJson;
import dev.bourse.schemas.market.MarketPoolJson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pool and the last quote of its market.
 *
 * @param quote an empty quote before the first tick
 */
public record PoolQuote(Pool pool, Quote quote) {
  private static final Quote BEFORE_FIRST_TICK = new Quote(null, null, 0, 0, 0, 0);

  static PoolQuote of(Pool pool, @Nullable Quote quote) {
    return new PoolQuote(pool, quote == null ? BEFORE_FIRST_TICK : quote);
  }

  /** Returns the prices and the supply of pools. */
  public static FeedJson feed(List<PoolQuote> quotes) {
    return new FeedJson(quotes.stream().map(PoolQuote::toJson).toList());
  }

  private MarketPoolJson toJson() {
    Pool.Pause pause = pool.pause();
    return new MarketPoolJson(
        pool.name(),
        pool.site(),
        pool.gpuVendor(),
        pool.gpuModel(),
        pool.gpusPerNode(),
        Price.toUsdOrNull(quote.clearingCents()),
        Price.toUsdOrNull(quote.admissionCents()),
        Price.toUsd(pool.reserveCents()),
        Price.toUsd(pool.capCents()),
        quote.usableNodes(),
        quote.freeNodes(),
        quote.demand().nodes(),
        pause == null ? null : (Long) pause.sinceMillis(),
        pause == null ? null : pause.reason(),
        orNull(quote.tickAtMillis()),
        orNull(quote.nextTickAtMillis()));
  }

  /** Returns the demand by price. */
  public DepthJson depth() {
    return new DepthJson(
        pool.name(),
        quote.usableNodes(),
        quote.freeNodes(),
        quote.demand().nodes(),
        quote.demand().levels().stream()
            .map(level -> new DepthLevelJson(Price.toUsd(level.cents()), level.nodes()))
            .toList(),
        orNull(quote.tickAtMillis()),
        orNull(quote.nextTickAtMillis()));
  }

  private static @Nullable Long orNull(long millis) {
    return millis == 0 ? null : (Long) millis;
  }
}
