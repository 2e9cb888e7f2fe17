package dev.bourse.signals;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A metric.
 *
 * @param name as printed; a histogram's is followed by {@code _bucket}, {@code _sum} and {@code
 *     _count}
 * @param meaning one or two sentences
 * @param labels that distinguish its series; empty for a single series
 */
public record Signal(String name, Type type, String meaning, List<Label> labels) {
  private static final Pattern NAME =
      Pattern.compile("(?:bourse|jvm|process)(?:_[a-z0-9]{1,20}){1,10}");
  private static final String TOTAL = "_total";

  /** Units by the suffix of a name, before {@code _total}. */
  private static final Map<String, String> UNITS =
      Map.of(
          "_seconds", "seconds",
          "_bytes", "bytes",
          "_dollars", "US dollars",
          "_ratio", "0 to 1");

  /** The type of a metric. */
  public enum Type {
    /** Only grows, from 0 at the start of the process. */
    COUNTER,
    /** Grows and shrinks. */
    GAUGE,
    /** Counts observations by range. */
    HISTOGRAM
  }

  /** Rejects a name that breaks Prometheus' conventions. */
  public Signal {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          name + ": a metric's name is bourse_, jvm_ or process_ and words");
    }
    if (name.endsWith(TOTAL) != (type == Type.COUNTER)) {
      throw new IllegalArgumentException(name + ": counters and only counters end in " + TOTAL);
    }
    if (meaning.isBlank() || !meaning.endsWith(".")) {
      throw new IllegalArgumentException(name + ": a meaning is one or two sentences");
    }
    labels = List.copyOf(labels);
  }

  /** Returns the unit; empty for a plain number. */
  public String unit() {
    String measured =
        name.endsWith(TOTAL) ? name.substring(0, name.length() - TOTAL.length()) : name;
    return UNITS.entrySet().stream()
        .filter(unit -> measured.endsWith(unit.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("");
  }
}
