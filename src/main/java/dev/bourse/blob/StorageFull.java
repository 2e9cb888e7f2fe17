package dev.bourse.blob;

import org.jspecify.annotations.Nullable;

/**
 * There is no room for more bytes. Whatever was stored stays, an upload at its last whole block,
 * and the same call succeeds once somebody has made room: deleted blobs, raised a quota. Clients
 * are told to come back in minutes, not seconds.
 */
public final class StorageFull extends RuntimeException {
  public StorageFull(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
