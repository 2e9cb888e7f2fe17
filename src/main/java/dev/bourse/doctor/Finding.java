package dev.bourse.doctor;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The result of a check.
 *
 * @param name of the check
 * @param verdict the worst observation
 * @param seen observations, one sentence each; for a skipped check, the reason
 * @param advice next steps, one sentence each; empty if there are none
 * @param isOfStore whether the fault is in the store itself: it is corrupt, or lacks a secret key
 */
public record Finding(
    String name, Verdict verdict, List<String> seen, List<String> advice, boolean isOfStore) {
  /** Verdicts, from best to worst after {@code SKIPPED}. */
  public enum Verdict {
    /** Nothing was checked. */
    SKIPPED,
    OK,
    /** The service runs, and an operator should act. */
    WARNING,
    /** The service does not start, or a part of it does not work. */
    FAULT;

    /** The verdict as printed. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** As wide as the verdict and the space after it. */
  private static final String INDENT = " ".repeat(9);

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  public Finding {
    seen = List.copyOf(seen);
    advice = List.copyOf(advice);
  }

  /** Returns the finding for programs. */
  public JsonObject json() {
    return new JsonObject()
        .put("name", name)
        .put("finding", verdict.label())
        .put("seen", new JsonArray(seen))
        .put("advice", new JsonArray(advice));
  }

  /**
   * Returns the finding for people: the first observation beside the name, the others below; no
   * line end at the end.
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

  /** Control characters of a server's answer must not reach the terminal. */
  private static String plain(String line) {
    return CONTROL.matcher(line).replaceAll("?");
  }
}
