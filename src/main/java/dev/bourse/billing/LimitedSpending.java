package dev.bourse.billing;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.market.Allowance;
import dev.bourse.market.Spending;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What monthly limits leave to spend, read anew for each tick: a limit changed through another
 * process holds from the next tick on. Only those with a limit who want more than they hold cost
 * anything to read.
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
  public Future<Allowance> readAllowance(
      Set<String> buyers, Optional<Cluster> instead, long nowMillis) {
    if (!clusters.switches().spendLimitEnforced()) {
      return Future.succeededFuture(Allowance.UNLIMITED);
    }
    return accounts
        .listLimited()
        .compose(
            limited ->
                positions
                    .list(limited.stream().filter(buyers::contains).toList())
                    .map(read -> allowance(limited, read, instead, nowMillis)));
  }

  private Allowance allowance(
      List<String> limited, List<Position> read, Optional<Cluster> instead, long nowMillis) {
    Map<String, Long> remaining = new HashMap<>();
    limited.forEach(orgId -> remaining.put(orgId, 0L));
    for (Position position : read) {
      String orgId = position.standing().orgId();
      Long left = position.remainingMicros(positions.committedMicros(orgId, instead, nowMillis));
      if (left == null) {
        remaining.remove(orgId);
      } else {
        remaining.put(orgId, left);
      }
    }
    return new Allowance(remaining, positions.windowMillis(nowMillis));
  }
}
