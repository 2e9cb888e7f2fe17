package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * Where a cluster stands with its market.
 *
 * @param gate what the last tick read of it that found it with nodes or seats; null before that
 * @param awaitedSlots seats it has won and has no nodes for yet
 * @param gaveUpAtMillis when it last gave a seat up that it had won, or a node that was just
 *     granted; null when that is longer ago than {@link #LAST_MILLIS}, or never was
 */
public record Standing(@Nullable Gate gate, int awaitedSlots, @Nullable Long gaveUpAtMillis) {
  /** Of a cluster that no tick has found with anything. */
  public static final Standing NONE = new Standing(null, 0, null);

  /**
   * For so long an organization that gave something up ranks behind all others for new nodes; a
   * node that is younger than this counts as just granted. Long enough that whoever blocks nodes by
   * taking and leaving them has nothing of it, and short enough for one who made a mistake.
   */
  public static final long LAST_MILLIS = 600_000;

  public Standing {
    if (awaitedSlots < 0) {
      throw new IllegalArgumentException(
          "%d awaited slots: must not be negative".formatted(awaitedSlots));
    }
  }

  /**
   * What a tick read: bids and bills go by it until the next.
   *
   * @param ceilingCents the ceiling per GPU-hour
   * @param pricedAtMillis since when that was declared
   * @param atMillis when the tick read it
   */
  public record Gate(long ceilingCents, long pricedAtMillis, long atMillis) {}

  /** Whether its organization ranks behind all others at this time. */
  public boolean ranksLast(long nowMillis) {
    return gaveUpAtMillis != null
        && gaveUpAtMillis <= nowMillis
        && nowMillis < gaveUpAtMillis + LAST_MILLIS;
  }

  /** Until when it does because of this cluster; null when it does not. */
  public @Nullable Long ranksLastUntilMillis() {
    return gaveUpAtMillis == null ? null : Long.valueOf(gaveUpAtMillis + LAST_MILLIS);
  }

  /** The same after something was given up. */
  Standing gaveUp(long nowMillis) {
    return new Standing(gate, 0, nowMillis);
  }
}
