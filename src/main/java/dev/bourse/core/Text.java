package dev.bourse.core;

/** How text of unknown origin is shown in messages and logs. */
public final class Text {
  /** Longest piece of a client's value that an error repeats: enough to recognise it. */
  private static final int MAX_SHOWN = 64;

  private Text() {}

  /** The value with control characters replaced and cut to a length fit for one line. */
  public static String shown(String value) {
    StringBuilder shown = new StringBuilder(Math.min(value.length(), MAX_SHOWN) + 1);
    for (int i = 0; i < value.length(); i++) {
      if (i == MAX_SHOWN) {
        return shown.append('…').toString();
      }
      char c = value.charAt(i);
      shown.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
    }
    return shown.toString();
  }
}
