package dev.bourse.simulation;

import java.util.ArrayDeque;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * What happened, a line each, with the true time and where. It keeps the last lines; of a replay it
 * keeps all. Its digest tells two runs apart.
 */
final class Trace {
  private final LongSupplier nowNanos;
  private final int most;
  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private long digest;

  /**
   * @param most lines kept; 0 keeps none, and only their digest is made
   */
  Trace(LongSupplier nowNanos, int most) {
    this.nowNanos = nowNanos;
    this.most = most;
  }

  /**
   * @param message with {@code {}} where values go
   */
  void add(String where, String message, Object... values) {
    long now = nowNanos.getAsLong();
    digest = digest * 31 + now;
    digest = digest * 31 + message.hashCode();
    if (most == 0) {
      return;
    }
    String text = message;
    for (Object value : values) {
      text = text.replaceFirst("\\{\\}", java.util.regex.Matcher.quoteReplacement("" + value));
    }
    if (lines.size() == most) {
      lines.remove();
    }
    lines.add(
        String.format(
            Locale.ROOT, "%,14.3f ms  %-10s %s", now / 1e6, where, text));
  }

  /** The same for two runs in which the same happened at the same times. */
  long digest() {
    return digest;
  }

  String text() {
    return String.join("\n", lines);
  }
}
