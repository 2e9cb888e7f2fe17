package dev.bourse.edge;

import java.io.IOException;

/**
 * The service cannot listen on a port: another program uses it, or the process lacks permission.
 */
public final class PortUnavailableException extends IOException {
  private static final long serialVersionUID = 1;

  PortUnavailableException(String setting, String host, int port, Throwable cause) {
    super(
        "port %s of %s cannot be listened on (%s): %s"
            .formatted(port, host, setting, cause.getMessage()),
        cause);
  }
}
