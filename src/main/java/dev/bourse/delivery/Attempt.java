package dev.bourse.delivery;

import org.jspecify.annotations.Nullable;

/**
 * The result of one attempt to send something.
 *
 * @param status of the answer; null if there was none
 * @param fault the error, with the beginning of the answer; null for success
 * @param isFinal whether no further attempt can succeed
 */
public record Attempt(@Nullable Integer status, @Nullable String fault, boolean isFinal) {
  private static final int GONE = 410;

  /**
   * The attempt was skipped because too many look-ups are in progress, which is no fault of the
   * receiver.
   */
  static final Attempt SKIPPED =
      new Attempt(null, "too many address look-ups in progress; not sent");

  /** The result of an HTTP request; status 410 asks never to be called again. */
  public Attempt(@Nullable Integer status, @Nullable String fault) {
    this(status, fault, status != null && status == GONE);
  }

  /** Returns true if the attempt was skipped; skipped attempts do not count as retries. */
  public boolean isSkipped() {
    return equals(SKIPPED);
  }

  public boolean isDelivered() {
    return fault == null;
  }
}
