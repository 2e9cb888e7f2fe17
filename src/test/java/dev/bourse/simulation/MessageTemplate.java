package dev.bourse.simulation;

import org.jspecify.annotations.Nullable;

/** Formats sentences with values. */
final class MessageTemplate {
  private MessageTemplate() {}

  /** Replaces each {@code {}} of a sentence by the next value. */
  static String fill(String sentence, @Nullable Object... values) {
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
