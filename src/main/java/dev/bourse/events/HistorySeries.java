package dev.bourse.events;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cluster's history in buckets. A bucket has the values at its end; its price is the
 * time-weighted mean over it.
 *
 * @param t0Seconds start of the first bucket, epoch seconds
 * @param stepSeconds width of a bucket
 * @param maxNodes declared nodes; null before the first declaration
 * @param granted held nodes
 * @param maxPriceCents declared ceiling, cents per GPU-hour; null before the first declaration
 * @param priceCents clearing price, cents per GPU-hour; null without a clearing, and without both a
 *     declaration and held nodes
 */
public record HistorySeries(
    long t0Seconds,
    long stepSeconds,
    List<@Nullable Long> maxNodes,
    List<Long> granted,
    List<@Nullable Long> maxPriceCents,
    List<@Nullable Double> priceCents) {

  /** The buckets of a span that ends now. */
  public record Buckets(long t0Seconds, long stepSeconds, int count) {
    /** Returns buckets of a 400th of the span, but at least a minute. */
    public static Buckets of(double hours, long nowMillis) {
      long span = Math.round(hours * 3600);
      long step = Math.max(60, span / 400);
      int count = Math.toIntExact((span + step - 1) / step);
      return new Buckets(nowMillis / 1000 - count * step, step, count);
    }

    long firstMillis() {
      return t0Seconds * 1000;
    }

    long stepMillis() {
      return stepSeconds * 1000;
    }

    long endMillis() {
      return firstMillis() + count * stepMillis();
    }
  }

  /** The declaration at one moment; nulls before the first declaration. */
  public record DeclaredAt(@Nullable Long maxGpus, @Nullable Long ceilingCents) {
    boolean isNothing() {
      return maxGpus == null || maxGpus == 0;
    }
  }

  /**
   * Running sums of a pool's price at one moment (prefix sums: the integral over a span is the
   * difference of two of them).
   *
   * @param centsMillis cents times milliseconds with a price, since the pool's creation
   * @param pricedMillis milliseconds with a price
   */
  public record PriceAt(long centsMillis, long pricedMillis) {}

  /**
   * Assembles the series.
   *
   * @param declared at the end of each bucket
   * @param prices at the start of the first bucket, then at the end of each
   * @param heldBefore nodes held at the start of the first bucket
   * @param changes change of the held nodes in each bucket
   */
  static HistorySeries of(
      Buckets buckets,
      int gpusPerNode,
      List<DeclaredAt> declared,
      List<PriceAt> prices,
      long heldBefore,
      long[] changes) {
    List<@Nullable Long> maxNodes = new ArrayList<>();
    List<Long> granted = new ArrayList<>();
    List<@Nullable Long> maxPrice = new ArrayList<>();
    List<@Nullable Double> price = new ArrayList<>();
    long held = heldBefore;
    for (int i = 0; i < buckets.count(); i++) {
      DeclaredAt at = declared.get(i);
      maxNodes.add(at.maxGpus() == null ? null : Long.valueOf(at.maxGpus() / gpusPerNode));
      maxPrice.add(at.ceilingCents());
      boolean isIdle = held == 0 && held + changes[i] == 0 && at.isNothing();
      held += changes[i];
      granted.add(held);
      price.add(isIdle ? null : mean(prices.get(i), prices.get(i + 1)));
    }
    return new HistorySeries(
        buckets.t0Seconds(), buckets.stepSeconds(), maxNodes, granted, maxPrice, price);
  }

  /** Converts prices to dollars; null stays null. */
  static <T> List<@Nullable Double> inUsd(
      List<? extends @Nullable T> values, Function<T, Double> usd) {
    List<@Nullable Double> series = new ArrayList<>(values.size());
    for (T value : values) {
      series.add(value == null ? null : usd.apply(value));
    }
    return series;
  }

  static @Nullable Double mean(PriceAt from, PriceAt to) {
    long priced = to.pricedMillis() - from.pricedMillis();
    return priced == 0 ? null : (double) (to.centsMillis() - from.centsMillis()) / priced;
  }
}
