package dev.bourse.signals;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A number that is shown.
 *
 * @param name as it is printed; a histogram's is followed by {@code _bucket}, {@code _sum} and
 *     {@code _count}
 * @param meaning one sentence or two
 * @param labels by which there are several of it
 */
public record Signal(String name, Type type, String meaning, List<Label> labels) {
  private static final Pattern NAME =
      Pattern.compile("(?:bourse|jvm|process)(?:_[a-z0-9]{1,20}){1,10}");
  private static final String TOTAL = "_total";

  /** Units by what a name ends with, but for {@code _total}. */
  private static final Map<String, String> UNITS =
      Map.of(
          "_seconds", "seconds",
          "_bytes", "bytes",
          "_dollars", "US dollars",
          "_ratio", "0 to 1");

  /** How a number moves. */
  public enum Type {
    /** Only grows, from 0 at the start of the process. */
    COUNTER,
    /** Grows and shrinks. */
    GAUGE,
    /** How many fell into which range. */
    HISTOGRAM
  }

  /** Refuses a name that breaks Prometheus' conventions. */
  public Signal {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(name + ": a name has words after bourse_");
    }
    if (name.endsWith(TOTAL) != (type == Type.COUNTER)) {
      throw new IllegalArgumentException(name + ": counters, and no others, end in " + TOTAL);
    }
    if (meaning.isBlank() || !meaning.endsWith(".")) {
      throw new IllegalArgumentException(name + ": a meaning is sentences");
    }
    labels = List.copyOf(labels);
  }

  /** In what it is measured; empty for a plain number. */
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
