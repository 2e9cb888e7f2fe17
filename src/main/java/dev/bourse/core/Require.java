package dev.bourse.core;

import org.jspecify.annotations.Nullable;

/**
 * What a record demands of the values it is made of. A failure is a fault of the program, or of a
 * setting, which names its value; input of callers is refused with an {@link ApiError} before.
 */
public final class Require {
  private Require() {}

  /** Fails with {@link IllegalArgumentException} unless the condition holds. */
  public static void that(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }

  /**
   * Fails with {@link IllegalArgumentException} unless the condition holds.
   *
   * @param template says what is wrong, with a place for each argument
   */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be one more library.
  public static void that(boolean holds, String template, @Nullable Object... arguments) {
    if (!holds) {
      throw new IllegalArgumentException(template.formatted(arguments));
    }
  }

  /** Fails with {@link IllegalArgumentException} unless a value is from one number to another. */
  public static void within(String name, long value, long least, long most) {
    that(
        value >= least && value <= most, "%s: %d is not within %d to %d", name, value, least, most);
  }
}
