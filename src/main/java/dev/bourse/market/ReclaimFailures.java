package dev.bourse.market;

import dev.bourse.nodes.NodeFailureException;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts consecutive failures to clean machines. A tenant may still be on a machine that cannot be
 * cleaned, so after some failures it is quarantined, and it does not return to the market before it
 * is clean or an operator releases it. Used on one context.
 */
final class ReclaimFailures {
  /** Failures in a row after which an operator must look at the machine. */
  private static final int MEANING_QUARANTINE = 3;

  private final Inventory nodes;
  private final Clock clock;

  /** Consecutive failures, by allocation, or by node for a machine without a holder. */
  private final Map<String, Integer> inARow = new HashMap<>();

  private boolean stopped;

  ReclaimFailures(Inventory nodes, Clock clock) {
    this.nodes = nodes;
    this.clock = clock;
  }

  /**
   * Records that a machine could not be cleaned.
   *
   * @param work the allocation, or the node of a machine without a holder
   * @param allocationId the allocation to clean the machine of
   */
  Future<Void> recordFailure(String work, String nodeId, String allocationId, Throwable cause) {
    if (stopped || !isMachineFailure(cause)) {
      return Future.succeededFuture();
    }
    boolean isUnfit = cause instanceof NodeFailureException failure && failure.isUnfit();
    int failures = inARow.merge(work, isUnfit ? MEANING_QUARANTINE : 1, Integer::sum);
    Node node = nodes.get(nodeId);
    return node == null || failures < MEANING_QUARANTINE
        ? Future.succeededFuture()
        : nodes.note(node.unclean(allocationId, clock.millis(), cause.getMessage()));
  }

  /** Records that a machine is clean. */
  Future<Void> recordSuccess(String work, String nodeId, String allocationId) {
    inARow.remove(work);
    Node node = nodes.get(nodeId);
    return stopped || node == null
        ? Future.succeededFuture()
        : nodes.note(node.cleaned(allocationId));
  }

  /** Resets the failures. */
  void forget(String work) {
    inARow.remove(work);
  }

  /** Stops recording. */
  void stop() {
    stopped = true;
  }

  /**
   * Returns true if a failure is the machine's own. The failure of a call that never reached the
   * machine, or of the store, is not.
   */
  static boolean isMachineFailure(Throwable cause) {
    return cause instanceof NodeFailureException && !WorkPool.isBusy(cause);
  }
}
