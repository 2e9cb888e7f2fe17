package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import io.vertx.core.Future;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** How much organizations may still commit to; the market asks before each tick. */
@FunctionalInterface
public interface Spending {
  /** Nobody has a limit. */
  Spending UNLIMITED = (buyers, instead, nowMillis) -> Future.succeededFuture(Allowance.UNLIMITED);

  /**
   * What organizations may commit to at this moment. A tick for which this cannot be read is not
   * held, for it could grant what nobody may spend.
   *
   * @param buyers organizations that could be granted something; all others that have a limit may
   *     commit to nothing, so that who begins to bid meanwhile waits for the tick after
   * @param instead a cluster as it would be instead of as it stands
   */
  Future<Allowance> readAllowance(Set<String> buyers, Optional<Cluster> instead, long nowMillis);

  /**
   * What declarations have spent of their budgets at this moment, by cluster. A tick for which this
   * cannot be read is not held either.
   *
   * @param budgeted clusters; those whose declaration has no budget are left out
   */
  default Future<Map<String, Spent>> readSpent(Collection<Cluster> budgeted, long nowMillis) {
    return Future.succeededFuture(Map.of());
  }
}
