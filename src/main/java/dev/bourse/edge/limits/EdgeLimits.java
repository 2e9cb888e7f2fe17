package dev.bourse.edge.limits;

/**
 * Bounds on what one client can hold.
 *
 * @param room what all clients can hold together, and one address of it
 * @param headMillis a new connection must have sent its first request's head by then, and any
 *     connection the rest of a head it has begun
 * @param keepAliveMillis after an answer, the next request's head must have begun by then
 * @param bodyGraceMillis a body may be slower than {@code minBodyBytesPerSecond} for so long
 * @param minBodyBytesPerSecond mean rate of a body after the grace
 * @param maxBodyBytes longest JSON body
 * @param lingerMillis how long a client may go on sending after an early refusal, so that it can
 *     read the refusal
 * @param pace how slowly stored bytes may be taken
 */
public record EdgeLimits(
    ProcessLimits room,
    long headMillis,
    long keepAliveMillis,
    long bodyGraceMillis,
    int minBodyBytesPerSecond,
    int maxBodyBytes,
    long lingerMillis,
    DownloadPace pace) {

  /** Longest request line in bytes; the longest legitimate one has some 400. */
  public static final int MAX_URI_BYTES = 4_096;

  /** Longest header block in bytes: a token, a trace and a proxy's additions fit many times. */
  public static final int MAX_HEADER_BYTES = 8_192;

  public EdgeLimits {
    if (headMillis < 1
        || keepAliveMillis < headMillis
        || bodyGraceMillis < 1
        || minBodyBytesPerSecond < 1
        || maxBodyBytes < 1
        || lingerMillis < 1) {
      throw new IllegalArgumentException("a limit is out of range");
    }
  }

  /**
   * As much room as the process has; 10 s for a head; 75 s between requests, over the idle time
   * common client pools and proxies keep; bodies at 512 B/s or more after 10 s, and at most 64 KiB:
   * the longest legitimate one, a release of 4,000 addresses, fits.
   */
  public static EdgeLimits standard() {
    return in(ProcessLimits.ofProcess());
  }

  /** The same with room of one's own. */
  public static EdgeLimits in(ProcessLimits room) {
    return new EdgeLimits(
        room, 10_000, 75_000, 10_000, 512, 65_536, 2_000, DownloadPace.standard());
  }

  /** The same limits with another pace of downloads. */
  public EdgeLimits withPace(DownloadPace other) {
    return new EdgeLimits(
        room,
        headMillis,
        keepAliveMillis,
        bodyGraceMillis,
        minBodyBytesPerSecond,
        maxBodyBytes,
        lingerMillis,
        other);
  }

  /** The same limits with another time to read a refusal. */
  public EdgeLimits withLinger(long otherMillis) {
    return new EdgeLimits(
        room,
        headMillis,
        keepAliveMillis,
        bodyGraceMillis,
        minBodyBytesPerSecond,
        maxBodyBytes,
        otherMillis,
        pace);
  }
}
