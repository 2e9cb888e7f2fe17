package dev.bourse.store;

/**
 * A notification to the other processes on the same store that a row changed.
 *
 * @param topic the kind of row, for example {@code cluster}; 1 to 64 characters, no control
 *     characters
 * @param key the row's key; up to 1,024 characters, no control characters
 * @param version a number that each change of the row raises, which shows a reader whether it has
 *     the change already; {@link #NO_VERSION} if the row has none
 * @param row the row's new content, in the form its {@link Mirror} reads, without control
 *     characters; empty if readers have to read the store. Requires a version. It may be lost in
 *     transit; the change then arrives without it.
 */
public record Change(String topic, String key, long version, String row) {
  /** The version of rows without one; every receiver reads them again. */
  public static final long NO_VERSION = -1;

  private static final int TOPIC_CHARS = 64;
  private static final int KEY_CHARS = 1_024;

  public Change {
    if (topic.isEmpty() || topic.length() > TOPIC_CHARS || hasControls(topic)) {
      throw new IllegalArgumentException("topic is not valid: '" + topic + "'");
    }
    if (key.length() > KEY_CHARS || hasControls(key)) {
      throw new IllegalArgumentException("key is not valid: '" + key + "'");
    }
    if (version < NO_VERSION) {
      throw new IllegalArgumentException("version is not valid: " + version);
    }
    if (hasControls(row) || (version == NO_VERSION && !row.isEmpty())) {
      throw new IllegalArgumentException("row is not valid: '" + row + "'");
    }
  }

  /** Creates a change whose row has to be read from the store. */
  public Change(String topic, String key) {
    this(topic, key, NO_VERSION, "");
  }

  private static boolean hasControls(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }
}
