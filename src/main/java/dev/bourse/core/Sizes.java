package dev.bourse.core;

import java.util.Locale;

/** Lengths and times in the form people read. */
public final class Sizes {
  private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};

  private Sizes() {}

  /** {@code 640 bytes}, {@code 1.5 MiB}, {@code 42 GiB}: at most three digits. */
  public static String bytes(long bytes) {
    return scaled(bytes, unit(bytes)) + ' ' + UNITS[unit(bytes)];
  }

  /** {@code 1.2 of 3.0 GiB}. */
  public static String part(long done, long total) {
    int unit = unit(total);
    return scaled(done, unit) + " of " + scaled(total, unit) + ' ' + UNITS[unit];
  }

  private static int unit(long bytes) {
    int unit = 0;
    for (double left = bytes; left >= 1_000 && unit < UNITS.length - 1; left /= 1_024) {
      unit++;
    }
    return unit;
  }

  private static String scaled(long bytes, int unit) {
    double value = bytes / Math.pow(1_024, unit);
    return String.format(Locale.ROOT, unit == 0 || value >= 100 ? "%.0f" : "%.1f", value);
  }

  /** {@code 0:07}, {@code 12:30}, {@code 3:05:00}. */
  public static String time(long seconds) {
    long minutes = seconds / 60 % 60;
    return seconds < 3_600
        ? String.format(Locale.ROOT, "%d:%02d", minutes, seconds % 60)
        : String.format(Locale.ROOT, "%d:%02d:%02d", seconds / 3_600, minutes, seconds % 60);
  }
}
