package dev.bourse.billing;

import dev.bourse.core.ApiException;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A position in a list of usage lines, after the line of this hour and cluster.
 *
 * @param hourMillis start of the hour
 * @param cluster the last cluster of that hour before the position
 */
record UsageCursor(long hourMillis, String cluster) {
  /** Before all lines. */
  static final UsageCursor START = new UsageCursor(0, "");

  /** The order of lines. */
  static final Comparator<Usage.Line> ORDER =
      Comparator.comparingLong(Usage.Line::hourMillis).thenComparing(Usage.Line::cluster);

  private static final Pattern SHAPE = Pattern.compile("([0-9]{1,15})_(.{1,63})");

  static UsageCursor after(Usage.Line line) {
    return new UsageCursor(line.hourMillis(), line.cluster());
  }

  /**
   * Parses a cursor from {@link #text}.
   *
   * @throws ApiException {@code bad-request} for any other text
   */
  static UsageCursor parse(Optional<String> text) {
    if (text.isEmpty()) {
      return START;
    }
    Matcher matcher = SHAPE.matcher(text.get());
    if (!matcher.matches()) {
      throw ApiException.badField("after", text.get(), "the `next` of the page before");
    }
    return new UsageCursor(Long.parseLong(matcher.group(1)), matcher.group(2));
  }

  String text() {
    return hourMillis + "_" + cluster;
  }

  /** Returns true if a line comes after this position. */
  boolean isBefore(Usage.Line line) {
    return line.hourMillis() > hourMillis
        || (line.hourMillis() == hourMillis && line.cluster().compareTo(cluster) > 0);
  }
}
