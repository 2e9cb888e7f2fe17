package dev.bourse.billing;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.market.Spending;
import dev.bourse.market.SpendingAllowance;
import dev.bourse.market.Spent;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads for each tick the spending that monthly limits still allow, so that a limit changed through
 * another process applies from the next tick on. Queries are needed only for organizations with a
 * limit that bid for more nodes than they hold.
 */
public final class LimitedSpending implements Spending {
  private final AccountStore accounts;
  private final Balances balances;
  private final BudgetUse budgets;
  private final Clusters clusters;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  public LimitedSpending(Database database, Clusters clusters, long protectionMillis, Clock clock) {
    this.accounts = new AccountStore(database);
    this.balances = new Balances(database, clusters, protectionMillis, clock);
    this.budgets = new BudgetUse(database);
    this.clusters = clusters;
  }

  @Override
  public Future<SpendingAllowance> readAllowance(
      Set<String> buyers, Optional<Cluster> instead, long nowMillis) {
    if (!clusters.switches().spendLimitEnforced()) {
      return Future.succeededFuture(SpendingAllowance.UNLIMITED);
    }
    return accounts
        .listLimited()
        .compose(
            limited ->
                balances
                    .list(limited.stream().filter(buyers::contains).toList())
                    .map(read -> allowance(limited, read, instead, nowMillis)));
  }

  @Override
  public Future<Map<String, Spent>> readSpent(Collection<Cluster> budgeted, long nowMillis) {
    return budgets.read(budgeted, nowMillis);
  }

  private SpendingAllowance allowance(
      List<String> limited, List<Balance> read, Optional<Cluster> instead, long nowMillis) {
    Map<String, Long> remaining = new HashMap<>();
    limited.forEach(orgId -> remaining.put(orgId, 0L));
    for (Balance balance : read) {
      String orgId = balance.account().orgId();
      Long left = balance.remainingMicros(balances.committedMicros(orgId, instead, nowMillis));
      if (left == null) {
        remaining.remove(orgId);
      } else {
        remaining.put(orgId, left);
      }
    }
    return new SpendingAllowance(remaining, balances.windowMillis(nowMillis));
  }
}
