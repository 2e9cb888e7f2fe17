package dev.bourse.blob;

import org.jspecify.annotations.Nullable;

/**
 * The disk or the service behind the store failed. An upload stays at its last complete block. The
 * same call may succeed later; if it does not, an operator is needed. The message contains file
 * names and must be shown to operators only.
 */
public class StorageFaultException extends RuntimeException {
  public StorageFaultException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
