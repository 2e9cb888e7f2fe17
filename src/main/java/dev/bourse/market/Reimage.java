package dev.bourse.market;

import org.jspecify.annotations.Nullable;

/**
 * The progress of a new image that a machine needs before it is granted again. It is stored with
 * the node, so that any process that runs the market continues from its current step.
 *
 * @param allocationId the allocation after which it is needed
 * @param retry how often operators had retried the node's work when this attempt began
 * @param untilMillis when this attempt is given up, in epoch milliseconds; −1 if it failed
 * @param hostKey the new host key that the operator's command returned; null until then
 */
record Reimage(String allocationId, long retry, long untilMillis, @Nullable String hostKey) {
  private static final long FAILED = -1;

  /** The next step of a reimage. */
  enum Step {
    /** An attempt begins; it is stored before any command starts. */
    BEGIN,
    /** The operator's command runs, possibly again. */
    IMAGE,
    /** The machine is visited with the new host key. */
    VISIT,
    /** The attempt has timed out. */
    GIVE_UP,
    /** The attempt failed; an operator decides. */
    WAIT
  }

  /** Returns the next step of a node's reimage after an allocation. */
  static Step next(Node node, String allocationId, long nowMillis) {
    Reimage reimage = node.reimage();
    if (reimage == null || !reimage.allocationId.equals(allocationId)) {
      return Step.BEGIN;
    }
    if (reimage.hasFailed()) {
      return reimage.retry == node.retries() ? Step.WAIT : Step.BEGIN;
    }
    if (nowMillis >= reimage.untilMillis) {
      return Step.GIVE_UP;
    }
    return reimage.hostKey == null ? Step.IMAGE : Step.VISIT;
  }

  boolean hasFailed() {
    return untilMillis == FAILED;
  }

  /** Returns the failed attempt, which waits for an operator. */
  Reimage failed() {
    return new Reimage(allocationId, retry, FAILED, null);
  }

  Reimage answered(String key) {
    return new Reimage(allocationId, retry, untilMillis, key);
  }

  /**
   * Returns the id for the operator's command, which is the same for each repetition of this
   * attempt.
   */
  String id() {
    return allocationId + "." + retry;
  }
}
