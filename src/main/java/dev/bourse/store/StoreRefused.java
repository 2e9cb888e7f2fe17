package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * The store must not be opened as it is: another process has it, its schema is not this program's,
 * or it holds what cannot be reconciled with what this start is told to make. An operator has to
 * act; trying again does not help.
 */
public class StoreRefused extends RuntimeException {
  public StoreRefused(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** A refusal that nothing else has caused; its text is a template with arguments. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be one more library.
  public static StoreRefused of(String template, Object... arguments) {
    return new StoreRefused(template.formatted(arguments), null);
  }
}
