package dev.bourse.market;

import org.jspecify.annotations.Nullable;

/**
 * A new image that a machine needs before it is granted again, as far as it has come. It is stored
 * with the node, so that whichever process runs the market takes it up where it stands.
 *
 * @param allocationId the allocation after which it is needed
 * @param retry how often operators had retried the node's work when this try began
 * @param untilMillis when this try is given up; −1 if it failed
 * @param hostKey the key that the operator's command answered; null while it has not
 */
record Reimage(String allocationId, long retry, long untilMillis, @Nullable String hostKey) {
  private static final long FAILED = -1;

  /** What comes next. */
  enum Step {
    /** A try begins, which is stored before anything is started. */
    BEGIN,
    /** The operator's command runs, for the first time or once more. */
    IMAGE,
    /** The machine is visited with the new host key. */
    VISIT,
    /** The time is up. */
    GIVE_UP,
    /** This try failed; an operator decides. */
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

  /** This try has failed, and waits for an operator. */
  Reimage failed() {
    return new Reimage(allocationId, retry, FAILED, null);
  }

  Reimage answered(String key) {
    return new Reimage(allocationId, retry, untilMillis, key);
  }

  /** What the operator's command is told, the same for each repetition of this try. */
  String id() {
    return allocationId + "." + retry;
  }
}
