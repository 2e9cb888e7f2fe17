package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import java.util.ArrayList;
import java.util.List;

/**
 * The changes of a group of commits as the text that its row in the commit log keeps: a line for
 * each change, of topic, key, version and row with tabs between them. Version and row are empty
 * when there is none.
 */
final class ChangeText {
  /**
   * Rows past this many characters of one group are left out, and readers query them by key: a
   * query of hundreds of rows costs less than storing them twice.
   */
  private static final int ROW_CHARS = 64_000;

  private static final String BETWEEN = "\t";

  private ChangeText() {}

  static String write(List<Change> changes) {
    StringBuilder text = new StringBuilder();
    int rowChars = 0;
    for (Change change : changes) {
      if (!text.isEmpty()) {
        text.append('\n');
      }
      text.append(change.topic()).append(BETWEEN).append(change.key()).append(BETWEEN);
      if (change.version() != Change.NO_VERSION) {
        text.append(change.version());
      }
      text.append(BETWEEN);
      if (rowChars + change.row().length() <= ROW_CHARS) {
        rowChars += change.row().length();
        text.append(change.row());
      }
    }
    return text.toString();
  }

  /**
   * Reads the text of a row.
   *
   * @throws IllegalArgumentException when it is not such a text
   */
  static List<Change> read(String text) {
    if (text.isEmpty()) {
      return List.of();
    }
    String[] lines = text.split("\n", -1);
    List<Change> changes = new ArrayList<>(lines.length);
    for (String line : lines) {
      String[] parts = line.split(BETWEEN, -1);
      if (parts.length != 4) {
        throw new IllegalArgumentException("not a change: '" + line + "'");
      }
      changes.add(
          parts[2].isEmpty()
              ? new Change(parts[0], parts[1])
              : new Change(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]));
    }
    return changes;
  }
}
