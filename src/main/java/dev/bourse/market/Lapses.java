package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.Lapse;
import dev.bourse.core.Times;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.store.BoundedWork;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the declarations of a pool that have reached their end, before each tick. The holder of the
 * lease does it, so the first tick after a restart or a fail-over ends overdue declarations. After
 * a step of the wall clock, no declaration ends until the new time is confirmed. A cluster that
 * refuses keeps its state until the next tick.
 */
final class Lapses {
  private static final Logger LOG = LoggerFactory.getLogger(Lapses.class);

  private static final long HOUR_MILLIS = 3_600_000;

  private final Vertx vertx;
  private final MarketEnvironment env;
  private final Lease lease;

  Lapses(Vertx vertx, MarketEnvironment env, Lease lease) {
    this.vertx = vertx;
    this.env = env;
    this.lease = lease;
  }

  /** Ends declarations whose end has passed. Fails if the lease is lost. */
  Future<Void> endExpired() {
    OptionalLong now = env.time().undoubtedMillis();
    return vertx.executeBlocking(() -> due(now), false).compose(this::carryOut);
  }

  /**
   * Finds the clusters whose declaration ends. Runs on a worker, because looking at every active
   * cluster of a large pool takes too long for an event loop.
   */
  private Map<String, Command> due(OptionalLong now) {
    Map<String, Command> due = new HashMap<>();
    for (ClusterView view : env.clusters().stirringIn(lease.pool())) {
      if (Lapse.isDue(view.cluster(), now)) {
        due.put(view.cluster().name(), Lapse.due());
      }
    }
    return due;
  }

  /** Ends declarations whose budget is used up. Fails if the lease is lost. */
  Future<Void> endSpent(Budgets budgets) {
    OptionalLong now = env.time().undoubtedMillis();
    if (budgets.spent().isEmpty() || now.isEmpty()) {
      return Future.succeededFuture();
    }
    Pool terms = env.clusters().findPool(lease.pool()).orElseThrow();
    Optional<Quote> quote = env.clusters().findQuote(lease.pool());
    Map<String, Command> due = new HashMap<>();
    budgets
        .spent()
        .forEach(
            (name, spent) ->
                env.clusters()
                    .find(name)
                    .map(ClusterView::cluster)
                    .filter(
                        c ->
                            budgets.isUsedUp(
                                c,
                                terms.gpusPerNode(),
                                quote.map(q -> q.centsOf(c.orgId())).orElse(null)))
                    .ifPresent(c -> due.put(name, endCommand(c, spent, now.getAsLong()))));
    return carryOut(due);
  }

  /**
   * Time held after a budget was reached is not billed, except in hours that have ended, which may
   * be in the ledger already.
   */
  private static Command endCommand(Cluster cluster, Spent spent, long nowMillis) {
    long thisHour = Math.floorDiv(nowMillis, HOUR_MILLIS) * HOUR_MILLIS;
    long end = Math.max(thisHour, spent.reachedAtMillis().orElse(nowMillis));
    LOG.debug("cluster {}: budget used up at {}", cluster.name(), Times.rfc3339(end));
    return Lapse.spent(spent.budget(), end);
  }

  private Future<Void> carryOut(Map<String, Command> due) {
    return BoundedWork.each(
        due.entrySet().iterator(), next -> order(next.getKey(), next.getValue()));
  }

  private Future<Void> order(String name, Command command) {
    return env.owners()
        .order(name, command, List.of(lease.fence()))
        .<Void>mapEmpty()
        .recover(
            e -> {
              if (e instanceof Lease.LeaseLostException) {
                return Future.failedFuture(e);
              }
              LOG.warn(
                  "pool {}: could not end the declaration of cluster {}; the next tick retries: {}",
                  lease.pool(),
                  name,
                  e.toString());
              return Future.succeededFuture();
            });
  }
}
