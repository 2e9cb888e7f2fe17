package dev.bourse.secrets;

import java.nio.charset.StandardCharsets;

/**
 * The view of a rule on the bytes around a keyword: from {@value #BEFORE} before its start to
 * {@value #AFTER} after it, or to the ends of the file. Rules see nothing else, so that findings do
 * not depend on the pieces a file arrives in.
 *
 * <p>Places are indexes into the scan's buffer; outside of the view there is {@link #NOTHING}.
 */
final class SecretText {
  static final int BEFORE = 1024;

  /** Room for a JSON Web Token with many claims and for a key with long header lines. */
  static final int AFTER = 16 * 1024;

  static final int NOTHING = -1;

  private static final int LONG_RUN = 24;

  static final int DIGIT = 1;
  static final int LETTER = 2;
  static final int UNDERSCORE = 4;
  static final int DASH = 8;
  static final int PLUS_SLASH = 16;
  static final int SPACE = 32;
  static final int BREAK = 64;
  static final int MARK = 128;
  static final int UPPER_LABEL = 256;
  static final int DOT = 512;
  static final int EQUALS = 1024;
  static final int HEX = 2048;

  static final int ALNUM = DIGIT | LETTER;
  static final int WORD = ALNUM | UNDERSCORE;
  static final int BASE64 = ALNUM | PLUS_SLASH;
  static final int BASE64URL = ALNUM | UNDERSCORE | DASH;
  static final int BLANK = SPACE | BREAK;

  /** The characters of an unquoted or quoted value of a setting. */
  static final int VALUE = BASE64 | BASE64URL | DOT | EQUALS | MARK;

  private static final int[] CLASSES = new int[256];

  static {
    for (int c = '0'; c <= '9'; c++) {
      CLASSES[c] = DIGIT | UPPER_LABEL | HEX;
    }
    for (int c = 'a'; c <= 'z'; c++) {
      CLASSES[c] = LETTER;
      CLASSES[c - 'a' + 'A'] = LETTER | UPPER_LABEL;
    }
    mark("abcdefABCDEF", HEX);
    mark("_", UNDERSCORE);
    mark("-", DASH);
    mark("+/", PLUS_SLASH);
    mark(" ", SPACE | UPPER_LABEL);
    mark("\t", SPACE);
    mark("\r\n", BREAK);
    mark(".", DOT);
    mark("=", EQUALS);
    mark("~!@#%^&*:", MARK);
  }

  private static void mark(String characters, int kind) {
    characters.chars().forEach(c -> CLASSES[c] |= kind);
  }

  final byte[] bytes;
  final Randomness randomness = new Randomness();
  private long base;
  private int from;
  private int to;

