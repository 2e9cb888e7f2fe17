package dev.bourse.testing;

import dev.bourse.signals.Signals;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code /metrics} printed. */
public record Scrape(List<String> lines) {
  /** What a process prints now. */
  public static Scrape of(Signals signals) {
    return of(new String(signals.print(), StandardCharsets.UTF_8));
  }

  public static Scrape of(String text) {
    return new Scrape(text.lines().toList());
  }

  /**
   * The sum of a number's series; 0 when there is none.
   *
   * @param labels which series, as they are printed: {@code pool="north"}
   */
  public double sum(String name, String... labels) {
    return series(name, labels)
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** Whether there is a series of a number. */
  public boolean has(String name, String... labels) {
    return series(name, labels).findAny().isPresent();
  }

  private Stream<String> series(String name, String... labels) {
    return lines.stream()
        .filter(line -> line.startsWith(name + ' ') || line.startsWith(name + '{'))
        .filter(line -> Arrays.stream(labels).allMatch(line::contains));
  }

  /** The numbers of which there is a series, by the names that their meanings are told by. */
  public Set<String> names() {
    Set<String> told = told();
    return lines.stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.replaceFirst("[{ ].*", ""))
        .map(name -> told.contains(name) ? name : name.replaceFirst("_(bucket|sum|count)$", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The numbers whose meanings are told. */
  public Set<String> told() {
    return lines.stream()
        .filter(line -> line.startsWith("# HELP "))
        .map(line -> line.split(" ", 4)[2])
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
