package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import java.util.ArrayList;
import java.util.List;

/**
 * The text form of a group's changes in its row of the commit log: one line per change, with topic,
 * key, version and row separated by tabs. Version and row are empty if the change has none.
 */
final class ChangeText {
  /**
   * Rows beyond this many characters of one group are left out, and readers query them by key: a
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
   * Parses the text of a row.
   *
   * @throws IllegalArgumentException if the text is malformed
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