  SecretText(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Moves the view to a keyword.
   *
   * @param filled the end of the filled part of the buffer
   * @param base the offset in the file of the buffer's first byte
   */
  void look(int place, int filled, long base) {
    this.base = base;
    this.from = Math.max(0, place - BEFORE);
    this.to = Math.min(filled, place + AFTER);
  }

  /** The place's offset in the file. */
  long offset(int place) {
    return base + place;
  }

  /** The place of a file offset; it may lie outside of the view. */
  int place(long offset) {
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, offset - base));
  }

  int to() {
    return to;
  }

  /** The byte at a place, {@link #NOTHING} outside of the view. */
  int at(int place) {
    return place < from || place >= to ? NOTHING : bytes[place] & 0xff;
  }

  /** The characters between two places of the view. */
  String string(int start, int end) {
    return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
  }

  boolean is(int place, int kind) {
    return place >= from && place < to && (CLASSES[bytes[place] & 0xff] & kind) != 0;
  }

  /** The first place from {@code place} up to a limit with a character of none of these kinds. */
  int run(int place, int kind, int limit) {
    int end = Math.min(limit, to);
    int i = place;
    while (i < end && (CLASSES[bytes[i] & 0xff] & kind) != 0) {
      i++;
    }
    return i;
  }

  /** Whether these characters start at a place. */
  boolean has(int place, String characters) {
    if (place < from || to - place < characters.length()) {
      return false;
    }
    for (int i = 0; i < characters.length(); i++) {
      if (bytes[place + i] != characters.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Whether these characters end at a place, in upper or lower case (given in lower case). */
  boolean hasBefore(int end, String lower) {
    int start = end - lower.length();
    if (start < from) {
      return false;
    }
    for (int i = 0; i < lower.length(); i++) {
      int c = bytes[start + i];
      if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != lower.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a byte is neither printable ASCII nor a blank: only binary formats and other scripts
   * have it.
   */
  boolean isBinary(int place) {
    int c = at(place);
    return c == NOTHING || (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c >= 0x7f;
  }

  /**
   * Whether a word may start at a place: not after a letter, digit or underscore, except after an
   * escape such as {@code \n} or {@code %3D}, or after a single such character that follows a
   * binary byte, because pickles and similar formats put the length there.
   */
  boolean startsWord(int place) {
    if (!is(place - 1, WORD)) {
      return true;
    }
    int before = at(place - 1);
    return (at(place - 2) == '\\' && (before == 'n' || before == 'r' || before == 't'))
        || (at(place - 3) == '%' && is(place - 2, ALNUM))
        || isBinary(place - 2);
  }

  /**
   * Whether a credential with its own prefix may start at a place: not in the middle of a long run
   * of base64url, where any four letters occur once in 16 MB. A short word may be joined to it.
   */
  boolean startsToken(int place) {
    int start = place;
    while (start > place - LONG_RUN && is(start - 1, BASE64URL)) {
      start--;
    }
    return start > place - LONG_RUN || (startsWord(place) && at(place - 1) != '-');
  }

  /** The start of the first of these names that ends at a place, {@link #NOTHING} for none. */
  int nameBefore(int end, String... lower) {
    for (String name : lower) {
      if (hasBefore(end, name)) {
        return end - name.length();
      }
    }
    return NOTHING;
  }

  /**
   * Whether a line starts at a place, not counting blanks; in JSON a line may start after {@code
   * \n}.
   */
  boolean startsLine(int place) {
    int i = place;
    int limit = place - 64;
    while (i > limit && is(i - 1, SPACE)) {
      i--;
    }
    return is(i - 1, BREAK)
        || isBinary(i - 1)
        || at(i - 1) == '"'
        || (at(i - 1) == 'n' && at(i - 2) == '\\');
  }

  /** The first place from {@code place} on that is neither a blank nor the escape of one. */
  int skipBlanks(int place, int limit) {
    int i = place;
    while (i < limit) {
      int c = at(i);
      if (is(i, BLANK)) {
        i++;
      } else if (c == '\\' && (at(i + 1) == 'n' || at(i + 1) == 'r' || at(i + 1) == 't')) {
        i += 2;
      } else {
        break;
      }
    }
    return i;
  }

  /**
   * The start of the value of a setting whose name ends at a place: after {@code =} or {@code :},
   * blanks and quotes; {@link #NOTHING} when no value follows. Understands {@code NAME=value},
   * {@code "name": "value"}, {@code name: value}, {@code x["name"] = 'value'} and their escaped
   * forms.
   */
  int value(int nameEnd) {
    int i = nameEnd;
    while (i < nameEnd + 4 && isQuote(at(i))) {
      i++;
    }
    i = run(i, SPACE, i + 8);
    int separator = at(i);
    if (separator != '=' && separator != ':') {
      return NOTHING;
    }
    i++;
    if (at(i) == '=' || at(i) == '>') {
      i++;
    }
    i = run(i, SPACE, i + 8);
    int quotes = i + 4;
    while (i < quotes && isQuote(at(i))) {
      i++;
    }
    return i;
  }

  boolean isRandom(int start, int end) {
    return randomness.isRandom(bytes, start, end);
  }

  private static boolean isQuote(int c) {
    return c == '"' || c == '\'' || c == '\\' || c == ']' || c == '`';
  }
}
