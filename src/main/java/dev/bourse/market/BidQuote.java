package dev.bourse.market;

import dev.bourse.capacity.TickPreview;
import dev.bourse.core.Price;
import dev.bourse.pools.Pool;
import dev.bourse.schemas.market.BidQuoteJson;

/**
 * The result of a bid that no cluster has declared, at a pool's next tick.
 *
 * @param pool the pool
 * @param gpus GPUs bid for
 * @param ceilingCents the most to pay per GPU-hour, in cents
 * @param nextTick the result of the bid at the next tick
 * @param nodesLeft the number of further nodes that the same ceiling would win
 * @param rivalCents the highest ceiling of another organization at the last tick, rounded down to
 *     the price grid; 0 if no other organization bids
 */
public record BidQuote(
    Pool pool, int gpus, long ceilingCents, TickPreview nextTick, int nodesLeft, long rivalCents) {

  /**
   * Returns the cost of the nodes won, per hour at the clearing price of the next tick, in cents.
   */
  public long costCents() {
    Long clearing = nextTick.clearingCents();
    long rate = clearing == null ? 0 : Math.min(clearing, ceilingCents);
    return nextTick.nodesWon() * (long) pool.gpusPerNode() * rate;
  }

  /** Returns the quote as the market contract defines it. */
  public BidQuoteJson toJson() {
    return new BidQuoteJson(
        pool.name(),
        gpus,
        Price.toUsd(ceilingCents),
        nextTick.nodesWon(),
        nextTick.nodesGranted(),
        nextTick.nodesUnfilled(),
        nodesLeft,
        Price.toUsdOrNull(nextTick.clearingCents()),
        Price.toUsdOrNull(nextTick.admissionCents()),
        rivalCents == 0 ? null : (Double) Price.toUsd(rivalCents),
        Price.toUsd(costCents()),
        nextTick.paused(),
        nextTick.tickAtMillis());
  }
}
