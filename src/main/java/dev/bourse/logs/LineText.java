package dev.bourse.logs;

/** Text from anywhere as it may stand in a line. */
final class LineText {
  /**
   * Longest message, in characters. With the longest error a line stays under 16 KiB of ASCII,
   * where container runtimes cut lines in two.
   */
  static final int MAX_MESSAGE = 4_096;

  private LineText() {}

  /** The message, cut when it is too long. */
  static String bounded(String message) {
    return cut(message, MAX_MESSAGE);
  }

  static String cut(String text, int most) {
    return text.length() <= most
        ? text
        : text.substring(0, most) + "… (" + (text.length() - most) + " more characters)";
  }

  /**
   * Appends text, and in place of what would begin a line, move a terminal's cursor or turn the
   * direction of writing, an escape as JSON has it.
   *
   * @param quoted whether it stands in quotes, so that those are escaped, too
   */
  static void escape(StringBuilder to, String text, boolean quoted) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted && (c == '"' || c == '\\')) {
        to.append('\\').append(c);
      } else if (c == '\n') {
        to.append("\\n");
      } else if (c == '\t') {
        to.append("\\t");
      } else if (c == '\r') {
        to.append("\\r");
      } else if (isUnsafe(text, i, c)) {
        to.append(String.format("\\u%04x", (int) c));
      } else {
        to.append(c);
      }
    }
  }

  private static boolean isUnsafe(String text, int at, char c) {
    if (c < 0x80) {
      return c < ' ' || c == 0x7f;
    }
    if (Character.isHighSurrogate(c)) {
      return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
    }
    if (Character.isLowSurrogate(c)) {
      return at == 0 || !Character.isHighSurrogate(text.charAt(at - 1));
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
