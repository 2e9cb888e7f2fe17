package dev.bourse.market;

import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.SshKey;
import dev.bourse.core.Ids;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what ticks decide, for as long as one lease is held: each commit is fenced by it. */
final class Settlement {
  private static final Logger LOG = LoggerFactory.getLogger(Settlement.class);

  /** Clusters told of a tick's decisions at once; their commits share fsyncs. */
  private static final int ORDERS_IN_FLIGHT = 256;

  private final MarketVerticle.Setting setting;
  private final Outlook outlook;
  private final MarketStore.Lease lease;
  private final Fleet machines;
  private MarketStore.@Nullable PricePoint lastPrice;

  Settlement(
      MarketVerticle.Setting setting, Outlook outlook, MarketStore.Lease lease, Fleet machines) {
    this.setting = setting;
    this.outlook = outlook;
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
    List<Future<Void>> lanes = new ArrayList<>();
    Iterator<Map.Entry<String, Tick.Decided>> orders = outcome.decided().entrySet().iterator();
    for (int lane = 0; lane < ORDERS_IN_FLIGHT && orders.hasNext(); lane++) {
      lanes.add(orderNext(orders));
    }
    lanes.add(
        storePrice(outcome.clearing(), tickMillis)
            .onSuccess(stored -> outlook.publish(outcome, tickMillis)));
    return Future.join(lanes).mapEmpty();
  }

  /** One lane of orders: the next cluster is told when this one has answered. */
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
            List.of(lease.fence()))
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

  private Future<Void> storePrice(Clearing clearing, long tickMillis) {
    MarketStore.PricePoint last = lastPrice;
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
