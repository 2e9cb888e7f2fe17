package dev.bourse.scrape;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;

/**
 * Metric families in the text format of OpenMetrics 1.0, in pieces. For one reader, on any threads
 * one after another.
 */
final class MetricsText {
  /** A piece ends after the subject that reaches this length; a node has 64 samples at most. */
  static final int PIECE_CHARS = 32_768;

  private final List<? extends MetricFamily<?>> families;
  private int family;
  private int subject;
  private boolean isEnded;

  MetricsText(List<? extends MetricFamily<?>> families) {
    this.families = List.copyOf(families);
  }

  /** Returns the next piece; empty after the last. */
  Optional<Buffer> next() {
    if (isEnded) {
      return Optional.empty();
    }
    StringBuilder text = new StringBuilder(PIECE_CHARS);
    while (text.length() < PIECE_CHARS && family < families.size()) {
      append(text);
    }
    if (family == families.size()) {
      text.append("# EOF\n");
      isEnded = true;
    }
    return Optional.of(Buffer.buffer(text.toString()));
  }

  private void append(StringBuilder text) {
    MetricFamily<?> current = families.get(family);
    if (subject == 0) {
      current.appendHead(text);
    }
    if (subject < current.subjects().size()) {
      current.append(subject, text);
      subject++;
    }
    if (subject >= current.subjects().size()) {
      family++;
      subject = 0;
    }
  }
}
