package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the amounts that organizations may still commit to. The market reads them before each tick.
 */
@FunctionalInterface
public interface Spending {
  /** No organization has a limit. */
  Spending UNLIMITED =
      (buyers, instead, nowMillis) -> Future.succeededFuture(SpendingAllowance.UNLIMITED);

  /**
   * Reads the amounts that organizations may commit to now. A tick for which this fails is not
   * held, because it could grant nodes that the organization cannot pay.
   *
   * @param buyers organizations that could be granted nodes. All others with a limit may commit to
   *     nothing, so an organization that starts to bid during the read waits for the next tick
   * @param instead a cluster in a changed state, which replaces its current one
   */
  Future<SpendingAllowance> readAllowance(
      Set<String> buyers, Optional<Cluster> instead, long nowMillis);

  /**
   * Reads the amounts that declarations have spent of their budgets, by cluster. A tick for which
   * this fails is not held.
   *
   * @param budgeted clusters to read; those whose declaration has no budget are left out of the
   *     result
   */
  default Future<Map<String, Spent>> readSpent(Collection<Cluster> budgeted, long nowMillis) {
    return Future.succeededFuture(Map.of());
  }
}
