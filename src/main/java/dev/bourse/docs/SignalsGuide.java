package dev.bourse.docs;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The guide generated from the program: every metric of {@code /metrics} and its meaning. */
final class SignalsGuide {
  static final String NAME = "signals";

  private static final String TITLE = "Signals";
  private static final String SUMMARY =
      "Every number that this service prints for Prometheus, by name, unit, labels and meaning.";

  private static final String INTRODUCTION =
      """
      This page is made from the program itself: it has what `/metrics` of the management port prints, \
      and nothing else. A number with labels has no series before there is something to tell. \
      `counter`s begin at 0 with the process and only grow; `gauge`s are read from memory when they \
      are scraped, and the store is never asked for one; of a `histogram` there are `_bucket`, `_sum` \
      and `_count`. Some are there only with what they are about: the embedded store, PostgreSQL, an \
      object store, machines over ssh.

      ## Labels

      A label has few values, however large the platform is: a cluster, an organization, a token or an \
      address is never one.

      """;

  private SignalsGuide() {}

  static Guide of(List<Signal> signals) {
    StringBuilder text = new StringBuilder(16_384);
    text.append("# ").append(TITLE).append("\n\n").append(SUMMARY).append("\n\n");
    text.append(INTRODUCTION);
    text.append("| label | values |\n|---|---|\n");
    Arrays.stream(Label.values())
        .filter(label -> signals.stream().anyMatch(signal -> signal.labels().contains(label)))
        .forEach(label -> text.append("| `%s` | %s |\n".formatted(label.text(), label.meaning())));
    bySubject(signals)
        .forEach(
            (subject, some) -> {
              text.append("\n## ").append(subject).append("\n\n");
              text.append("| name | type | unit | labels | meaning |\n|---|---|---|---|---|\n");
              some.forEach(signal -> text.append(row(signal)));
            });
    return new Guide(NAME, TITLE, SUMMARY, text.toString());
  }

  /** Metrics by subject, the first word of the name after the program's. */
  private static Map<String, List<Signal>> bySubject(List<Signal> signals) {
    return signals.stream()
        .collect(
            Collectors.groupingBy(
                signal -> signal.name().replaceFirst("^bourse_", "").replaceFirst("_.*", ""),
                TreeMap::new,
                Collectors.toList()));
  }

  private static String row(Signal signal) {
    return "| `%s` | %s | %s | %s | %s |\n"
        .formatted(
            signal.name(),
            signal.type().name().toLowerCase(Locale.ROOT),
            signal.unit(),
            signal.labels().stream()
                .map(label -> "`" + label.text() + "`")
                .collect(Collectors.joining(", ")),
            signal.meaning().replace("|", "\\|"));
  }
}
