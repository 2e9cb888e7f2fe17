package dev.bourse.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The rules of {@code conf/alerts.yaml} with their times made short, and nothing else changed: what
 * takes a service of operators minutes takes one of this run seconds.
 */
final class AlertRules {
  /** How often everything is scraped, and the rules looked at. */
  static final int SCRAPE_SECONDS = 1;

  /**
   * By this the time for which something must be so is shorter, and the time that a rule looks back
   * over: ten minutes are five seconds.
   */
  static final int SHORTER = 120;

  /**
   * By this an age is less at which something is late. It is no more than that, for a busy machine
   * alone must make nothing late: the shortest is four seconds, of what is told twice a second.
   */
  private static final int SOONER = 5;

  /**
   * Ages that a fault reaches within seconds here; all others (a clock that is set hours ahead, a
   * certificate of some days, a loop that stands for seconds) are left as they are.
   */
  private static final Set<String> AGES =
      Set.of(
          "bourse_store_answered_age_seconds",
          "bourse_market_quote_age_seconds",
          "bourse_changes_known_age_seconds");

  /** A rule that holds for one evaluation alone has held for no time. */
  private static final int LEAST_FOR_SECONDS = 2;

  /** An increase needs two scrapes, and the two before them may have been lost. */
  private static final int LEAST_WINDOW_SECONDS = 4 * SCRAPE_SECONDS;

  /**
   * Longer windows of rules whose events come slowly: three starts, and four ticks, which a busy
   * machine delays by seconds.
   */
  private static final Map<String, Integer> WINDOWS_SECONDS =
      Map.of("BourseRestarts", 90, "BourseTicksFail", 60);

  private static final Pattern NAME = Pattern.compile("(?m)^ *- alert: (\\w+)$");
  private static final Pattern FOR = Pattern.compile("(?m)(?<=^ {8}for: )(\\d+)([smh])$");
  private static final Pattern WINDOW = Pattern.compile("(?<=\\[)(\\d+)([smh])(?=])");
  private static final Pattern AGE = Pattern.compile("(_age_seconds\\b[^>\\n]* > )(\\d+)");

  private final String text;

  AlertRules(Path file) throws IOException {
    text = Files.readString(file);
  }

  /** The alerts there are. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    NAME.matcher(text).results().forEach(found -> names.add(found.group(1)));
    return names;
  }

  /** The same rules, with short times. */
  String shortened() {
    StringBuilder all = new StringBuilder();
    // One rule after the other: what is before the first is none.
    for (String rule : text.split("(?m)(?=^ *- alert: )", -1)) {
      all.append(shortened(rule));
    }
    return all.toString();
  }

  private static String shortened(String rule) {
    List<String> name = NAME.matcher(rule).results().map(found -> found.group(1)).toList();
    if (name.isEmpty()) {
      return rule;
    }
    int window = WINDOWS_SECONDS.getOrDefault(name.get(0), 0);
    String waiting = replaced(FOR, rule, found -> seconds(found, LEAST_FOR_SECONDS));
    String looking =
        replaced(
            WINDOW,
            waiting,
            found -> window > 0 ? window + "s" : seconds(found, LEAST_WINDOW_SECONDS));
    return AGES.stream().anyMatch(looking::contains)
        ? replaced(
            AGE, looking, found -> found.group(1) + Integer.parseInt(found.group(2)) / SOONER)
        : looking;
  }

  private interface Shorter {
    String of(MatchResult found);
  }

  private static String replaced(Pattern pattern, String rule, Shorter shorter) {
    return pattern.matcher(rule).replaceAll(found -> shorter.of(found));
  }

  private static String seconds(MatchResult found, int least) {
    int unit =
        switch (found.group(2)) {
          case "h" -> 3_600;
          case "m" -> 60;
          default -> 1;
        };
    int seconds = Integer.parseInt(found.group(1)) * unit;
    return Math.max(least, seconds / SHORTER) + "s";
  }
}
