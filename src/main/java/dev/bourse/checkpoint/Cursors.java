package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Places in lists, as clients hold them: opaque to them, two values to us. */
final class Cursors {
  private static final Pattern CURSOR = Pattern.compile("([0-9a-z]{1,11})-(ckp_[0-9A-Za-z]{1,32})");
  private static final int RADIX = 36;

  private Cursors() {}

  static String after(long atMillis, String id) {
    return Long.toString(atMillis, RADIX) + '-' + id;
  }

  /**
   * What {@link #after} made.
   *
   * @throws ApiError {@code bad-request} for anything else
   */
  static CheckpointStore.Cursor parse(String text) {
    Matcher matcher = CURSOR.matcher(text);
    if (!matcher.matches()) {
      throw ApiError.badField("before", text, "the cursor of the previous answer");
    }
    return new CheckpointStore.Cursor(Long.parseLong(matcher.group(1), RADIX), matcher.group(2));
  }
}
