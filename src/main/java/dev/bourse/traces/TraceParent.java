package dev.bourse.traces;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace context that a client sends in the header {@code traceparent}.
 *
 * @param traceId 32 hexadecimal digits, not all 0
 * @param spanId of the calling span, 16 hexadecimal digits, not all 0
 * @param isSampled whether the client records the trace
 */
public record TraceParent(String traceId, String spanId, boolean isSampled) {
  /**
   * The format of https://www.w3.org/TR/trace-context/; versions after the first may append fields.
   */
  private static final Pattern FORM =
      Pattern.compile(
          "(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})"
              + "(?:(?<!^00.{53})-.{0,256})?");

  private static final int SAMPLED = 1;

  /** Parses a header; null if it is malformed. */
  public static @Nullable TraceParent of(String header) {
    Matcher found = FORM.matcher(header);
    return found.matches()
        ? new TraceParent(
            found.group(1),
            found.group(2),
            (Integer.parseInt(found.group(3), 16) & SAMPLED) == SAMPLED)
        : null;
  }
}
