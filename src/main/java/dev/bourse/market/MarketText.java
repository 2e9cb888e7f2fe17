package dev.bourse.market;

import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.events.PriceHistory;
import dev.bourse.pools.Demand;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the market as JSON, as the contract defines it. */
public final class MarketText {
  private static final Quote BEFORE_FIRST_TICK = new Quote(null, null, 0, 0, 0, 0);

  private MarketText() {}

  /** Returns every pool's prices and supply. */
  public static JsonObject feed(List<MarketService.PoolQuote> quotes) {
    JsonArray pools = new JsonArray();
    quotes.forEach(p -> pools.add(pool(p.pool(), p.quote().orElse(BEFORE_FIRST_TICK))));
    return new JsonObject().put("pools", pools);
  }

  /** Returns a pool's demand by price. */
  public static JsonObject depth(MarketService.PoolQuote read) {
    Quote quote = read.quote().orElse(BEFORE_FIRST_TICK);
    JsonArray levels = new JsonArray();
    for (Demand.Level level : quote.demand().levels()) {
      levels.add(
          new JsonObject()
              .put("price_per_gpu_hour", Price.toUsd(level.cents()))
              .put("nodes", level.nodes()));
    }
    return new JsonObject()
        .put("pool", read.pool().name())
        .put("usable_nodes", quote.usableNodes())
        .put("free_nodes", quote.freeNodes())
        .put("demand_nodes", quote.demand().nodes())
        .put("levels", levels)
        .put("tick_at", timeOrNull(quote.tickAtMillis()))
        .put("next_tick_at", timeOrNull(quote.nextTickAtMillis()));
  }

  /** Returns a pool's past prices. */
  public static JsonObject history(String pool, PriceHistory past) {
    JsonArray clearing = new JsonArray();
    for (Double cents : past.clearingCents()) {
      // A mean of cents has a fraction; six decimals keep it under a micro-dollar.
      clearing.add(cents == null ? null : Math.round(cents * 1e4) / 1e6);
    }
    JsonArray admission = new JsonArray();
    past.admissionCents().forEach(cents -> admission.add(Price.toUsdOrNull(cents)));
    return new JsonObject()
        .put("pool", pool)
        .put("t0", past.t0Seconds())
        .put("step", past.stepSeconds())
        .put("clearing_price", clearing)
        .put("admission_price", admission);
  }

  private static JsonObject pool(Pool pool, Quote quote) {
    Pool.Pause pause = pool.pause();
    return new JsonObject()
        .put("pool", pool.name())
        .put("site", pool.site())
        .put("gpu_vendor", pool.gpuVendor())
        .put("gpu_model", pool.gpuModel())
        .put("gpus_per_node", pool.gpusPerNode())
        .put("clearing_price_per_gpu_hour", Price.toUsdOrNull(quote.clearingCents()))
        .put("admission_price_per_gpu_hour", Price.toUsdOrNull(quote.admissionCents()))
        .put("reserve_price_per_gpu_hour", Price.toUsd(pool.reserveCents()))
        .put("max_price_cap_per_gpu_hour", Price.toUsd(pool.capCents()))
        .put("usable_nodes", quote.usableNodes())
        .put("free_nodes", quote.freeNodes())
        .put("demand_nodes", quote.demand().nodes())
        .put("paused_since", pause == null ? null : Times.rfc3339(pause.sinceMillis()))
        .put("pause_reason", pause == null ? null : pause.reason())
        .put("tick_at", timeOrNull(quote.tickAtMillis()))
        .put("next_tick_at", timeOrNull(quote.nextTickAtMillis()));
  }

  private static @Nullable String timeOrNull(long millis) {
    return millis == 0 ? null : Times.rfc3339(millis);
  }
}
