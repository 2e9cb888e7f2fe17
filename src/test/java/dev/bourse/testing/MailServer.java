package dev.bourse.testing;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;

/** Mail servers of tests. */
public final class MailServer {
  /** By default a start is given up after 2 s, which a busy machine may take. */
  private static final long START_MILLIS = 60_000;

  private MailServer() {}

  /**
   * Makes an SMTP server, which is not started yet.
   *
   * @param port 0 for any free one
   */
  public static GreenMail smtp(int port) {
    ServerSetup setup = new ServerSetup(port, "127.0.0.1", ServerSetup.PROTOCOL_SMTP);
    setup.setServerStartupTimeout(START_MILLIS);
    return new GreenMail(setup);
  }
}
