package dev.bourse.core;

import java.util.OptionalLong;

/**
 * The time by which things are done that cannot be undone, such as posting an hour of usage or
 * deleting what is past its age. A clock that somebody has set wrong must not do them: so this time
 * is there only while something vouches for it, and whoever finds none leaves them for later. Any
 * thread may ask, as often as it likes.
 */
public interface ConfirmedTime {

  /** The time, in epoch milliseconds; empty while nothing vouches for any. */
  OptionalLong confirmedMillis();

  /**
   * The time as far as nothing speaks against it: confirmed, or by a clock that has made no step in
   * sight of this process, though that has not watched it for long. For what is due at a moment and
   * cannot wait until a clock has proved itself after a start, at the risk that it is wrong
   * already.
   */
  default OptionalLong undoubtedMillis() {
    return confirmedMillis();
  }

  /**
   * Whether the time is no earlier than any that was ever confirmed. While it is not, one of the
   * two was wrong and nobody can tell which.
   */
  boolean isNewest();
}
