package dev.bourse.edge;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The range of a Range header, RFC 9110 section 14. A header with several ranges, and one that is
 * malformed, are answered with the whole content, as the RFC allows.
 *
 * @param offset the offset of its first byte
 * @param length its length, at least 1
 */
record ByteRange(long offset, long length) {
  /** The unit is case-insensitive, RFC 9110 section 14.1. */
  private static final Pattern SINGLE = Pattern.compile("(?i:bytes)=(\\d{0,18})-(\\d{0,18})");

  /** A range outside the content. */
  static final ByteRange UNSATISFIABLE = new ByteRange(-1, 0);

  /**
   * Returns the requested range; null for the whole content, {@link #UNSATISFIABLE} if it is beyond
   * the end.
   */
  static @Nullable ByteRange of(@Nullable String header, long total) {
    Matcher single = SINGLE.matcher(header == null ? "" : header.trim());
    if (!single.matches()) {
      return null;
    }
    String first = single.group(1);
    String last = single.group(2);
    if (first.isEmpty()) {
      if (last.isEmpty()) {
        return null;
      }
      long suffix = Math.min(Long.parseLong(last), total);
      return suffix == 0 ? UNSATISFIABLE : new ByteRange(total - suffix, suffix);
    }
    long from = Long.parseLong(first);
    long to = last.isEmpty() ? Long.MAX_VALUE : Long.parseLong(last);
    if (to < from) {
      return null;
    }
    return from >= total ? UNSATISFIABLE : new ByteRange(from, Math.min(to, total - 1) - from + 1);
  }
}
