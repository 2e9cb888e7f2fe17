package dev.bourse.scrape;

import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A metric family: one metric with all its series.
 *
 * @param name its name, with the unit; a counter's without {@code _total}
 * @param help its meaning, without quotes and backslashes
 * @param subjects the things that have series of it
 * @param writer writes the series of one subject
 */
record MetricFamily<S>(
    String name, Type type, String help, List<S> subjects, BiConsumer<S, Samples> writer) {
  enum Type {
    GAUGE(""),
    COUNTER("_total");

    /** The end of its samples' names. */
    private final String suffix;

    Type(String suffix) {
      this.suffix = suffix;
    }

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  MetricFamily {
    subjects = List.copyOf(subjects);
  }

  static <S> MetricFamily<S> gauge(
      String name, String help, List<S> subjects, BiConsumer<S, Samples> writer) {
    return new MetricFamily<>(name, Type.GAUGE, help, subjects, writer);
  }

  static <S> MetricFamily<S> counter(
      String name, String help, List<S> subjects, BiConsumer<S, Samples> writer) {
    return new MetricFamily<>(name, Type.COUNTER, help, subjects, writer);
  }

  /** Receives the samples of one subject. */
  interface Samples {
    /**
     * Writes a sample.
     *
     * @param labels its labels by {@link #labels}; empty without any
     * @param value its value; null for an unknown one, which is not written
     */
    void put(String labels, @Nullable String value);
  }

  /** Returns labels as samples have them, without braces. */
  static String labels(String... namesAndValues) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      text.append(i == 0 ? "" : ",").append(namesAndValues[i]).append("=\"");
      appendEscaped(text, namesAndValues[i + 1]);
      text.append('"');
    }
    return text.toString();
  }

  private static void appendEscaped(StringBuilder text, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> text.append("\\\\");
        case '"' -> text.append("\\\"");
        case '\n' -> text.append("\\n");
        default -> text.append(c);
      }
    }
  }

  void appendHead(StringBuilder text) {
    text.append("# TYPE ").append(name).append(' ').append(type.label()).append('\n');
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
  }

  /** Appends the samples of one subject. */
  void append(int subject, StringBuilder text) {
    writer.accept(
        subjects.get(subject),
        (labels, value) -> {
          if (value != null) {
            text.append(name).append(type.suffix);
            if (!labels.isEmpty()) {
              text.append('{').append(labels).append('}');
            }
            text.append(' ').append(value).append('\n');
          }
        });
  }
}
