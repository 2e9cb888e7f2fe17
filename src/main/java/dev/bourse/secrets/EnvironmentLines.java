package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.DIGIT;
import static dev.bourse.secrets.SecretText.LETTER;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.UNDERSCORE;

/**
 * Recognizes blocks of lines such as {@code DB_PASSWORD=hunter2}, in the form shells and containers
 * read. In prose or programs, a password that short is no evidence; among such lines, or in a file
 * named for such lines, it counts.
 */
final class EnvironmentLines {
  private static final int SHORTEST = 6;
  private static final int LONGEST = 64;
  private static final int LONGEST_NAME = 64;
  private static final int LONGEST_LINE = 256;

  /** The greatest distance to the next such line; comments and blank lines count. */
  private static final int LINES = 3;

  private static final String[] PASSWORDS = {
    "password", "passwd", "passphrase", "_pass", "_pwd", "secret"
  };

  /** Characters of values that are composed elsewhere or are examples. */
  private static final String ELSEWHERE = "$<>{}()[]*\\`";

  private final boolean isNamedSo;

  EnvironmentLines(String file) {
    isNamedSo = SecretFileNames.isEnvironment(file);
  }

  /** Whether the line with this name sets a password. */
  boolean isShortPassword(SecretText text, int name, int nameEnd) {
    return text.at(nameEnd) == '='
        && isPassword(text, nameEnd)
        && isUpperCase(text, name, nameEnd)
        && isValue(text, nameEnd + 1)
        && isAmongSuch(text, name);
  }

  private static boolean isPassword(SecretText text, int nameEnd) {
    for (String end : PASSWORDS) {
      if (text.hasBefore(nameEnd, end)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isUpperCase(SecretText text, int from, int to) {
    for (int i = from; i < to; i++) {
      int c = text.at(i);
      if (c < '0' || c > '_' || (c > '9' && c < 'A') || (c > 'Z' && c < '_')) {
        return false;
      }
    }
    return true;
  }

  /** Whether the line ends with a value of letters and other characters. */
  private static boolean isValue(SecretText text, int from) {
    int quote = text.at(from);
    boolean isQuoted = quote == '"' || quote == '\'';
    int start = isQuoted ? from + 1 : from;
    int end = start;
    boolean isLettered = false;
    boolean isMixed = false;
    for (; end - start <= LONGEST; end++) {
      int c = text.at(end);
      if (c <= ' ' || (isQuoted && c == quote)) {
        break;
      }
      if (c >= 0x7f || ELSEWHERE.indexOf(c) >= 0) {
        return false;
      }
      isLettered |= text.is(end, LETTER);
      isMixed |= text.is(end, DIGIT) || "!@#%^&+=?~".indexOf(c) >= 0;
    }
    int length = end - start;
    return length >= SHORTEST
        && length <= LONGEST
        && isLettered
        && isMixed
        && (text.at(end) < ' ' || (isQuoted && text.at(end) == quote))
        && text.at(start) != '/'
        && text.at(start) != '.'
        && text.at(start) != '~'
        && !Randomness.isPlaceholder(text.bytes, start, end);
  }

  private boolean isAmongSuch(SecretText text, int name) {
    int line = text.hasBefore(name, "export ") ? name - "export ".length() : name;
    if (!isLineStart(text, line)) {
      return false;
    }
    return isNamedSo || isSuchBefore(text, line) || isSuchBehind(text, name);
  }

  private static boolean isLineStart(SecretText text, int place) {
    return text.at(place - 1) == '\n' || text.at(place - 1) == NOTHING;
  }

  private static boolean isSuchBefore(SecretText text, int line) {
    int start = line;
    for (int i = 0; i < LINES && text.at(start - 1) == '\n'; i++) {
      int limit = start - LONGEST_LINE;
      start--;
      while (start > limit && !isLineStart(text, start)) {
        start--;
      }
      if (isSuch(text, start)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSuchBehind(SecretText text, int line) {
    int start = line;
    for (int i = 0; i < LINES; i++) {
      int limit = start + LONGEST_LINE;
      while (start < limit && text.at(start) != '\n' && text.at(start) != NOTHING) {
        start++;
      }
      if (text.at(start) != '\n') {
        return false;
      }
      start++;
      if (isSuch(text, start)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSuch(SecretText text, int line) {
    int name = text.has(line, "export ") ? line + "export ".length() : line;
    int end = text.run(name, DIGIT | LETTER | UNDERSCORE, name + LONGEST_NAME);
    return end > name && text.at(end) == '=' && isUpperCase(text, name, end);
  }
}
