package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * Why declared slots stay open, as the market last judged it.
 *
 * @param bidTooLow the ceiling is under what clears
 * @param capacityUnavailable no price would help; null when the pool has no detector armed
 */
public record Verdict(boolean bidTooLow, @Nullable Boolean capacityUnavailable) {
  /** Before the market has judged anything. */
  public static final Verdict NONE = new Verdict(false, null);
}
