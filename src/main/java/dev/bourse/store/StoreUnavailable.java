package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** The store cannot serve now (queue full, disk full, engine away, closed); nothing was written. */
public final class StoreUnavailable extends RuntimeException {
  public StoreUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
