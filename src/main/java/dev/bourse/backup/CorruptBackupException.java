package dev.bourse.backup;

import java.io.IOException;

/** A backup is damaged; the message names the first fault. */
public final class CorruptBackupException extends IOException {
  private static final long serialVersionUID = 1;

  CorruptBackupException(String message) {
    super(message);
  }
}
