package dev.bourse.simulation;

import org.jspecify.annotations.Nullable;

/** Sentences with values in them. */
final class Text {
  private Text() {}

  /** A sentence with each {@code {}} replaced by the next value. */
  static String filled(String sentence, @Nullable Object... values) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (@Nullable Object value : values) {
      int gap = sentence.indexOf("{}", from);
      if (gap < 0) {
        break;
      }
      text.append(sentence, from, gap).append(value);
      from = gap + 2;
    }
    return text.append(sentence, from, sentence.length()).toString();
  }
}
