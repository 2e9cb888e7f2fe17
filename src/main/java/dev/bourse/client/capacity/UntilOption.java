package dev.bourse.client.capacity;

import dev.bourse.core.Times;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the end of a declaration from the command line. */
final class UntilOption {
  /** The longest lease, a year, is 31,622,400 seconds; longer spans use larger units. */
  private static final Pattern SPAN = Pattern.compile("([1-9][0-9]{0,5})(s|m|h|d|w)");

  private UntilOption() {}

  /**
   * The moment of a text.
   *
   * @param typed an RFC 3339 time, or a span from now: {@code 30m}, {@code 8h}
   */
  static Instant end(String typed, Instant now) throws RefusedException {
    Matcher span = SPAN.matcher(typed);
    try {
      if (span.matches()) {
        return now.truncatedTo(ChronoUnit.SECONDS)
            .plus(unit(span.group(2)).multipliedBy(Long.parseLong(span.group(1))));
      }
      return Instant.ofEpochMilli(
          Times.parse(typed).orElseThrow(() -> new DateTimeException(typed)));
    } catch (DateTimeException | ArithmeticException e) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--until: '%s' is neither a time, such as %s, nor a span, such as 30m, 8h or 2d"
              .formatted(typed, now.plus(Duration.ofHours(8)).truncatedTo(ChronoUnit.SECONDS)));
    }
  }

  private static Duration unit(String letter) {
    return switch (letter) {
      case "s" -> Duration.ofSeconds(1);
      case "m" -> Duration.ofMinutes(1);
      case "h" -> Duration.ofHours(1);
      case "d" -> Duration.ofDays(1);
      default -> Duration.ofDays(7);
    };
  }
}
