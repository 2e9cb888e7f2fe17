package dev.bourse.store.transfer;

import java.io.IOException;

/** A file that is not a complete, valid export. The message states the place and the fault. */
public final class InvalidExportException extends IOException {
  private static final long serialVersionUID = 1;

  public InvalidExportException(String message) {
    super(message);
  }
}
