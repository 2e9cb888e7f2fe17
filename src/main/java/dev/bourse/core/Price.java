package dev.bourse.core;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/** Prices as whole US cents per GPU-hour, and their decimal form on the wire. */
public final class Price {
  /** Cents x GPUs x milliseconds per micro-dollar: 100 x 3,600,000 / 1,000,000. */
  public static final long CENT_GPU_MILLIS_PER_MICRO = 360;

  private Price() {}

  /** Whether a decimal number of dollars is a whole number of cents. */
  public static boolean isWholeCents(BigDecimal usd) {
    return usd.stripTrailingZeros().scale() <= 2;
  }

  /**
   * A decimal number of dollars as cents.
   *
   * @throws ArithmeticException if it is not a whole number of cents or does not fit a long
   */
  public static long toCents(BigDecimal usd) {
    return usd.movePointRight(2).setScale(0, RoundingMode.UNNECESSARY).longValueExact();
  }

  /**
   * Cents as the decimal number of dollars in answers: the nearest double, exact up to 2^53 cents
   * (90 trillion dollars).
   */
  public static double toUsd(long cents) {
    return cents / 100.0;
  }

  /** Like {@link #toUsd}; null stays null. */
  public static @Nullable Double toUsdOrNull(@Nullable Long cents) {
    return cents == null ? null : toUsd(cents);
  }

  /**
   * A mean of cents, which has a fraction, as dollars; six decimals keep the error under a
   * micro-dollar.
   */
  public static double meanToUsd(double cents) {
    return Math.round(cents * 1e4) / 1e6;
  }

  /**
   * An upper bound of the cost of nodes, in micro-dollars rounded up.
   *
   * @param nodeMillis milliseconds, summed over the nodes
   * @param cents cents per GPU-hour
   * @throws ArithmeticException when it is over 25 billion dollars
   */
  public static long costMicros(long nodeMillis, int gpusPerNode, long cents) {
    long centGpuMillis = Math.multiplyExact(Math.multiplyExact(nodeMillis, gpusPerNode), cents);
    return Math.addExact(centGpuMillis, CENT_GPU_MILLIS_PER_MICRO - 1) / CENT_GPU_MILLIS_PER_MICRO;
  }

  /** Cents as text with two decimals, for sentences. */
  public static String shown(long cents) {
    return BigDecimal.valueOf(cents, 2).toPlainString();
  }
}
