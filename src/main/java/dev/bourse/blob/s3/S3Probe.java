package dev.bourse.blob.s3;

import java.time.Clock;
import java.util.OptionalLong;

/** Tries an object store as a service does that starts on it, and reads too. Blocks. */
public final class S3Probe {
  private S3Probe() {}

  /**
   * Lists, writes, reads and deletes an object.
   *
   * @return how far its clock is before ours in milliseconds, to a second or so; empty when it does
   *     not say
   * @throws S3Unusable that says what is wrong
   */
  public static OptionalLong look(S3Config config, Clock clock) {
    try (S3Calls calls = new S3Calls(config, (operation, outcome, nanos) -> {})) {
      return calls.probe(clock);
    }
  }
}
