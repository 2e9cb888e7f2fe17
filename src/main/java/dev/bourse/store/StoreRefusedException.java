package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * The store must not be opened in its present state: another process has it open, its schema does
 * not match this program, or its content contradicts the configuration of this start. An operator
 * has to act; retrying does not help.
 */
public class StoreRefusedException extends RuntimeException {
  public StoreRefusedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** Creates a refusal without a cause; its text is a template with arguments. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would need another library.
  public static StoreRefusedException of(String template, Object... arguments) {
    return new StoreRefusedException(template.formatted(arguments), null);
  }
}
