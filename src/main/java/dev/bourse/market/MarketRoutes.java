package dev.bourse.market;

import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Demand;
import dev.bourse.capacity.Pool;
import dev.bourse.capacity.Quote;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The market contract's operations. */
public final class MarketRoutes {
  private static final Quote BEFORE_FIRST_TICK = new Quote(null, null, 0, 0, 0, 0);

  private static final double DEFAULT_HISTORY_HOURS = 24;

  private final MarketService market;
  private volatile @Nullable Feed lastFeed;

  /** The feed as encoded, and what it was encoded of. */
  private record Feed(List<MarketService.PoolQuote> of, ClusterView.Encoded encoded) {}

  public MarketRoutes(MarketService market) {
    this.market = market;
  }

  public void bind(Operations operations) {
    operations
        .bind("readMarketFeed", call -> Future.succeededFuture(feed()))
        .bind("readMarketDepth", this::depth)
        .bind("readMarketHistory", this::history);
  }

  /** Encoded when first asked for after a tick; two threads may both do it, and either serves. */
  private Answer feed() {
    List<MarketService.PoolQuote> now = market.readMarketFeed();
    Feed known = lastFeed;
    if (known == null || !known.of().equals(now)) {
      JsonArray pools = new JsonArray();
      now.forEach(p -> pools.add(pool(p.pool(), p.quote().orElse(BEFORE_FIRST_TICK))));
      known = new Feed(now, ClusterView.Encoded.of(new JsonObject().put("pools", pools)));
      lastFeed = known;
    }
    return Answer.encoded(known.encoded().json(), known.encoded().etag());
  }

  private Future<Answer> depth(Call call) {
    MarketService.PoolQuote read = market.readMarketDepth(call.text("pool"));
    Quote quote = read.quote().orElse(BEFORE_FIRST_TICK);
    JsonArray levels = new JsonArray();
    for (Demand.Level level : quote.demand().levels()) {
      levels.add(
          new JsonObject()
              .put("price_per_gpu_hour", Price.toUsd(level.cents()))
              .put("nodes", level.nodes()));
    }
    ClusterView.Encoded depth =
        ClusterView.Encoded.of(
            new JsonObject()
                .put("pool", read.pool().name())
                .put("usable_nodes", quote.usableNodes())
                .put("free_nodes", quote.freeNodes())
                .put("demand_nodes", quote.demand().nodes())
                .put("levels", levels)
                .put("tick_at", timeOrNull(quote.tickAtMillis()))
                .put("next_tick_at", timeOrNull(quote.nextTickAtMillis())));
    return Future.succeededFuture(Answer.encoded(depth.json(), depth.etag()));
  }

  private Future<Answer> history(Call call) {
    String pool = call.text("pool");
    return market
        .readMarketHistory(pool, call.findNumber("hours").orElse(DEFAULT_HISTORY_HOURS))
        .map(
            past -> {
              JsonArray clearing = new JsonArray();
              for (Double cents : past.clearingCents()) {
                // A mean of cents has a fraction; six decimals keep it under a micro-dollar.
                clearing.add(cents == null ? null : Math.round(cents * 1e4) / 1e6);
              }
              JsonArray admission = new JsonArray();
              past.admissionCents().forEach(cents -> admission.add(Price.toUsdOrNull(cents)));
              return Answer.ok(
                  new JsonObject()
                      .put("pool", pool)
                      .put("t0", past.t0Seconds())
                      .put("step", past.stepSeconds())
                      .put("clearing_price", clearing)
                      .put("admission_price", admission));
            });
  }

  private static JsonObject pool(Pool pool, Quote quote) {
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
        .put("tick_at", timeOrNull(quote.tickAtMillis()))
        .put("next_tick_at", timeOrNull(quote.nextTickAtMillis()));
  }

  private static @Nullable String timeOrNull(long millis) {
    return millis == 0 ? null : Times.rfc3339(millis);
  }
}
