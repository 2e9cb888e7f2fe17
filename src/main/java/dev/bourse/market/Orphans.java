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
 * Machines that are prepared for an allocation which no cluster has. Each is cleaned, with retries,
 * until it is clean or retired; one whose allocation the store does not know is quarantined
 * instead, see {@link Reassignment}. Used on one context.
 */
final class Orphans {
  private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);

  private final Inventory nodes;
  private final Reassignment reassignment;
  private final WorkPool workPool;
  private final HoldingsScan holdingsScan;
  private final ReclaimFailures failures;

  /** By machine, which cleaning of all it is in. */
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

  /** The machines that are being cleaned. */
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
                        ? failures.failed(nodeId, nodeId, mark, e)
                        : Future.<Void>succeededFuture())
                    .compose(noted -> Future.failedFuture(e)))
        .compose(clean -> failures.ended(nodeId, nodeId, mark))
        .onSuccess(clean -> cleaning.remove(nodeId, turn))
        .onFailure(
            e -> {
              LOG.warn(
                  "node {} is marked for an allocation that no cluster has, and was not cleaned: {}",
                  nodeId,
                  e.toString());
              if (isTurn(nodeId, turn)) {
                workPool.schedule(
                    nodeId, WorkPool.LAST_RETRY_MILLIS, () -> cleanAgain(nodeId, mark, e));
              }
            });
  }

  /** Whether a cleaning still counts: its machine may have been retired since, and added anew. */
  private boolean isTurn(String nodeId, long turn) {
    Long counting = cleaning.get(nodeId);
    return counting != null && counting == turn;
  }

  /** A machine that bears another mark by now is asked anew: of this one it is never cleaned. */
  private void cleanAgain(String nodeId, String mark, Throwable failure) {
    boolean isOther = failure instanceof NodeFailureException refused && refused.isHeldByAnother();
    if (isOther && nodes.get(nodeId) != null) {
      holdingsScan.ask(List.of(nodeId));
      cleaning.remove(nodeId);
    } else {
      clean(nodeId, mark);
    }
  }

  /** There is no such machine any more. */
  void forget(String nodeId) {
    cleaning.remove(nodeId);
    workPool.forget(nodeId);
  }

  /** Starts no more cleaning. */
  void stop() {
    stopped = true;
  }
}
