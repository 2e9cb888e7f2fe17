package dev.bourse.core;

import java.util.OptionalLong;

/**
 * The time that irreversible work uses, such as posting an hour of usage or deleting rows past
 * their retention. A wrongly set clock must not trigger such work: confirmed time exists only while
 * independent evidence supports it, and without it callers postpone the work. Safe for use by any
 * thread, at any rate.
 */
public interface ConfirmedTime {

  /** Confirmed time in epoch milliseconds; empty while no evidence supports one. */
  OptionalLong confirmedMillis();

  /**
   * The time unless there is evidence against it: confirmed, or read from a clock that this process
   * has seen make no step but has not watched for long. Serves work that is due at a moment and
   * cannot wait after a start until a clock has proved itself, at the risk that the clock is
   * already wrong.
   */
  default OptionalLong undoubtedMillis() {
    return confirmedMillis();
  }

  /**
   * Whether the time is no earlier than any time ever confirmed. If it is earlier, one of the two
   * was wrong, and the service cannot determine which.
   */
  boolean isNewest();
}
