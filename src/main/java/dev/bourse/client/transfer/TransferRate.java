package dev.bourse.client.transfer;

import java.util.OptionalLong;

/** Estimates the recent transfer rate and the remaining time. */
final class TransferRate {
  /** The time constant: after this many seconds a measurement's weight has dropped to a third. */
  private static final double MEMORY_SECONDS = 5;

  private long lastMillis;
  private long lastBytes;
  private double rate;
  private double weight;

  /**
   * @param startBytes the bytes present already, which took no time
   */
  TransferRate(long startMillis, long startBytes) {
    this.lastMillis = startMillis;
    this.lastBytes = startBytes;
  }

  /** Records the number of bytes that have arrived. A decrease restarts the measurement. */
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

  /** Records bytes that were present without being transferred. */
  void skip(long bytes) {
    lastBytes += bytes;
  }

  /** Bytes a second; 0 before the first measurement. */
  long bytesPerSecond() {
    return weight == 0 ? 0 : Math.round(rate / weight);
  }

  /** Seconds until this total is reached; empty while there is no progress. */
  OptionalLong secondsTo(long total) {
    long speed = bytesPerSecond();
    return speed == 0
        ? OptionalLong.empty()
        : OptionalLong.of((total - lastBytes + speed - 1) / speed);
  }
}
