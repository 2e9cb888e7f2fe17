package dev.bourse.edge;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a Range header asks for of a representation, RFC 9110 section 14. Several ranges at once,
 * and a header that cannot be read, are answered with the whole, as the RFC allows.
 *
 * @param offset where it begins
 * @param length how long it is, at least 1
 */
record ByteRange(long offset, long length) {
  /** The unit is meant in whatever case, RFC 9110 section 14.1. */
  private static final Pattern SINGLE = Pattern.compile("(?i:bytes)=(\\d{0,18})-(\\d{0,18})");

  /** None of the bytes asked for are there. */
  static final ByteRange UNSATISFIABLE = new ByteRange(-1, 0);

  /** The range asked for; null for all of it, {@link #UNSATISFIABLE} when it is beyond the end. */
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
