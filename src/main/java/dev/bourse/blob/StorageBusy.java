package dev.bourse.blob;

/**
 * The store rejected a call because a limit of open or waiting items was reached or because the
 * store is closing; {@link UploadBusy} if a single upload is in use. The call had no effect and may
 * succeed in a second.
 */
public class StorageBusy extends RuntimeException {
  /** Creates the exception without a stack trace because a full store is an expected answer. */
  public StorageBusy(String message) {
    super(message, null, false, false);
  }
}
