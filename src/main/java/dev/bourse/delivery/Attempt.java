package dev.bourse.delivery;

import org.jspecify.annotations.Nullable;

/**
 * The result of one attempt to send something.
 *
 * @param status of the answer; null if there was none
 * @param fault the error, with the beginning of the answer; null for success
 */
public record Attempt(@Nullable Integer status, @Nullable String fault) {
  private static final int GONE = 410;

  /**
   * The attempt was skipped because too many look-ups are in progress, which is no fault of the
   * receiver.
   */
  static final Attempt SKIPPED =
      new Attempt(null, "too many address look-ups in progress; not sent");

  /** Returns true if the attempt was skipped; skipped attempts do not count as retries. */
  public boolean isSkipped() {
    return equals(SKIPPED);
  }

  public boolean isDelivered() {
    return fault == null;
  }

  /** Returns true if the receiver asks never to be called again. */
  public boolean isGone() {
    return status != null && status == GONE;
  }
}
