package dev.bourse.store.transfer;

import java.io.IOException;

/** A file that is not a complete, valid export. The message states the place and the fault. */
public final class ExportFault extends IOException {
  private static final long serialVersionUID = 1;

  public ExportFault(String message) {
    super(message);
  }
}
