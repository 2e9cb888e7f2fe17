package dev.bourse.events;

import dev.bourse.core.Price;
import dev.bourse.schemas.market.PriceHistoryJson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pool's price history in buckets, in cents per GPU-hour.
 *
 * @param t0Seconds start of the first bucket, epoch seconds
 * @param stepSeconds width of a bucket
 * @param clearingCents the time-weighted mean over the bucket; null without a clearing
 * @param admissionCents in force at the bucket's end; null if no price would have been admitted,
 *     and before the first tick
 */
public record PriceHistory(
    long t0Seconds,
    long stepSeconds,
    List<@Nullable Double> clearingCents,
    List<@Nullable Long> admissionCents) {

  /** Returns the answer of the market contract. */
  public PriceHistoryJson toJson(String pool) {
    return new PriceHistoryJson(
        pool,
        t0Seconds,
        Math.toIntExact(stepSeconds),
        HistorySeries.inUsd(clearingCents, Price::meanToUsd),
        HistorySeries.inUsd(admissionCents, Price::toUsd));
  }
}
