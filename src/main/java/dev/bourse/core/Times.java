package dev.bourse.core;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Epoch milliseconds in the form clients see: RFC 3339 in UTC, always with milliseconds. */
public final class Times {
  private static final DateTimeFormatter RFC3339 =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private static final long YEAR_0 = Instant.parse("0000-01-01T00:00:00Z").toEpochMilli();
  private static final long YEAR_10000 = Instant.parse("+10000-01-01T00:00:00Z").toEpochMilli();

  /** The accepted form; Java's own parser is less strict. */
  private static final Pattern SHAPE =
      Pattern.compile(
          "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?"
              + "(Z|[+-][0-9]{2}:[0-9]{2})",
          Pattern.CASE_INSENSITIVE);

  private Times() {}

  /** The moment of an RFC 3339 text, rounded down to milliseconds; empty if the text is not one. */
  public static OptionalLong parse(String text) {
    if (!SHAPE.matcher(text).matches()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(OffsetDateTime.parse(text).toInstant().toEpochMilli());
    } catch (DateTimeException noSuchMoment) {
      return OptionalLong.empty();
    }
  }

  /**
   * Formats by hand while the year has four digits, because the formatter takes five times as long.
   */
  public static String rfc3339(long epochMillis) {
    if (epochMillis < YEAR_0 || epochMillis >= YEAR_10000) {
      return RFC3339.format(Instant.ofEpochMilli(epochMillis));
    }
    LocalDateTime at =
        LocalDateTime.ofEpochSecond(Math.floorDiv(epochMillis, 1_000L), 0, ZoneOffset.UTC);
    byte[] text = new byte[24];
    digits(text, 0, 4, at.getYear(), '-');
    digits(text, 5, 2, at.getMonthValue(), '-');
    digits(text, 8, 2, at.getDayOfMonth(), 'T');
    digits(text, 11, 2, at.getHour(), ':');
    digits(text, 14, 2, at.getMinute(), ':');
    digits(text, 17, 2, at.getSecond(), '.');
    digits(text, 20, 3, Math.floorMod(epochMillis, 1_000), 'Z');
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  /** Writes a number with {@code count} digits and the separator behind it. */
  private static void digits(byte[] text, int from, int count, int number, char then) {
    int left = number;
    for (int i = from + count - 1; i >= from; i--) {
      text[i] = (byte) ('0' + left % 10);
      left /= 10;
    }
    text[from + count] = (byte) then;
  }

  /** Like {@link #rfc3339}; null stays null. */
  public static @Nullable String rfc3339OrNull(@Nullable Long epochMillis) {
    return epochMillis == null ? null : rfc3339(epochMillis);
  }
}
