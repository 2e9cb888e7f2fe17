package dev.bourse.store;

/**
 * Word to the other processes on the same store that something there moved.
 *
 * @param topic what kind of thing, such as {@code cluster}; 1 to 64 characters, no control
 *     characters
 * @param key which one; up to 1,024 characters, no control characters
 */
public record Change(String topic, String key) {
  private static final int TOPIC_CHARS = 64;
  private static final int KEY_CHARS = 1_024;

  public Change {
    if (topic.isEmpty() || topic.length() > TOPIC_CHARS || hasControls(topic)) {
      throw new IllegalArgumentException("no topic of a change: '" + topic + "'");
    }
    if (key.length() > KEY_CHARS || hasControls(key)) {
      throw new IllegalArgumentException("no key of a change: '" + key + "'");
    }
  }

  private static boolean hasControls(String text) {
    return text.chars().anyMatch(Character::isISOControl);
  }
}
