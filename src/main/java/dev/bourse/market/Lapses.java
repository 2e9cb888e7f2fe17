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
 * Has declarations of a pool lapse that have come to their end, before each tick: whoever holds the
 * lease looks, so that the first tick after a restart or a fail-over does what is overdue. Nothing
 * ends by a clock that has made a step, until that is confirmed. A cluster that refuses keeps its
 * state until the next tick.
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

  /** Ends those whose time has come. Fails when the lease is lost. */
  Future<Void> atEnd() {
    OptionalLong now = env.time().undoubtedMillis();
    return vertx.executeBlocking(() -> due(now), false).compose(this::carryOut);
  }

  /**
   * Looks at every cluster that stirs: on a worker, for a large pool takes a request's patience.
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

  /** Ends those whose budget is used up. Fails when the lease is lost. */
  Future<Void> spent(Budgets budgets) {
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
                    .ifPresent(c -> due.put(name, spent(c, spent, now.getAsLong()))));
    return carryOut(due);
  }

  /**
   * What was held after a budget was reached is not billed; but for hours that are over, which may
   * be in the ledger already.
   */
  private static Command spent(Cluster cluster, Spent spent, long nowMillis) {
    long thisHour = Math.floorDiv(nowMillis, HOUR_MILLIS) * HOUR_MILLIS;
    long end = Math.max(thisHour, spent.reachedAtMillis().orElse(nowMillis));
    LOG.debug("cluster {}: its budget is used up at {}", cluster.name(), Times.rfc3339(end));
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
                  "pool {}: the declaration of cluster {} has come to its end and still stands: {}",
                  lease.pool(),
                  name,
                  e.toString());
              return Future.succeededFuture();
            });
  }
}
