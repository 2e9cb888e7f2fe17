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

  public boolean isDelivered() {
    return fault == null;
  }

  /** Whether the receiver asks never to be called again. */
  public boolean isGone() {
    return status != null && status == GONE;
  }
}
