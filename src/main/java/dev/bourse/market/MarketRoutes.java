package dev.bourse.market;

import dev.bourse.capacity.ClusterView;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.market.BidQuoteJson;
import dev.bourse.schemas.market.PriceHistoryJson;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Binds the operations of the market contract. */
public final class MarketRoutes {
  private final MarketService market;
  private volatile @Nullable Feed lastFeed;

  /** The encoded feed, and the quotes that it encodes. */
  private record Feed(List<PoolQuote> of, ClusterView.Encoded encoded) {}

  public MarketRoutes(MarketService market) {
    this.market = market;
  }

  public void bind(Operations operations) {
    operations
        .bind("readMarketFeed", call -> Future.succeededFuture(feed()))
        .bind("readMarketDepth", this::depth)
        .ok("readMarketHistory", this::history)
        .ok("readMarketQuote", this::quote);
  }

  /**
   * Encodes the feed at the first request after a tick; two threads may both encode it, and either
   * result is valid.
   */
  private Answer feed() {
    List<PoolQuote> now = market.readMarketFeed();
    Feed known = lastFeed;
    if (known == null || !known.of().equals(now)) {
      known = new Feed(now, ClusterView.Encoded.of(PoolQuote.feed(now)));
      lastFeed = known;
    }
    return Answer.encoded(known.encoded().json(), known.encoded().etag());
  }

  private Future<Answer> depth(Call call) {
    ClusterView.Encoded depth =
        ClusterView.Encoded.of(market.readMarketDepth(call.text("pool")).depth());
    return Future.succeededFuture(Answer.encoded(depth.json(), depth.etag()));
  }

  private Future<PriceHistoryJson> history(Call call) {
    String pool = call.text("pool");
    return market.readMarketHistory(pool, call.number("hours")).map(past -> past.toJson(pool));
  }

  private Future<BidQuoteJson> quote(Call call) {
    return market
        .quotes()
        .readMarketQuote(
            call.principal(),
            call.text("pool"),
            call.integer("gpus"),
            BigDecimal.valueOf(call.number("price")))
        .map(BidQuote::toJson);
  }
}
