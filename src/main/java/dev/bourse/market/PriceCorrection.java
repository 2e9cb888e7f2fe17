package dev.bourse.market;

import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import io.vertx.core.Future;

/**
 * Deletes change points of prices that lie ahead. The prices in force continue. The sums of a
 * change point depend only on earlier ones, so the remaining sums stay correct.
 */
public final class PriceCorrection implements Correction {
  private final PriceStore prices;

  public PriceCorrection(Database database) {
    prices = new PriceStore(database);
  }

  @Override
  public String table() {
    return "price_point, org_price_point";
  }

  /** The primary key finds the rows. */
  @Override
  public boolean readsWholeTable() {
    return false;
  }

  @Override
  public Future<Boolean> correct(long nowMillis) {
    long latest = nowMillis + APART_MILLIS;
    return prices
        .listAhead(latest)
        .compose(
            pools ->
                pools.isEmpty()
                    ? Future.succeededFuture(false)
                    : prices.deleteAhead(pools, latest).map(true));
  }
}
