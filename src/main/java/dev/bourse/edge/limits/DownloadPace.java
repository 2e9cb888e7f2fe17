package dev.bourse.edge.limits;

/**
 * How slowly a client may take stored bytes: whoever takes fewer than {@code minBytesPerSecond}, on
 * the average, for {@code windowMillis} is cut off. Each download holds a connection and an open
 * file, of which there are only so many for all.
 *
 * <p>Bytes count when the operating system has taken them off the service's hands. It keeps some
 * megabytes for a client that was fast, and tells of more room for them seldom; so what was taken
 * faster than need be counts for later, up to {@value #MOST_AHEAD_BYTES} bytes or the window's.
 *
 * @param minBytesPerSecond 0 for no bound but that on clients who take nothing at all
 * @param windowMillis how long a client may be slower than that
 */
public record DownloadPace(int minBytesPerSecond, long windowMillis) {
  /** What Linux buffers for one connection, at most, by default. */
  private static final int MOST_AHEAD_BYTES = 4 << 20;

  public DownloadPace {
    if (minBytesPerSecond < 0 || windowMillis < 1) {
      throw new IllegalArgumentException("a download's pace is out of range");
    }
  }

  /**
   * 16 KiB/s over 30 s: the slowest line anybody still pulls files over, a modem's two or a phone's
   * at the edge of its cell, does several times that; a file of 50 GiB would take five weeks.
   */
  public static DownloadPace standard() {
    return new DownloadPace(16 * 1024, 30_000);
  }

  /** The time that so many bytes pay for. */
  long millisFor(long bytes) {
    return bytes * 1_000 / minBytesPerSecond;
  }

  /** The longest time that may be paid for ahead. */
  long mostAheadMillis() {
    return Math.max(windowMillis, millisFor(MOST_AHEAD_BYTES));
  }

  boolean isBounded() {
    return minBytesPerSecond > 0;
  }
}
