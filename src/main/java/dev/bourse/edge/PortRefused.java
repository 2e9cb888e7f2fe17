package dev.bourse.edge;

import java.io.IOException;

/** A port cannot be listened on: another program has it, or this one may not. */
public final class PortRefused extends IOException {
  private static final long serialVersionUID = 1;

  PortRefused(String setting, String host, int port, Throwable cause) {
    super(
        "port %s of %s cannot be listened on (%s): %s"
            .formatted(port, host, setting, cause.getMessage()),
        cause);
  }
}
