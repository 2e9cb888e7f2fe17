package dev.bourse.logs;

/** Makes untrusted text safe for one line of the log. */
final class LineText {
  /**
   * Longest message, in characters. With the longest error a line stays under 16 KiB of ASCII, the
   * length at which container runtimes split lines.
   */
  static final int MAX_MESSAGE = 4_096;

  private LineText() {}

  /** Returns the message, truncated if it is too long. */
  static String bounded(String message) {
    return cut(message, MAX_MESSAGE);
  }

  static String cut(String text, int most) {
    return text.length() <= most
        ? text
        : text.substring(0, most) + "… (" + (text.length() - most) + " more characters)";
  }

  /**
   * Appends text with JSON escapes for characters that would start a line, move a terminal's cursor
   * or change the direction of writing.
   *
   * @param quoted whether the text is inside quotes, so that quotes are escaped too
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
