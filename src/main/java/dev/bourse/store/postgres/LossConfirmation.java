package dev.bourse.store.postgres;

/**
 * Confirms that a command or its answer is lost: two successive looks find that the server does not
 * work on it, and nothing is received in between. One look is not enough, because a server under
 * load may not have begun to read the command.
 */
final class LossConfirmation {
  private boolean wasIdle;
  private long heardNanos;

  /**
   * Adds a look at the server.
   *
   * @param heardNanos when data was last received over the connection before the look
   * @param isIdle whether the server did not work, and nothing was received during the look
   * @return whether the loss is confirmed
   */
  boolean add(long heardNanos, boolean isIdle) {
    boolean isConfirmed = isIdle && wasIdle && this.heardNanos == heardNanos;
    wasIdle = isIdle;
    this.heardNanos = heardNanos;
    return isConfirmed;
  }
}
