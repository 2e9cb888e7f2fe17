package dev.bourse.market;

import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Pool;
import dev.bourse.capacity.Quote;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** The market contract's operations. */
public final class MarketRoutes {
  private static final Quote BEFORE_FIRST_TICK = new Quote(null, null, 0, 0, 0, 0);

  private final MarketService market;

  public MarketRoutes(MarketService market) {
    this.market = market;
  }

  public void bind(Operations operations) {
    operations.bind("readMarketFeed", call -> Future.succeededFuture(feed()));
  }

  private Answer feed() {
    JsonArray pools = new JsonArray();
    market
        .readMarketFeed()
        .forEach(p -> pools.add(pool(p.pool(), p.quote().orElse(BEFORE_FIRST_TICK))));
    ClusterView.Encoded feed = ClusterView.Encoded.of(new JsonObject().put("pools", pools));
    return Answer.encoded(feed.json(), feed.etag());
  }

  private static JsonObject pool(Pool pool, Quote quote) {
    return new JsonObject()
        .put("pool", pool.name())
        .put("site", pool.site())
        .put("gpu_vendor", pool.gpuVendor())
        .put("gpu_model", pool.gpuModel())
        .put("gpus_per_node", pool.gpusPerNode())
        .put("clearing_price_per_gpu_hour", usdOrNull(quote.clearingCents()))
        .put("admission_price_per_gpu_hour", usdOrNull(quote.admissionCents()))
        .put("reserve_price_per_gpu_hour", Price.toUsd(pool.reserveCents()))
        .put("max_price_cap_per_gpu_hour", Price.toUsd(pool.capCents()))
        .put("usable_nodes", quote.usableNodes())
        .put("free_nodes", quote.freeNodes())
        .put("tick_at", timeOrNull(quote.tickAtMillis()))
        .put("next_tick_at", timeOrNull(quote.nextTickAtMillis()));
  }

  private static @Nullable Double usdOrNull(@Nullable Long cents) {
    return cents == null ? null : Price.toUsd(cents);
  }

  private static @Nullable String timeOrNull(long millis) {
    return millis == 0 ? null : Times.rfc3339(millis);
  }
}
