package dev.bourse.client.transfer;

import dev.bourse.remote.RefusedException;
import java.time.Duration;

/** Limits the retries of a transfer without progress, with exponential backoff. */
final class RetryPolicy {
  /** With the waits below a service may be unavailable for two minutes, as in a restart. */
  private static final int MAX_FAILURES = 9;

  private static final long FIRST_MILLIS = 500;
  private static final long LONGEST_MILLIS = 30_000;

  /** Tens of GiB received by several processes are read back before publication. */
  private static final long LONGEST_END_MILLIS = Duration.ofMinutes(15).toMillis();

  /** A longer Retry-After ends the transfer. */
  private static final long LONGEST_ASKED_SECONDS = 120;

  private final CommandEnvironment environment;
  private final Transfer progress;
  private int failures;
  private long bytes;
  private boolean isAtEnd;
  private long waitedMillis;

  RetryPolicy(CommandEnvironment environment, Transfer progress) {
    this.environment = environment;
    this.progress = progress;
    this.bytes = progress.bytes();
  }

  /** Reports that bytes up to here have arrived; progress resets the count of failures. */
  void arrived(long upTo) {
    if (upTo > bytes) {
      bytes = upTo;
      failures = 0;
    }
  }

  /** Reports that all bytes were sent: the service may ask for time to store and inspect them. */
  void allSent() {
    isAtEnd = true;
  }

  /**
   * Waits before the next attempt.
   *
   * @param failure of the last one
   * @throws RefusedException that failure, when a retry cannot help or there were enough
   */
  void after(RefusedException failure) throws RefusedException {
    boolean isAsked =
        isAtEnd && failure.retryAfterSeconds() > 0 && waitedMillis < LONGEST_END_MILLIS;
    failures += isAsked ? 0 : 1;
    if (Thread.currentThread().isInterrupted()
        || !failure.isTransient()
        || failures > MAX_FAILURES
        || failure.retryAfterSeconds() > LONGEST_ASKED_SECONDS) {
      throw failure;
    }
    long backOff = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.max(0, failures - 1));
    // Jitter, so that clients that lost the service together do not retry together.
    long spread = backOff / 2 + environment.random().nextLong(backOff / 2 + 1);
    Duration wait = Duration.ofMillis(Math.max(spread, failure.retryAfterSeconds() * 1_000));
    progress.say(
        "%s; trying again in %d s"
            .formatted(
                failure.getMessage().lines().findFirst().orElse(""),
                Math.max(1, wait.toSeconds())));
    environment.await(wait);
    waitedMillis += wait.toMillis();
    progress.rest();
  }
}
