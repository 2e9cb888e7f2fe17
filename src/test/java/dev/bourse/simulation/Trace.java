package dev.bourse.simulation;

import java.util.ArrayDeque;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The events of a simulation, one line each, with true time and place. Its digest distinguishes two
 * runs.
 */
final class Trace {
  private final LongSupplier nowNanos;
  private final int most;
  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private long digest;

  /**
   * @param most lines to keep, the last ones; 0 for only the digest
   */
  Trace(LongSupplier nowNanos, int most) {
    this.nowNanos = nowNanos;
    this.most = most;
  }

  /**
   * Adds an event.
   *
   * @param message with {@code {}} in place of values
   */
  void add(String where, String message, @Nullable Object... values) {
    digest = digest * 31 + nowNanos.getAsLong();
    digest = digest * 31 + message.hashCode();
    if (most > 0) {
      keep(where, MessageTemplate.fill(message, values));
    }
  }

  /** Adds a remark, which does not count for the digest. */
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

  /** Equal for two runs with the same events at the same times. */
  long digest() {
    return digest;
  }

  String text() {
    return String.join("\n", lines);
  }
}
