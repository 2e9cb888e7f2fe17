package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import io.vertx.core.Future;
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
}
