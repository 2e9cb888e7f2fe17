package dev.bourse.core;

/** Shows text of unknown origin in messages and logs, and compares it. */
public final class Text {
  /** The longest part of a client's value that an error repeats: enough to recognize it. */
  private static final int MAX_SHOWN = 64;

  private Text() {}

  /**
   * The value with ASCII capitals in lower case and all else unchanged. Names, addresses and hosts
   * are folded this way before they are checked or looked up: by Unicode's rules the Kelvin sign
   * would become a {@code k} and a dotted capital I an {@code i}, so that one address would pass
   * for another in ASCII. It matches {@code lower} of both stores.
   */
  public static String folded(String value) {
    int first = 0;
    while (first < value.length() && !isCapital(value.charAt(first))) {
      first++;
    }
    if (first == value.length()) {
      return value;
    }
    StringBuilder folded = new StringBuilder(value);
    for (int i = first; i < folded.length(); i++) {
      char c = folded.charAt(i);
      if (isCapital(c)) {
        folded.setCharAt(i, (char) (c + ('a' - 'A')));
      }
    }
    return folded.toString();
  }

  private static boolean isCapital(char c) {
    return c >= 'A' && c <= 'Z';
  }

  /** Text of unknown origin without the characters that control a terminal. */
  public static String plain(String text) {
    return text.replaceAll("\\p{Cc}", "?");
  }

  /** Replaces control and invisible characters and truncates the value to one line. */
  public static String shown(String value) {
    StringBuilder shown = new StringBuilder(Math.min(value.length(), MAX_SHOWN) + 1);
    for (int i = 0; i < value.length(); i++) {
      if (i == MAX_SHOWN) {
        return shown.append('…').toString();
      }
      char c = value.charAt(i);
      shown.append(isInvisible(c) || Character.isSurrogate(c) ? '?' : c);
    }
    return shown.toString();
  }

  /**
   * True for control characters and for characters that change or hide what people see: joiners,
   * direction marks, fillers and tags. Two names that differ only in these look equal. The patterns
   * of the contracts exclude the same ones up to U+FFFF.
   */
  public static boolean isInvisible(int codePoint) {
    return Character.isISOControl(codePoint)
        || codePoint == 0xad
        || codePoint == 0x34f
        || codePoint == 0x61c
        || codePoint == 0x115f
        || codePoint == 0x1160
        || codePoint == 0x180e
        || (codePoint >= 0x200b && codePoint <= 0x200f)
        || (codePoint >= 0x2028 && codePoint <= 0x202e)
        || (codePoint >= 0x2060 && codePoint <= 0x206f)
        || codePoint == 0x3164
        || codePoint == 0xfeff
        || codePoint == 0xffa0
        || (codePoint >= 0xfff9 && codePoint <= 0xfffb)
        || isTag(codePoint);
  }

  /** True if the text has tag characters, U+E0000 to U+E007F, which hide text in text. */
  public static boolean hasTags(String text) {
    return text.codePoints().anyMatch(Text::isTag);
  }

  private static boolean isTag(int codePoint) {
    return codePoint >= 0xe0000 && codePoint <= 0xe007f;
  }

  /**
   * Whether every store can hold the text: it has no U+0000, which PostgreSQL refuses, and no lone
   * surrogate.
   */
  public static boolean isStorable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || Character.isLowSurrogate(c)) {
        return false;
      }
      if (Character.isHighSurrogate(c)) {
        i++;
        if (i == text.length() || !Character.isLowSurrogate(text.charAt(i))) {
          return false;
        }
      }
    }
    return true;
  }
}
