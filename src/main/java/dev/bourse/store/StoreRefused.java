package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * The store must not be opened as it is: another process has it, or its schema is not this
 * program's. An operator has to act; trying again does not help.
 */
public final class StoreRefused extends RuntimeException {
  public StoreRefused(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
