package dev.bourse.blob;

import org.jspecify.annotations.Nullable;

/**
 * The disk, or the service behind the store, failed at what it was asked. An upload stays at its
 * last whole block. The same call may succeed later; if it does not, an operator is needed. The
 * message names files and is for operators alone.
 */
public class StorageFault extends RuntimeException {
  public StorageFault(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
