package dev.bourse.traces;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a client says of the trace its request is of, in the header {@code traceparent}.
 *
 * @param traceId 32 hexadecimal digits, not all 0
 * @param spanId of what asked, 16 hexadecimal digits, not all 0
 * @param isSampled whether the client tells a collector of it
 */
public record TraceParent(String traceId, String spanId, boolean isSampled) {
  /**
   * As https://www.w3.org/TR/trace-context/ has it; a version after the first may say more at the
   * end.
   */
  private static final Pattern FORM =
      Pattern.compile(
          "(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})"
              + "(?:(?<!^00.{53})-.{0,256})?");

  private static final int SAMPLED = 1;

  /** What a header says; null when it is not written as such headers are. */
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
