package dev.bourse.doctor;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a check came to.
 *
 * @param name the check's
 * @param verdict the worst of what was seen
 * @param seen what was seen, in a sentence each; of what was skipped, why
 * @param advice what to do, in a sentence each; empty when there is nothing to do
 * @param isOfStore whether a fault is the store's own: it is not sound, or lacks a secret key
 */
public record Finding(
    String name, Verdict verdict, List<String> seen, List<String> advice, boolean isOfStore) {
  /** How it stands, from good to bad but for what was not looked at. */
  public enum Verdict {
    /** Nothing was looked at. */
    SKIPPED,
    OK,
    /** The service runs, and somebody should see to it. */
    WARNING,
    /** The service does not start, or not all of it works. */
    FAULT;

    /** As it is written. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** As wide as the verdict and the blank behind it. */
  private static final String INDENT = " ".repeat(9);

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  public Finding {
    seen = List.copyOf(seen);
    advice = List.copyOf(advice);
  }

  /** For programs. */
  public JsonObject json() {
    return new JsonObject()
        .put("name", name)
        .put("finding", verdict.label())
        .put("seen", new JsonArray(seen))
        .put("advice", new JsonArray(advice));
  }

  /**
   * For people: the first thing seen beside the name, each other below; no end of line at the end.
   */
  public String text() {
    StringBuilder text =
        new StringBuilder(
            "%-8s %s: %s"
                .formatted(
                    verdict.label(),
                    name,
                    seen.stream().map(Finding::plain).collect(Collectors.joining("\n" + INDENT))));
    advice.forEach(line -> text.append('\n').append(INDENT).append("to do: ").append(plain(line)));
    return text.toString();
  }

  /** A control character in what a server said must not reach the terminal. */
  private static String plain(String line) {
    return CONTROL.matcher(line).replaceAll("?");
  }
}
