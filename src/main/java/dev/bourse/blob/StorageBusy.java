package dev.bourse.blob;

/**
 * The store does not take this call now, though nothing is wrong with it: as much as it allows is
 * open or waiting, or the store closes; {@link UploadBusy} when one upload is in use. Nothing was
 * done, and the same call may succeed in a second.
 */
public class StorageBusy extends RuntimeException {
  /** Says which bound was met. It is an answer, not a fault, so it carries no stack trace. */
  public StorageBusy(String message) {
    super(message, null, false, false);
  }
}
