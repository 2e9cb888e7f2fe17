package dev.bourse.store.transfer;

import java.io.IOException;

/** A file that is not a whole, sound export; the message says where and why. */
public final class ExportFault extends IOException {
  private static final long serialVersionUID = 1;

  public ExportFault(String message) {
    super(message);
  }
}
