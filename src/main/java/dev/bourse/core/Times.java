package dev.bourse.core;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** Epoch milliseconds in the form clients see: RFC 3339 in UTC, always with milliseconds. */
public final class Times {
  private static final DateTimeFormatter RFC3339 =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private Times() {}

  public static String rfc3339(long epochMillis) {
    return RFC3339.format(Instant.ofEpochMilli(epochMillis));
  }

  /** The same, null for null. */
  public static @Nullable String rfc3339OrNull(@Nullable Long epochMillis) {
    return epochMillis == null ? null : rfc3339(epochMillis);
  }
}
