package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.core.Ids;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the decisions of ticks, for as long as one lease is held. The lease fences each
 * commit.
 */
final class Settlement {
  private static final Logger LOG = LoggerFactory.getLogger(Settlement.class);

  /** Orders to clusters in flight at once; their commits share fsyncs. */
  private static final int ORDERS_IN_FLIGHT = 256;

  private final MarketEnvironment env;
  private final TickRunner tickRunner;
  private final Lease lease;
  private final Fleet machines;

  /**
   * The time for which the organizations' stored prices are cached. Only this process writes them,
   * but a correction may delete those of a clock that was ahead.
   */
  private static final long ORG_PRICES_NANOS = TimeUnit.MINUTES.toNanos(1);

  private Map<String, Long> orgCents = Map.of();
  private @Nullable Long orgCentsReadNanos;

  /** Set by answers on any thread. */
  private volatile boolean isLeaseLost;

  Settlement(MarketEnvironment env, TickRunner tickRunner, Lease lease, Fleet machines) {
    this.env = env;
    this.tickRunner = tickRunner;
    this.lease = lease;
    this.machines = machines;
  }

  /**
   * Stores and publishes the prices, then changes the clusters, so that no node is granted before
   * its price is stored. Fails with {@link Lease.LeaseLostException} if the lease is lost; a
   * cluster that refuses keeps its state.
   */
  Future<Void> carryOut(Tick.Outcome outcome, long tickMillis) {
    return storePrice(outcome.clearing(), tickMillis)
        .onSuccess(stored -> tickRunner.publish(outcome, tickMillis))
        .compose(
            stored ->
                BoundedWork.each(
                    whileLeaseIsHeld(outcome.decided().entrySet().iterator()),
                    ORDERS_IN_FLIGHT,
                    next -> order(next.getKey(), next.getValue())));
  }

  /** Stops the orders after the first order that found the lease lost. */
  private <T> Iterator<T> whileLeaseIsHeld(Iterator<T> orders) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return !isLeaseLost && orders.hasNext();
      }

      @Override
      public T next() {
        return orders.next();
      }
    };
  }

  private Future<Void> order(String name, Tick.ClusterDecision decided) {
    return env.owners()
        .order(
            name,
            (cluster, now) -> MarketTransitions.settle(cluster, orders(cluster, decided), now),
            fences(decided))
        .<Void>mapEmpty()
        .recover(
            e -> {
              if (e instanceof Lease.LeaseLostException) {
                isLeaseLost = true;
                return Future.failedFuture(e);
              }
              LOG.warn(
                  "pool {}: the decision for cluster {} was not carried out: {}",
                  lease.pool(),
                  name,
                  e.toString());
              return Future.succeededFuture();
            });
  }

  /**
   * Returns the fence of the lease, and the guards that no granted node has left the market since
   * the tick read it.
   */
  private List<Statement> fences(Tick.ClusterDecision decided) {
    List<Statement> fences = new ArrayList<>();
    fences.add(lease.fence());
    decided
        .grants()
        .forEach(
            grant ->
                fences.add(NodeStore.granted(lease.pool(), grant.nodeId(), machines.lineage())));
    return fences;
  }

  private MarketTransitions.Orders orders(Cluster cluster, Tick.ClusterDecision decided) {
    List<String> keyIds = env.keys().keysFor(cluster).stream().map(SshKey::keyId).toList();
    List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
    for (Clearing.Grant grant : decided.grants()) {
      grants.add(
          new MarketTransitions.Orders.Grant(
              Ids.next("alc", env.random()),
              grant.nodeId(),
              machines.publicIp(grant.nodeId()),
              grant.replaces(),
              keyIds,
              decided.minimumSlots(grant)));
    }
    return decided.orders(
        grants,
        env.clusters().findPool(lease.pool()).orElseThrow().gpusPerNode(),
        env.config().swapFreshnessMillis());
  }

  /**
   * Stores the prices unless they are in force already. Change points of a clock that was ahead are
   * not in force, so the new ones may come before them.
   */
  private Future<Void> storePrice(Clearing clearing, long tickMillis) {
    return env.prices()
        .findInForce(lease.pool(), tickMillis)
        .compose(
            last ->
                orgCents(tickMillis)
                    .compose(orgs -> storePrice(clearing, last, orgs, tickMillis))
                    .onSuccess(stored -> orgCents = clearing.orgCents())
                    .onFailure(e -> orgCentsReadNanos = null));
  }

  /** Returns the organizations' stored prices. */
  private Future<Map<String, Long>> orgCents(long nowMillis) {
    long now = env.nanoTime().getAsLong();
    Long read = orgCentsReadNanos;
    if (read != null && now - read < ORG_PRICES_NANOS) {
      return Future.succeededFuture(orgCents);
    }
    return env.prices()
        .findOrgCents(lease.pool(), nowMillis)
        .onSuccess(stored -> orgCentsReadNanos = now);
  }

  private Future<Void> storePrice(
      Clearing clearing, Optional<PricePoint> last, Map<String, Long> orgsBefore, long tickMillis) {
    long at = last.map(point -> Math.max(tickMillis, point.atMillis() + 1)).orElse(tickMillis);
    List<Statement> orgs = orgPrices(orgsBefore, clearing.orgCents(), at);
    boolean isSame = last.filter(point -> point.isOf(clearing)).isPresent();
    if (isSame && orgs.isEmpty()) {
      return Future.succeededFuture();
    }
    PricePoint next =
        last.map(point -> point.next(at, clearing))
            .orElseGet(() -> PricePoint.first(lease.pool(), at, clearing));
    return env.prices().store(last, isSame ? Optional.empty() : Optional.of(next), orgs, lease);
  }

  /** Returns inserts for organizations whose price has changed. */
  private List<Statement> orgPrices(
      Map<String, Long> before, Map<String, Long> now, long atMillis) {
    List<Statement> points = new ArrayList<>();
    now.forEach(
        (org, cents) -> {
          if (!cents.equals(before.get(org))) {
            points.add(PriceStore.insert(lease.pool(), org, atMillis, cents));
          }
        });
    for (String org : before.keySet()) {
      if (!now.containsKey(org)) {
        points.add(PriceStore.insert(lease.pool(), org, atMillis, null));
      }
    }
    return points;
  }
}
