package dev.bourse.market;

import dev.bourse.nodes.NodeFailureException;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/**
 * How often in a row machines could not be cleaned. A tenant may still be on one that cannot: after
 * some failures it is quarantined, and never goes back to the market by itself. On one context.
 */
final class ReclaimFailures {
  /** Failures in a row after which an operator must look at the machine. */
  private static final int MEANING_QUARANTINE = 3;

  private final Inventory nodes;
  private final Clock clock;

  /** By allocation, or by node for a machine that nobody has. */
  private final Map<String, Integer> inARow = new HashMap<>();

  private boolean stopped;

  ReclaimFailures(Inventory nodes, Clock clock) {
    this.nodes = nodes;
    this.clock = clock;
  }

  /**
   * A machine could not be cleaned.
   *
   * @param work the allocation, or the node of a machine that nobody has
   * @param allocationId what it was to be cleaned of
   */
  Future<Void> failed(String work, String nodeId, String allocationId, Throwable cause) {
    if (stopped || !speaksAgainstTheMachine(cause)) {
      return Future.succeededFuture();
    }
    boolean isUnfit = cause instanceof NodeFailureException failure && failure.isUnfit();
    int failures = inARow.merge(work, isUnfit ? MEANING_QUARANTINE : 1, Integer::sum);
    Node node = nodes.get(nodeId);
    return node == null || failures < MEANING_QUARANTINE
        ? Future.succeededFuture()
        : nodes.note(node.unclean(allocationId, clock.millis(), cause.getMessage()));
  }

  /** A machine is clean: nobody is on it any more, if somebody was. */
  Future<Void> ended(String work, String nodeId, String allocationId) {
    inARow.remove(work);
    Node node = nodes.get(nodeId);
    return stopped || node == null
        ? Future.succeededFuture()
        : nodes.note(node.cleaned(allocationId));
  }

  /** What failed before does not count any more. */
  void forget(String work) {
    inARow.remove(work);
  }

  /** Notes nothing more of any machine. */
  void stop() {
    stopped = true;
  }

  /** A machine that was not asked, and a store that did not answer, say nothing about a machine. */
  static boolean speaksAgainstTheMachine(Throwable cause) {
    return cause instanceof NodeFailureException && !WorkPool.isBusy(cause);
  }
}
