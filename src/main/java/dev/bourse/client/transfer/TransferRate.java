package dev.bourse.client.transfer;

import java.util.OptionalLong;

/** How fast bytes were transferred lately, and how long the rest will take. */
final class TransferRate {
  /** Seconds after which what was measured counts for a third. */
  private static final double MEMORY_SECONDS = 5;

  private long lastMillis;
  private long lastBytes;
  private double rate;
  private double weight;

  /**
   * @param startBytes what is there already; it took no time
   */
  TransferRate(long startMillis, long startBytes) {
    this.lastMillis = startMillis;
    this.lastBytes = startBytes;
  }

  /** Notes how many bytes have arrived. Fewer than before begin a new measurement. */
  void at(long nowMillis, long bytes) {
    long millis = nowMillis - lastMillis;
    if (bytes < lastBytes) {
      lastMillis = nowMillis;
      lastBytes = bytes;
      return;
    }
    if (millis <= 0) {
      return;
    }
    double keep = Math.exp(-millis / 1_000.0 / MEMORY_SECONDS);
    rate = rate * keep + (bytes - lastBytes) * 1_000.0 / millis * (1 - keep);
    weight = weight * keep + (1 - keep);
    lastMillis = nowMillis;
    lastBytes = bytes;
  }

  /** So many bytes came to be there without having been transferred. */
  void skip(long bytes) {
    lastBytes += bytes;
  }

  /** Bytes a second; 0 before anything was measured. */
  long bytesPerSecond() {
    return weight == 0 ? 0 : Math.round(rate / weight);
  }

  /** Seconds until this total is reached; empty while nothing moves. */
  OptionalLong secondsTo(long total) {
    long speed = bytesPerSecond();
    return speed == 0
        ? OptionalLong.empty()
        : OptionalLong.of((total - lastBytes + speed - 1) / speed);
  }
}
