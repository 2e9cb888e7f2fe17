package dev.bourse.remote;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * Formats money for people: {@code amount_micros} 2500500000 is {@code amount_usd} 2500.50, and the
 * price 1.5 is 1.50.
 */
public final class Dollars {
  private static final String MICROS = "_micros";
  private static final String PRICE = "_per_gpu_hour";
  private static final int MICRO_DIGITS = 6;
  private static final int CENT_DIGITS = 2;

  private Dollars() {}

  /** Returns the name of a field whose value is {@link #value}. */
  static String name(String field) {
    return field.endsWith(MICROS)
        ? field.substring(0, field.length() - MICROS.length()) + "_usd"
        : field;
  }

  /**
   * Returns a field's value; micro-dollars are converted to dollars. Money has all its digits after
   * the point and at least two.
   */
  static @Nullable Object value(String field, @Nullable Object value) {
    if (field.endsWith(PRICE) && value instanceof Number price) {
      return text(new BigDecimal(price.toString()));
    }
    if (!field.endsWith(MICROS) || !(value instanceof Long || value instanceof Integer)) {
      return value;
    }
    return text(BigDecimal.valueOf(((Number) value).longValue(), MICRO_DIGITS));
  }

  /** Returns an amount with all its digits after the point and at least two: 2.50. */
  public static String text(BigDecimal amount) {
    BigDecimal dollars = amount.stripTrailingZeros();
    return dollars.setScale(Math.max(CENT_DIGITS, dollars.scale())).toPlainString();
  }
}
