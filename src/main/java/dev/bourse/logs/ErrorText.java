package dev.bourse.logs;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Formats an error with its causes and the top frames of their stacks. */
final class ErrorText {
  private static final int MAX_CAUSES = 5;
  private static final int MAX_FRAMES = 20;

  /** Longest message of one error, in characters. */
  private static final int MAX_MESSAGE = 1_024;

  private static final int MAX_TEXT = 10_000;

  private ErrorText() {}

  /**
   * @param between separator of two lines
   */
  static String of(Throwable error, String between) {
    StringBuilder text = new StringBuilder();
    Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());
    @Nullable Throwable next = error;
    while (next != null && told.size() < MAX_CAUSES && told.add(next)) {
      if (next != error) {
        text.append(between).append("caused by ");
      }
      text.append(messageOf(next));
      StackTraceElement[] frames = next.getStackTrace();
      for (int i = 0; i < Math.min(frames.length, MAX_FRAMES); i++) {
        text.append(between).append("at ").append(frames[i]);
      }
      if (frames.length > MAX_FRAMES) {
        text.append(between).append("… ").append(frames.length - MAX_FRAMES).append(" more");
      }
      next = next.getCause();
    }
    if (next != null) {
      text.append(between).append("caused by more");
    }
    return LineText.cut(text.toString(), MAX_TEXT);
  }

  private static String messageOf(Throwable error) {
    try {
      return LineText.cut(error.toString(), MAX_MESSAGE);
    } catch (RuntimeException unspeakable) {
      // A message that cannot be formatted must not suppress the line.
      return error.getClass().getName();
    }
  }
}
