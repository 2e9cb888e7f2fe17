package dev.bourse.market;

import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.core.Ids;
import dev.bourse.core.Times;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
  private static final long AHEAD_MILLIS = 60_000;

  private final MarketVerticle.Setting setting;
  private final TickRunner tickRunner;
  private final MarketStore.Lease lease;
  private final Fleet machines;
  private MarketStore.@Nullable PricePoint lastPrice;

  Settlement(
      MarketVerticle.Setting setting,
      TickRunner tickRunner,
      MarketStore.Lease lease,
      Fleet machines) {
    this.setting = setting;
    this.tickRunner = tickRunner;
    this.lease = lease;
    this.machines = machines;
  }

  /** Reads where the prices stand. */
  Future<Void> start() {
    return setting
        .store()
        .findLastPrice(lease.pool())
        .map(
            price -> {
              lastPrice = price.orElse(null);
              return null;
            });
  }

  /**
   * Tells every cluster that changes, and stores and shows the price. Fails when the lease is lost,
   * which {@link MarketStore#isLost} tells; a cluster that refuses keeps its state.
   */
  Future<Void> carryOut(Tick.Outcome outcome, long tickMillis) {
    List<Future<Void>> chains = new ArrayList<>();
    Iterator<Map.Entry<String, Tick.Decided>> orders = outcome.decided().entrySet().iterator();
    for (int chain = 0; chain < ORDERS_IN_FLIGHT && orders.hasNext(); chain++) {
      chains.add(orderNext(orders));
    }
    chains.add(
        storePrice(outcome.clearing(), tickMillis)
            .onSuccess(stored -> tickRunner.publish(outcome, tickMillis)));
    return Future.join(chains).mapEmpty();
  }

  /** One chain of orders: the next cluster is told when this one has answered. */
  private Future<Void> orderNext(Iterator<Map.Entry<String, Tick.Decided>> orders) {
    if (!orders.hasNext()) {
      return Future.succeededFuture();
    }
    Map.Entry<String, Tick.Decided> next = orders.next();
    return order(next.getKey(), next.getValue()).compose(done -> orderNext(orders));
  }

  private Future<Void> order(String name, Tick.Decided decided) {
    return setting
        .owners()
        .submit(
            name,
            (cluster, now) -> Allotment.settle(cluster, orders(cluster, decided), now),
            fences(decided))
        .<Void>mapEmpty()
        .recover(
            e -> {
              if (MarketStore.isLost(e)) {
                return Future.failedFuture(e);
              }
              LOG.warn("pool {}: cluster {} keeps its state: {}", lease.pool(), name, e.toString());
              return Future.succeededFuture();
            });
  }

  /** The lease's, and that no node to be granted was retired since the tick looked. */
  private List<Statement> fences(Tick.Decided decided) {
    List<Statement> fences = new ArrayList<>();
    fences.add(lease.fence());
    decided.grants().forEach(grant -> fences.add(NodeStore.granted(grant.nodeId())));
    return fences;
  }

  private Allotment.Orders orders(Cluster cluster, Tick.Decided decided) {
    List<String> keyIds = setting.keys().keysFor(cluster).stream().map(SshKey::keyId).toList();
    List<Allotment.Orders.Grant> grants = new ArrayList<>();
    for (Clearing.Grant grant : decided.grants()) {
      grants.add(
          new Allotment.Orders.Grant(
              Ids.next("alc", setting.random()),
              grant.nodeId(),
              machines.publicIp(grant.nodeId()),
              grant.replaces(),
              keyIds));
    }
    return new Allotment.Orders(
        decided.seenRevision(),
        grants,
        decided.reclaims(),
        decided.verdict(),
        setting.config().swapFreshnessMillis());
  }

  /** Whether a change point lies ahead, or this process's clock alone is behind. */
  private boolean isConfirmed(MarketStore.PricePoint ahead) {
    OptionalLong now = setting.time().confirmedMillis();
    return now.isPresent() && ahead.atMillis() > now.getAsLong() + AHEAD_MILLIS;
  }

  /** The prices go on from those of before a clock was ahead, whose prices were never in force. */
  private Future<Void> putRight(Clearing clearing, long tickMillis) {
    LOG.warn(
        "pool {}: prices were stored by a clock that was ahead; they go on from {}",
        lease.pool(),
        Times.rfc3339(tickMillis));
    return setting
        .store()
        .findPriceAt(lease.pool(), tickMillis)
        .compose(
            before -> {
              MarketStore.PricePoint point =
                  before
                      .map(
                          b ->
                              b.next(
                                  tickMillis, clearing.clearingCents(), clearing.admissionCents()))
                      .orElseGet(
                          () ->
                              new MarketStore.PricePoint(
                                  tickMillis,
                                  clearing.clearingCents(),
                                  clearing.admissionCents(),
                                  0,
                                  0));
              return setting.store().supersede(point, lease).onSuccess(stored -> lastPrice = point);
            });
  }

  private Future<Void> storePrice(Clearing clearing, long tickMillis) {
    MarketStore.PricePoint last = lastPrice;
    if (last != null && last.atMillis() > tickMillis + AHEAD_MILLIS && isConfirmed(last)) {
      return putRight(clearing, tickMillis);
    }
    if (last != null && Tick.samePrices(last, clearing)) {
      return Future.succeededFuture();
    }
    MarketStore.PricePoint point =
        last == null
            ? new MarketStore.PricePoint(
                tickMillis, clearing.clearingCents(), clearing.admissionCents(), 0, 0)
            : last.next(
                Math.max(tickMillis, last.atMillis() + 1),
                clearing.clearingCents(),
                clearing.admissionCents());
    return setting.store().insert(point, lease).onSuccess(stored -> lastPrice = point);
  }
}
