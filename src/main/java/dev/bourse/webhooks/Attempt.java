package dev.bourse.webhooks;

import org.jspecify.annotations.Nullable;

/**
 * What came of sending an event once.
 *
 * @param status of the answer; null when there was none
 * @param fault what was wrong, with the beginning of the answer; null for nothing
 */
record Attempt(@Nullable Integer status, @Nullable String fault) {
  private static final int GONE = 410;

  boolean isDelivered() {
    return fault == null;
  }

  /** Whether the receiver asks never to be called again. */
  boolean isGone() {
    return status != null && status == GONE;
  }
}
