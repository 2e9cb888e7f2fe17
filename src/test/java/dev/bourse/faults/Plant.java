package dev.bourse.faults;

import java.util.Locale;

/** A fault of the run's own, to see that it is found. */
enum Plant {
  NONE,
  /** Clients take down acknowledgements of writes that were never sent. */
  LOST_WRITE,
  /** Clients take down an earlier read in the place of one. */
  OLD_READ,
  /** A crash takes what the process had flushed, as with a disk that lies about it. */
  LOST_FLUSHES;

  static Plant of(String name) {
    return valueOf(name.replace('-', '_').toUpperCase(Locale.ROOT));
  }
}
