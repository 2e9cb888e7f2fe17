package dev.bourse.core;

import org.jspecify.annotations.Nullable;

/**
 * Preconditions of records on their components. A failure is a bug, or a faulty setting, which is
 * named in the message; input of callers is refused earlier with an {@link ApiException}.
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
   * @param template describes the violation, with a placeholder for each argument
   */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation needs another library.
  public static void that(boolean holds, String template, @Nullable Object... arguments) {
    if (!holds) {
      throw new IllegalArgumentException(template.formatted(arguments));
    }
  }

  /** Fails with {@link IllegalArgumentException} unless {@code least <= value <= most}. */
  public static void within(String name, long value, long least, long most) {
    that(
        value >= least && value <= most, "%s: %d is not within %d to %d", name, value, least, most);
  }
}
