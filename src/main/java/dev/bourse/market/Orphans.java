package dev.bourse.market;

import dev.bourse.nodes.NodeFailureException;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cleans machines that are marked for an allocation that no cluster has. Each is retried until it
 * is clean or retired; a machine whose allocation the store does not know is quarantined instead,
 * see {@link Reassignment}. Used on one context.
 */
final class Orphans {
  private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);

  private final Inventory nodes;
  private final Reassignment reassignment;
  private final WorkPool workPool;
  private final HoldingsScan holdingsScan;
  private final ReclaimFailures failures;

  /** The number of the current cleaning, by machine. */
  private final Map<String, Long> cleaning = new HashMap<>();

  private long lastTurn;
  private boolean stopped;

  Orphans(
      Inventory nodes,
      Reassignment reassignment,
      WorkPool workPool,
      HoldingsScan holdingsScan,
      ReclaimFailures failures) {
    this.nodes = nodes;
    this.reassignment = reassignment;
    this.workPool = workPool;
    this.holdingsScan = holdingsScan;
    this.failures = failures;
  }

  /** Returns the machines that are being cleaned. */
  Set<String> inWork() {
    return cleaning.keySet();
  }

  /** Cleans a machine of the allocation it is marked for. */
  void clean(String nodeId, String mark) {
    if (stopped || nodes.get(nodeId) == null) {
      return;
    }
    long turn = ++lastTurn;
    cleaning.put(nodeId, turn);
    reassignment
        .clear(nodes.machine(nodeId), mark)
        .recover(
            e ->
                (isTurn(nodeId, turn)
                        ? failures.recordFailure(nodeId, nodeId, mark, e)
                        : Future.<Void>succeededFuture())
                    .compose(noted -> Future.failedFuture(e)))
        .compose(clean -> failures.recordSuccess(nodeId, nodeId, mark))
        .onSuccess(clean -> cleaning.remove(nodeId, turn))
        .onFailure(
            e -> {
              LOG.warn(
                  "could not clean node {} of an allocation that no cluster has: {}",
                  nodeId,
                  e.toString());
              if (isTurn(nodeId, turn)) {
                workPool.schedule(
                    nodeId, WorkPool.LAST_RETRY_MILLIS, () -> cleanAgain(nodeId, mark, e));
              }
            });
  }

  /**
   * Returns true if a cleaning still counts; its machine may have been retired and added again
   * since.
   */
  private boolean isTurn(String nodeId, long turn) {
    Long counting = cleaning.get(nodeId);
    return counting != null && counting == turn;
  }

  /**
   * Cleans a machine again, or asks it again if it now has another mark, because it can never be
   * cleaned of the old one.
   */
  private void cleanAgain(String nodeId, String mark, Throwable failure) {
    boolean isOther = failure instanceof NodeFailureException refused && refused.isHeldByAnother();
    if (isOther && nodes.get(nodeId) != null) {
      holdingsScan.ask(List.of(nodeId));
      cleaning.remove(nodeId);
    } else {
      clean(nodeId, mark);
    }
  }

  /** Forgets a machine that left the pool. */
  void forget(String nodeId) {
    cleaning.remove(nodeId);
    workPool.forget(nodeId);
  }

  /** Stops cleaning. */
  void stop() {
    stopped = true;
  }
}
