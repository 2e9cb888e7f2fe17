package dev.bourse.edge.limits;

/**
 * The minimum pace of downloads: a client that takes fewer than {@code minBytesPerSecond}, on
 * average, for {@code windowMillis} is disconnected, because each download holds a connection and
 * an open file of a limited number.
 *
 * <p>Bytes count when the operating system has taken them. It buffers some megabytes for a fast
 * client and reports free space seldom, so a faster pace counts as credit for later, up to {@value
 * #MOST_AHEAD_BYTES} bytes or the window's.
 *
 * @param minBytesPerSecond 0 to disconnect only clients that take no bytes at all
 * @param windowMillis how long a client may be slower
 */
public record DownloadPace(int minBytesPerSecond, long windowMillis) {
  /** The default maximum of Linux's buffer for one connection. */
  private static final int MOST_AHEAD_BYTES = 4 << 20;

  public DownloadPace {
    if (minBytesPerSecond < 0 || windowMillis < 1) {
      throw new IllegalArgumentException("a download's pace is out of range");
    }
  }

  /**
   * Returns the default: 16 KiB/s over 30 s. Even the slowest usable lines, two modems or a phone
   * at the edge of its cell, are several times faster; a file of 50 GiB would take five weeks.
   */
  public static DownloadPace standard() {
    return new DownloadPace(16 * 1024, 30_000);
  }

  /** Returns the time that this many bytes add. */
  long millisFor(long bytes) {
    return bytes * 1_000 / minBytesPerSecond;
  }

  /** Returns the longest time that can be earned ahead. */
  long mostAheadMillis() {
    return Math.max(windowMillis, millisFor(MOST_AHEAD_BYTES));
  }

  boolean isBounded() {
    return minBytesPerSecond > 0;
  }
}
