package dev.bourse.billing;

import dev.bourse.capacity.Clusters;
import dev.bourse.market.Allowance;
import dev.bourse.market.Spending;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What monthly limits leave to spend, read anew for each tick: a limit changed through another
 * process holds from the next tick on. Only buyers with a limit cost anything to read.
 */
public final class LimitedSpending implements Spending {
  private final AccountStore accounts;
  private final Positions positions;
  private final Clusters clusters;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  public LimitedSpending(Database database, Clusters clusters, long protectionMillis, Clock clock) {
    this.accounts = new AccountStore(database);
    this.positions = new Positions(database, clusters, protectionMillis, clock);
    this.clusters = clusters;
  }

  @Override
  public Future<Allowance> readAllowance(Set<String> orgs, long nowMillis) {
    if (!clusters.switches().spendLimitEnforced()) {
      return Future.succeededFuture(Allowance.UNLIMITED);
    }
    return accounts
        .listLimited()
        .map(limited -> limited.stream().filter(orgs::contains).toList())
        .compose(positions::list)
        .map(read -> allowance(read, nowMillis));
  }

  private Allowance allowance(List<Position> read, long nowMillis) {
    Map<String, Long> remaining = new HashMap<>();
    for (Position position : read) {
      String orgId = position.standing().orgId();
      Long left = position.remainingMicros(positions.committedMicros(orgId, nowMillis));
      if (left != null) {
        remaining.put(orgId, left);
      }
    }
    return new Allowance(remaining, positions.windowMillis(nowMillis));
  }
}
