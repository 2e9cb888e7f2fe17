package dev.bourse.billing;

import dev.bourse.core.ApiException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.regex.Pattern;

/** A calendar month in UTC: the span of a statement and of a spend limit. */
public record Month(YearMonth yearMonth) {
  private static final Pattern SHAPE = Pattern.compile("[0-9]{4}-[0-9]{2}");

  /** Returns the month of a moment. */
  public static Month at(long millis) {
    return new Month(YearMonth.from(Instant.ofEpochMilli(millis).atZone(ZoneOffset.UTC)));
  }

  /**
   * Parses a month such as {@code 2026-11}.
   *
   * @throws ApiException {@code bad-request} for any other text
   */
  public static Month parse(String text) {
    try {
      if (SHAPE.matcher(text).matches()) {
        return new Month(YearMonth.parse(text));
      }
    } catch (DateTimeException noSuchMonth) {
      // Rejected below.
    }
    throw ApiException.badField("month", text, "a month such as 2026-11");
  }

  /** Returns the number as stored: 202611 for November 2026. */
  public long number() {
    return yearMonth.getYear() * 100L + yearMonth.getMonthValue();
  }

  /** Returns the month with a number. */
  public static Month ofNumber(long number) {
    return new Month(YearMonth.of(Math.toIntExact(number / 100), Math.toIntExact(number % 100)));
  }

  /** Returns its first millisecond. */
  public long startMillis() {
    return yearMonth.atDay(1).atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli();
  }

  /** Returns the first millisecond after it. */
  public long endMillis() {
    return next().startMillis();
  }

  /** Returns the next month. */
  public Month next() {
    return new Month(yearMonth.plusMonths(1));
  }

  /** {@code 2026-11}. */
  @Override
  public String toString() {
    return yearMonth.toString();
  }
}
