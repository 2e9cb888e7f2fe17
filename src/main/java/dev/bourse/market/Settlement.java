package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.Ids;
import dev.bourse.core.Times;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what ticks decide, for as long as one lease is held: each commit is fenced by it. */
final class Settlement {
  private static final Logger LOG = LoggerFactory.getLogger(Settlement.class);

  /** Clusters told of a tick's decisions at once; their commits share fsyncs. */
  private static final int ORDERS_IN_FLIGHT = 256;

  /** As much may two clocks differ that are both right. */
  static final long AHEAD_MILLIS = 60_000;

  private final MarketEnvironment env;
  private final TickRunner tickRunner;
  private final Lease lease;
  private final Fleet machines;
  private @Nullable PricePoint lastPrice;
  private Map<String, Long> lastOrgCents = Map.of();

  /** Answers come on any thread. */
  private volatile boolean isLeaseLost;

  Settlement(MarketEnvironment env, TickRunner tickRunner, Lease lease, Fleet machines) {
    this.env = env;
    this.tickRunner = tickRunner;
    this.lease = lease;
    this.machines = machines;
  }

  /** Reads where the prices stand. */
  Future<Void> start() {
    Future<Map<String, Long>> orgs = env.prices().findOrgCents(lease.pool());
    Future<Optional<PricePoint>> last = env.prices().findLast(lease.pool());
    return Future.all(orgs, last)
        .map(
            read -> {
              lastOrgCents = orgs.result();
              lastPrice = last.result().orElse(null);
              return null;
            });
  }

  /**
   * Stores and shows the prices, then tells every cluster that changes: nobody is granted a node
   * whose price is not stored. Fails when the lease is lost, which {@link Lease.Lost} tells; a
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

  /** No order is given after one that found the lease lost. */
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

  private Future<Void> order(String name, Tick.Decided decided) {
    return env.owners()
        .order(
            name,
            (cluster, now) -> Allotment.settle(cluster, orders(cluster, decided), now),
            fences(decided))
        .<Void>mapEmpty()
        .recover(
            e -> {
              if (e instanceof Lease.Lost) {
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

  /** The lease's, and that no node to be granted was retired since the tick looked. */
  private List<Statement> fences(Tick.Decided decided) {
    List<Statement> fences = new ArrayList<>();
    fences.add(lease.fence());
    decided.grants().forEach(grant -> fences.add(NodeStore.granted(lease.pool(), grant.nodeId())));
    return fences;
  }

  private Allotment.Orders orders(Cluster cluster, Tick.Decided decided) {
    List<String> keyIds = env.keys().keysFor(cluster).stream().map(SshKey::keyId).toList();
    List<Allotment.Orders.Grant> grants = new ArrayList<>();
    for (Clearing.Grant grant : decided.grants()) {
      grants.add(
          new Allotment.Orders.Grant(
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

  /** Whether a change point lies ahead, or this process's clock alone is behind. */
  private boolean isConfirmed(PricePoint ahead) {
    OptionalLong now = env.time().confirmedMillis();
    return now.isPresent() && ahead.atMillis() > now.getAsLong() + AHEAD_MILLIS;
  }

  /** The prices go on from those of before a clock was ahead, whose prices were never in force. */
  private Future<Void> putRight(Clearing clearing, long tickMillis) {
    LOG.warn(
        "pool {}: prices were stored by a clock that was ahead; they go on from {}",
        lease.pool(),
        Times.rfc3339(tickMillis));
    return env.prices()
        .findAt(lease.pool(), tickMillis)
        .map(before -> following(before.orElse(null), clearing, tickMillis))
        .compose(
            point -> env.prices().supersede(point, lease).onSuccess(stored -> lastPrice = point));
  }

  private PricePoint following(@Nullable PricePoint before, Clearing clearing, long atMillis) {
    return before == null
        ? PricePoint.first(lease.pool(), atMillis, clearing)
        : before.next(atMillis, clearing);
  }

  private Future<Void> storePrice(Clearing clearing, long tickMillis) {
    PricePoint last = lastPrice;
    if (last != null && last.atMillis() > tickMillis + AHEAD_MILLIS && isConfirmed(last)) {
      return putRight(clearing, tickMillis);
    }
    long at = last == null ? tickMillis : Math.max(tickMillis, last.atMillis() + 1);
    List<Statement> orgs = orgPrices(clearing.orgCents(), at);
    boolean isSame = last != null && last.isOf(clearing);
    if (isSame && orgs.isEmpty()) {
      return Future.succeededFuture();
    }
    PricePoint point = isSame ? last : following(last, clearing, at);
    return env.prices()
        .store(isSame ? Optional.empty() : Optional.of(point), orgs, lease)
        .onSuccess(
            stored -> {
              lastPrice = point;
              lastOrgCents = clearing.orgCents();
            });
  }

  /** Change points of those whose price is another than before. */
  private List<Statement> orgPrices(Map<String, Long> now, long atMillis) {
    List<Statement> points = new ArrayList<>();
    now.forEach(
        (org, cents) -> {
          if (!cents.equals(lastOrgCents.get(org))) {
            points.add(PriceStore.insert(lease.pool(), org, atMillis, cents));
          }
        });
    for (String org : lastOrgCents.keySet()) {
      if (!now.containsKey(org)) {
        points.add(PriceStore.insert(lease.pool(), org, atMillis, null));
      }
    }
    return points;
  }
}
