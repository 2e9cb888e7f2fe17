package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * A cluster's standing in its pool's market.
 *
 * @param gate the ceiling read by the last tick that found the cluster with nodes or seats; null
 *     before the first
 * @param awaitedSlots seats that it has won without a node yet
 * @param gaveUpAtMillis when it last gave up a seat or a node granted within {@link #LAST_MILLIS},
 *     or refused to admit a node; null if it never did, or longer ago than that
 */
public record Standing(@Nullable Gate gate, int awaitedSlots, @Nullable Long gaveUpAtMillis) {
  /** The standing of a cluster that has never had nodes or seats. */
  public static final Standing NONE = new Standing(null, 0, null);

  /**
   * How long an organization that gave up a seat or refused a node ranks last for new nodes, and
   * how long a granted node counts as new. Ten minutes make it useless to block nodes by repeated
   * bids and releases, and are short enough after a mistake.
   */
  public static final long LAST_MILLIS = 600_000;

  public Standing {
    if (awaitedSlots < 0) {
      throw new IllegalArgumentException(
          "%d awaited slots: must not be negative".formatted(awaitedSlots));
    }
  }

  /**
   * A ceiling that a tick read. Seats and bills use it until the next tick.
   *
   * @param ceilingCents the ceiling per GPU-hour
   * @param pricedAtMillis when it was declared
   * @param atMillis when the tick read it
   */
  public record Gate(long ceilingCents, long pricedAtMillis, long atMillis) {}

  /** True if its organization ranks last because of this cluster. */
  public boolean ranksLast(long nowMillis) {
    return gaveUpAtMillis != null
        && gaveUpAtMillis <= nowMillis
        && nowMillis < gaveUpAtMillis + LAST_MILLIS;
  }

  /** Returns the end of that rank; null if there is none. */
  public @Nullable Long ranksLastUntilMillis() {
    return gaveUpAtMillis == null ? null : Long.valueOf(gaveUpAtMillis + LAST_MILLIS);
  }

  /** Returns the standing after the cluster gave up a seat or a new node, or refused a node. */
  Standing withGiveUp(long nowMillis) {
    return new Standing(gate, 0, nowMillis);
  }
}
