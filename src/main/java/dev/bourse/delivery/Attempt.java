package dev.bourse.delivery;

import org.jspecify.annotations.Nullable;

/**
 * What came of sending something once.
 *
 * @param status of the answer; null when there was none
 * @param fault what was wrong, with the beginning of the answer; null for nothing
 */
public record Attempt(@Nullable Integer status, @Nullable String fault) {
  private static final int GONE = 410;

  /** As too many hosts are looked up already; it is no fault of the receiver. */
  static final Attempt NOT_MADE =
      new Attempt(null, "too many hosts are being looked up; it was not sent");

  /** Whether it was none, and counts for none: this process has no room for it now. */
  public boolean isNotMade() {
    return equals(NOT_MADE);
  }

  public boolean isDelivered() {
    return fault == null;
  }

  /** Whether the receiver asks never to be called again. */
  public boolean isGone() {
    return status != null && status == GONE;
  }
}
