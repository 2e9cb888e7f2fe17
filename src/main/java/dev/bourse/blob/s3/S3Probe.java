package dev.bourse.blob.s3;

import java.time.Clock;
import java.util.OptionalLong;

/** Tries an object store as the service does at start, and reads too. Blocks. */
public final class S3Probe {
  private S3Probe() {}

  /**
   * Lists, writes, reads and deletes an object.
   *
   * @return how many milliseconds the store's clock is ahead of ours, to about a second; empty if
   *     the store does not send its time
   * @throws S3UnusableException if the store is not usable; the message states the reason
   */
  public static OptionalLong look(S3Config config, Clock clock) {
    try (S3Calls calls = new S3Calls(config, (operation, outcome, nanos) -> {})) {
      return calls.probe(clock);
    }
  }
}
