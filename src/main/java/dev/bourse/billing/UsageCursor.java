package dev.bourse.billing;

import dev.bourse.core.ApiError;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in a list of usage lines: after the line of this hour and cluster.
 *
 * @param hourMillis the hour's beginning
 * @param cluster of that hour's lines, those up to this name are behind it
 */
record UsageCursor(long hourMillis, String cluster) {
  /** Before all lines. */
  static final UsageCursor START = new UsageCursor(0, "");

  /** In what order lines are listed. */
  static final Comparator<Usage.Line> ORDER =
      Comparator.comparingLong(Usage.Line::hourMillis).thenComparing(Usage.Line::cluster);

  private static final Pattern SHAPE = Pattern.compile("([0-9]{1,15})_(.{1,63})");

  static UsageCursor after(Usage.Line line) {
    return new UsageCursor(line.hourMillis(), line.cluster());
  }

  /**
   * As {@link #text} wrote it.
   *
   * @throws ApiError {@code bad-request} for any other text
   */
  static UsageCursor parse(Optional<String> text) {
    if (text.isEmpty()) {
      return START;
    }
    Matcher matcher = SHAPE.matcher(text.get());
    if (!matcher.matches()) {
      throw ApiError.badField("after", text.get(), "the `next` of the page before");
    }
    return new UsageCursor(Long.parseLong(matcher.group(1)), matcher.group(2));
  }

  String text() {
    return hourMillis + "_" + cluster;
  }

  /** Whether a line comes after this place. */
  boolean isBefore(Usage.Line line) {
    return line.hourMillis() > hourMillis
        || (line.hourMillis() == hourMillis && line.cluster().compareTo(cluster) > 0);
  }
}
