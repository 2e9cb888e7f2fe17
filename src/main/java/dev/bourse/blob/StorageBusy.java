package dev.bourse.blob;

/**
 * The store does not take this call now, though nothing is wrong with it: as much as it allows is
 * open or waiting, the upload is in use by another call, or the store closes. Nothing was done, and
 * the same call may succeed in a second.
 */
public class StorageBusy extends RuntimeException {
  /** Says which bound was met. It is an answer, not a fault, so it carries no stack trace. */
  public StorageBusy(String message) {
    super(message, null, false, false);
  }
}
