package dev.bourse.capacity;

import java.util.random.RandomGenerator;

/**
 * The revisions of clusters, on which every write does a compare-and-set.
 *
 * <p>On a store of one process a revision counts the changes. On a shared store it must also
 * distinguish two histories: after a failover to a standby that lacks the last commits, another
 * process may store a different change with the same count, and a process that holds the lost
 * change must not take the two for equal. There the upper bits count, and the lower 32 are random.
 */
final class Revisions {
  private static final int RANDOM_BITS = 32;

  private Revisions() {}

  /** Returns the number of changes up to a revision; it never falls when a store becomes shared. */
  static long changes(long revision) {
    long counted = revision >>> RANDOM_BITS;
    return counted == 0 ? revision : (1L << RANDOM_BITS) + counted;
  }

  /** Returns the next revision on a shared store. */
  static long after(long revision, RandomGenerator random) {
    return (((revision >>> RANDOM_BITS) + 1) << RANDOM_BITS)
        | Integer.toUnsignedLong(random.nextInt());
  }
}
