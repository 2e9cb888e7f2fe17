package dev.bourse.blob;

/** The upload is in use by another call or process. A higher limit of uploads would not help. */
public final class UploadBusyException extends StorageBusyException {
  public UploadBusyException(String message) {
    super(message);
  }
}
