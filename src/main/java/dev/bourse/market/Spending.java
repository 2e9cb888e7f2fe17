package dev.bourse.market;

import io.vertx.core.Future;
import java.util.Set;

/** How much organizations may still commit to; the market asks before each tick. */
@FunctionalInterface
public interface Spending {
  /** Nobody has a limit. */
  Spending UNLIMITED = (orgs, nowMillis) -> Future.succeededFuture(Allowance.UNLIMITED);

  /**
   * What these organizations may commit to at this moment. A tick for which this cannot be read is
   * not held, for it could grant what nobody may spend.
   */
  Future<Allowance> readAllowance(Set<String> orgs, long nowMillis);
}
