package dev.bourse.market;

import dev.bourse.capacity.TickPreview;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonObject;

/**
 * What a bid that nobody has made would win at a pool's next tick.
 *
 * @param pool the pool
 * @param gpus GPUs bid for
 * @param ceilingCents at most so much per GPU-hour
 * @param nextTick what the tick would bring it
 * @param nodesLeft how many more nodes the same ceiling would win
 * @param rivalCents the highest ceiling of another organization at the last tick, rounded down to
 *     the price grid; 0 if no other bids
 */
public record BidQuote(
    Pool pool, int gpus, long ceilingCents, TickPreview nextTick, int nodesLeft, long rivalCents) {

  /** What all that it would win costs an hour at the price the tick would clear at, in cents. */
  public long costCents() {
    Long clearing = nextTick.clearingCents();
    long rate = clearing == null ? 0 : Math.min(clearing, ceilingCents);
    return nextTick.nodesWon() * (long) pool.gpusPerNode() * rate;
  }

  /** As the market contract has it. */
  public JsonObject toJson() {
    return new JsonObject()
        .put("pool", pool.name())
        .put("gpus", gpus)
        .put("price_per_gpu_hour", Price.toUsd(ceilingCents))
        .put("nodes_won", nextTick.nodesWon())
        .put("nodes_granted", nextTick.nodesGranted())
        .put("nodes_unfilled", nextTick.nodesUnfilled())
        .put("nodes_left", nodesLeft)
        .put("clearing_price_per_gpu_hour", Price.toUsdOrNull(nextTick.clearingCents()))
        .put("admission_price_per_gpu_hour", Price.toUsdOrNull(nextTick.admissionCents()))
        .put(
            "rival_price_per_gpu_hour",
            rivalCents == 0 ? null : Double.valueOf(Price.toUsd(rivalCents)))
        .put("cost_per_hour", Price.toUsd(costCents()))
        .put("paused", nextTick.paused())
        .put("tick_at", Times.rfc3339(nextTick.tickAtMillis()));
  }
}
