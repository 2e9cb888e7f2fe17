package dev.bourse.edge;

/**
 * Bounds on what one client can hold.
 *
 * @param maxConnections open connections of one event loop; over it new ones are closed
 * @param headMillis a new connection must have sent its first request's head by then
 * @param keepAliveMillis after an answer, the next request's head must be complete by then
 * @param bodyGraceMillis a body may be slower than {@code minBodyBytesPerSecond} for so long
 * @param minBodyBytesPerSecond mean rate of a body after the grace
 * @param maxBodyBytes longest JSON body
 */
public record EdgeLimits(
    int maxConnections,
    long headMillis,
    long keepAliveMillis,
    long bodyGraceMillis,
    int minBodyBytesPerSecond,
    int maxBodyBytes) {

  /** Longest request line in bytes; the longest legitimate one has some 400. */
  static final int MAX_URI_BYTES = 4_096;

  /** Longest header block in bytes: a token, a trace and a proxy's additions fit many times. */
  static final int MAX_HEADER_BYTES = 8_192;

  public EdgeLimits {
    if (maxConnections < 1
        || headMillis < 1
        || keepAliveMillis < headMillis
        || bodyGraceMillis < 1
        || minBodyBytesPerSecond < 1
        || maxBodyBytes < 1) {
      throw new IllegalArgumentException("a limit is out of range");
    }
  }

  /**
   * 10,000 connections of about 10 KB each; 10 s for a head; 75 s between requests, over the idle
   * time common client pools and proxies keep; bodies at 512 B/s or more after 10 s, and at most 64
   * KiB: the longest legitimate one, a release of 4,000 addresses, fits.
   */
  public static EdgeLimits standard() {
    return new EdgeLimits(10_000, 10_000, 75_000, 10_000, 512, 65_536);
  }
}
