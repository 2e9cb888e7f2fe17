package dev.bourse.simulation;

import java.util.ArrayDeque;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What happened, a line each, with the true time and where. Its digest tells two runs apart. */
final class Trace {
  private final LongSupplier nowNanos;
  private final int most;
  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private long digest;

  /**
   * @param most how many lines are kept, the last ones; 0 for none but their digest
   */
  Trace(LongSupplier nowNanos, int most) {
    this.nowNanos = nowNanos;
    this.most = most;
  }

  /**
   * Something happened.
   *
   * @param message with {@code {}} where values go
   */
  void add(String where, String message, @Nullable Object... values) {
    digest = digest * 31 + nowNanos.getAsLong();
    digest = digest * 31 + message.hashCode();
    if (most > 0) {
      keep(where, Text.filled(message, values));
    }
  }

  /** Something that is good to know, and does not tell two runs apart. */
  void note(String where, String text) {
    if (most > 0) {
      keep(where, text);
    }
  }

  private void keep(String where, String text) {
    if (lines.size() == most) {
      lines.remove();
    }
    lines.add(
        String.format(
            Locale.ROOT, "%,14.3f ms  %-10s %s", nowNanos.getAsLong() / 1e6, where, text));
  }

  /** The same for two runs in which the same happened at the same times. */
  long digest() {
    return digest;
  }

  String text() {
    return String.join("\n", lines);
  }
}
