package dev.bourse.market;

import dev.bourse.auction.Clearing;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A change point of a pool's prices and the running sums up to it, from which the mean over any
 * span follows.
 *
 * @param atMillis since when the prices are in force
 * @param clearingCents the clearing price per GPU-hour; null for none
 * @param admissionCents the admission price per GPU-hour; null for none
 * @param centsMillis cents times the milliseconds for which they were the clearing price
 * @param pricedMillis milliseconds for which there was a clearing price
 */
record PricePoint(
    String pool,
    long atMillis,
    @Nullable Long clearingCents,
    @Nullable Long admissionCents,
    long centsMillis,
    long pricedMillis) {
  PricePoint {
    if (centsMillis < 0 || pricedMillis < 0) {
      throw new IllegalArgumentException(
          "sums of prices %d and %d: must not be negative".formatted(centsMillis, pricedMillis));
    }
  }

  /** Creates a pool's first change point. */
  static PricePoint first(String pool, long atMillis, Clearing clearing) {
    return new PricePoint(
        pool, atMillis, clearing.clearingCents(), clearing.admissionCents(), 0, 0);
  }

  /** Returns the change point that follows this one. */
  PricePoint next(long nowMillis, Clearing clearing) {
    long span = clearingCents == null ? 0 : nowMillis - atMillis;
    return new PricePoint(
        pool,
        nowMillis,
        clearing.clearingCents(),
        clearing.admissionCents(),
        centsMillis + span * (clearingCents == null ? 0 : clearingCents),
        pricedMillis + span);
  }

  /** Returns true if a clearing has the same prices. */
  boolean isOf(Clearing clearing) {
    return Objects.equals(clearingCents, clearing.clearingCents())
        && Objects.equals(admissionCents, clearing.admissionCents());
  }
}
