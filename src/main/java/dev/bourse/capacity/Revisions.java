package dev.bourse.capacity;

import java.util.random.RandomGenerator;

/**
 * The revisions of clusters, by which a write demands that the state it was decided on is the one
 * stored.
 *
 * <p>On a store of one process a revision counts the changes. On a shared store it also tells apart
 * the states of two pasts: after a fail-over to a standby that lacks the last commits, another
 * process may store a different change of the same number, and a process that holds the lost one
 * must not take the two for the same. There the upper bits count, and the lower 32 are drawn.
 */
final class Revisions {
  private static final int DRAWN_BITS = 32;

  private Revisions() {}

  /** Returns the revision of the state that follows, on a shared store. */
  static long after(long revision, RandomGenerator random) {
    return (((revision >>> DRAWN_BITS) + 1) << DRAWN_BITS)
        | Integer.toUnsignedLong(random.nextInt());
  }
}
