package dev.bourse.blob;

/** One upload is in use by another call or process; room for more uploads would not change that. */
public final class UploadBusy extends StorageBusy {
  public UploadBusy(String message) {
    super(message);
  }
}
