package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.json.JsonRecord;
import dev.bourse.market.BidQuote;
import dev.bourse.market.MarketService;
import dev.bourse.market.PoolQuote;
import dev.bourse.schemas.market.BidQuoteJson;
import dev.bourse.schemas.market.PriceHistoryJson;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads prices, supply and demand of the pools, which are open to every organization. */
public final class MarketReadTool implements Tool {
  private static final String DEPTH = "depth";
  private static final String HISTORY = "history";
  private static final String QUOTE = "quote";
  private static final String POOL = "pool";
  private static final String GPUS = "gpus";
  private static final String PRICE = "price";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of(),
          Map.of(
              "feed",
              Set.of(),
              DEPTH,
              Set.of(POOL),
              HISTORY,
              Set.of(POOL, "hours"),
              QUOTE,
              Set.of(POOL, GPUS, PRICE)));

  private final MarketService market;

  public MarketReadTool(MarketService market) {
    this.market = market;
  }

  @Override
  public String name() {
    return "market_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.empty();
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    Future<? extends JsonRecord> answer =
        switch (arguments.getString("action")) {
          case DEPTH ->
              Future.succeededFuture(market.readMarketDepth(FIELDS.text(arguments, POOL)).depth());
          case HISTORY -> history(FIELDS.text(arguments, POOL), arguments);
          case QUOTE -> quote(caller, arguments);
          default -> Future.succeededFuture(PoolQuote.feed(market.readMarketFeed()));
        };
    return answer.map(JsonRecord::toBuffer);
  }

  private Future<PriceHistoryJson> history(String pool, JsonObject arguments) {
    return market
        .readMarketHistory(pool, arguments.getDouble("hours", MarketService.DEFAULT_HISTORY_HOURS))
        .map(past -> past.toJson(pool));
  }

  private Future<BidQuoteJson> quote(Principal caller, JsonObject arguments) {
    FIELDS.require(arguments, GPUS);
    FIELDS.require(arguments, PRICE);
    return market
        .quotes()
        .readMarketQuote(
            caller,
            FIELDS.text(arguments, POOL),
            arguments.getLong(GPUS),
            new BigDecimal(arguments.getNumber(PRICE).toString()))
        .map(BidQuote::toJson);
  }
}
