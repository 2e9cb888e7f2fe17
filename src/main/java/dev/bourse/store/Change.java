package dev.bourse.store;

/**
 * Word to the other processes on the same store that something there moved.
 *
 * @param topic what kind of thing, such as {@code cluster}; 1 to 64 characters, no control
 *     characters
 * @param key which one; up to 1,024 characters, no control characters
 * @param version a number that each change to the thing raises, by which who holds it knows whether
 *     this is news; {@link #NO_VERSION} where there is none
 * @param row the thing as it is since, in the form its {@link Mirror} reads, without control
 *     characters; empty when it is to be read from the store. Only with a version. It may be lost
 *     on the way, when the change comes without it.
 */
public record Change(String topic, String key, long version, String row) {
  /** Of what has no version: whoever is told reads it anew. */
  public static final long NO_VERSION = -1;

  private static final int TOPIC_CHARS = 64;
  private static final int KEY_CHARS = 1_024;

  public Change {
    if (topic.isEmpty() || topic.length() > TOPIC_CHARS || hasControls(topic)) {
      throw new IllegalArgumentException("no topic of a change: '" + topic + "'");
    }
    if (key.length() > KEY_CHARS || hasControls(key)) {
      throw new IllegalArgumentException("no key of a change: '" + key + "'");
    }
    if (version < NO_VERSION) {
      throw new IllegalArgumentException("no version of a change: " + version);
    }
    if (hasControls(row) || (version == NO_VERSION && !row.isEmpty())) {
      throw new IllegalArgumentException("no row of a change: '" + row + "'");
    }
  }

  /** Of what is to be read anew. */
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
