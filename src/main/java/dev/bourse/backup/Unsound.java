package dev.bourse.backup;

import java.io.IOException;

/** A backup is not what was written; the message names the first thing that is wrong. */
public final class Unsound extends IOException {
  private static final long serialVersionUID = 1;

  Unsound(String message) {
    super(message);
  }
}
