package dev.bourse.core;

import java.time.DateTimeException;
import java.time.Instant;
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

  /** Its shape, which Java's own reading is less strict about. */
  private static final Pattern SHAPE =
      Pattern.compile(
          "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?"
              + "(Z|[+-][0-9]{2}:[0-9]{2})",
          Pattern.CASE_INSENSITIVE);

  private Times() {}

  /** The moment an RFC 3339 text names, rounded down to milliseconds; empty when it names none. */
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

  public static String rfc3339(long epochMillis) {
    return RFC3339.format(Instant.ofEpochMilli(epochMillis));
  }

  /** The same, null for null. */
  public static @Nullable String rfc3339OrNull(@Nullable Long epochMillis) {
    return epochMillis == null ? null : rfc3339(epochMillis);
  }
}
