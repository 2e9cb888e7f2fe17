package dev.bourse.edge.limits;

/**
 * Limits of the resources that one client can hold.
 *
 * @param room the limits of all clients together and of one address
 * @param headMillis the deadline of a new connection's first head, and of the rest of any head that
 *     has started
 * @param keepAliveMillis the time from a response to the start of the next request's head
 * @param bodyGraceMillis how long a body may be slower than {@code minBodyBytesPerSecond}
 * @param minBodyBytesPerSecond the mean rate of a body after the grace
 * @param maxBodyBytes the longest JSON body
 * @param lingerMillis how long a client may continue to send after an early error response, so that
 *     it can read the response
 * @param pace the minimum pace of downloads
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

  /** The longest request line in bytes; the longest legitimate one has some 400. */
  public static final int MAX_URI_BYTES = 4_096;

  /** The longest header block in bytes: many times a token, a trace and a proxy's additions. */
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
   * Returns the defaults: the room of the process; 10 s for a head; 75 s between requests, which is
   * longer than the idle time of common client pools and proxies; bodies at 512 B/s or more after
   * 10 s, and at most 64 KiB, which fits the longest legitimate one, a release of 4,000 addresses.
   */
  public static EdgeLimits standard() {
    return in(ProcessLimits.ofProcess());
  }

  /** Returns the defaults with other room. */
  public static EdgeLimits in(ProcessLimits room) {
    return new EdgeLimits(
        room, 10_000, 75_000, 10_000, 512, 65_536, 2_000, DownloadPace.standard());
  }

  /** Returns the same limits with another pace of downloads. */
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

  /** Returns the same limits with another time to read an error response. */
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
