package dev.bourse.blob;

/**
 * The store rejected a call because a limit of open or waiting items was reached or because the
 * store is closing; {@link UploadBusyException} if a single upload is in use. The call had no
 * effect and may succeed in a second.
 */
public class StorageBusyException extends RuntimeException {
  /** Creates the exception without a stack trace because a full store is an expected answer. */
  public StorageBusyException(String message) {
    super(message, null, false, false);
  }
}
