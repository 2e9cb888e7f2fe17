package dev.bourse.blob;

import org.jspecify.annotations.Nullable;

/**
 * There is no room for more bytes. Stored bytes stay, an upload at its last complete block. The
 * same call succeeds after an operator or a user has made room, by deleting blobs or raising a
 * quota. Clients are asked to retry after minutes, not seconds.
 */
public final class StorageFullException extends RuntimeException {
  public StorageFullException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
