package dev.bourse.market;

import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Forecast;
import dev.bourse.capacity.Quote;
import dev.bourse.capacity.SshKey;
import dev.bourse.capacity.SshKeyService;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.core.Ids;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The market of one pool: takes the pool's lease, then clears once a tick for as long as it holds
 * it. A tick that fails is logged and the next one starts afresh; nothing it left half-done
 * matters, for every tick decides from what is stored.
 */
final class MarketVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(MarketVerticle.class);

  /** Clusters told of a tick's decisions at once; their commits share fsyncs. */
  private static final int ORDERS_IN_FLIGHT = 256;

  /** A lease is renewed, or asked for again, this many times within its length. */
  private static final int RENEWALS_PER_LEASE = 3;

  /** What a market works with; the same for each pool but for the provider. */
  record Setting(
      Clusters clusters,
      ClusterOwners owners,
      SshKeyService keys,
      SshKeyStore keyStore,
      MarketStore store,
      Spending spending,
      MarketConfig config,
      Clock clock,
      RandomGenerator random,
      String processId) {}

  private final String pool;
  private final NodeProvider provider;
  private final Setting setting;
  private MarketStore.@Nullable Lease lease;
  private @Nullable Fleet fleet;
  private MarketStore.@Nullable PricePoint lastPrice;
  private boolean stopped;
  private long nextLookMillis;

  /** Whether operators changed nodes since the inventory was read; set from any thread. */
  private final AtomicBoolean nodesChanged = new AtomicBoolean();

  MarketVerticle(String pool, NodeProvider provider, Setting setting) {
    this.pool = pool;
    this.provider = provider;
    this.setting = setting;
  }

  @Override
  public Future<?> start() {
    seek();
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    MarketStore.Lease held = lease;
    drop();
    return held == null || !setting.store.leasesExpire()
        ? Future.succeededFuture()
        : setting.store.renew(held, 0).otherwiseEmpty();
  }

  /** Tries to get the lease; tries again later when somebody else has it. */
  private void seek() {
    if (stopped) {
      return;
    }
    setting
        .store
        .acquire(pool, setting.processId, now(), setting.config.leaseMillis())
        .onComplete(
            got -> {
              Optional<MarketStore.Lease> won = got.succeeded() ? got.result() : Optional.empty();
              if (got.failed() && !MarketStore.isLost(got.cause())) {
                LOG.warn("pool {}: no lease: {}", pool, got.cause().toString());
              }
              won.ifPresentOrElse(
                  this::hold,
                  () -> {
                    observe();
                    later(this::seek, retryMillis());
                  });
            });
  }

  /**
   * Publishes prices while another process holds the lease: the auction is a pure function of what
   * is stored, so whoever computes it comes to the same result.
   */
  private void observe() {
    long now = now();
    if (now < nextLookMillis) {
      return;
    }
    nextLookMillis = now + setting.config.tickMillis();
    allowance(now)
        .compose(
            allowance ->
                setting
                    .store
                    .listNodes(pool)
                    .compose(
                        nodes ->
                            vertx.executeBlocking(
                                () ->
                                    tick(allowance, now)
                                        .decide(new Tick.Nodes(nodes, Set.of(), Map.of())),
                                false)))
        .onSuccess(outcome -> publish(outcome, now))
        .onFailure(e -> LOG.warn("pool {}: no look at the market: {}", pool, e.toString()));
  }

  /** What the next tick would bring a cluster, were it as given. Called on any thread. */
  Future<Forecast> forecast(Cluster changed) {
    Promise<Forecast> made = Promise.promise();
    // By way of a future: a fault on the way must still be an answer.
    context.runOnContext(
        go -> Future.succeededFuture(changed).compose(this::forecastHere).onComplete(made));
    return made.future();
  }

  private Future<Forecast> forecastHere(Cluster changed) {
    long now = now();
    long tickAt =
        Math.max(now, setting.clusters.findQuote(pool).map(Quote::nextTickAtMillis).orElse(now));
    Fleet machines = fleet;
    Future<Tick.Nodes> nodes =
        machines == null
            // Another process has the lease, and knows more of what its machines are at.
            ? setting
                .store
                .listNodes(pool)
                .map(stored -> new Tick.Nodes(stored, Set.of(), Map.of()))
            : Future.succeededFuture(machines.snapshot(now));
    return Future.all(nodes, allowance(Optional.of(changed), tickAt))
        .compose(
            read -> {
              Tick.Nodes known = read.resultAt(0);
              Tick tick = tick(read.<Allowance>resultAt(1), tickAt).with(changed);
              return vertx.executeBlocking(() -> tick.forecast(changed, tick.decide(known)), false);
            });
  }

  /** Has the nodes read anew before the next tick. */
  void nodesChanged() {
    nodesChanged.set(true);
  }

  /** By the terms as they are now: an operator may have changed them since the last tick. */
  private Tick tick(Allowance allowance, long nowMillis) {
    return new Tick(
        setting.clusters.findPool(pool).orElseThrow(),
        setting.clusters.ofPool(pool),
        setting.config.swapFreshnessMillis(),
        allowance,
        nowMillis);
  }

  private Future<Allowance> allowance(long nowMillis) {
    return allowance(Optional.empty(), nowMillis);
  }

  /**
   * What the pool's buyers may still commit to.
   *
   * @param instead a cluster as it would be instead of as it stands
   */
  private Future<Allowance> allowance(Optional<Cluster> instead, long nowMillis) {
    int gpusPerNode = setting.clusters.findPool(pool).orElseThrow().gpusPerNode();
    Set<String> buyers = new HashSet<>();
    for (ClusterView view : setting.clusters.ofPool(pool)) {
      if (Allowance.buys(view.cluster(), gpusPerNode)) {
        buyers.add(view.cluster().orgId());
      }
    }
    instead.ifPresent(changed -> buyers.add(changed.orgId()));
    return setting.spending.readAllowance(buyers, instead, nowMillis);
  }

  private void hold(MarketStore.Lease won) {
    if (stopped) {
      return;
    }
    lease = won;
    Fleet machines =
        new Fleet(
            vertx,
            setting.clusters,
            setting.owners,
            setting.keyStore,
            setting.store,
            won,
            provider,
            setting.config,
            setting.clock);
    fleet = machines;
    if (setting.store.leasesExpire()) {
      later(() -> renew(won), retryMillis());
    }
    machines
        .start()
        .compose(started -> setting.store.findLastPrice(pool))
        .onSuccess(
            price -> {
              lastPrice = price.orElse(null);
              tick(won, machines);
            })
        .onFailure(e -> lose(won, "start", e));
  }

  private void renew(MarketStore.Lease held) {
    if (held.equals(lease)) {
      setting
          .store
          .renew(held, now() + setting.config.leaseMillis())
          .onSuccess(renewed -> later(() -> renew(held), retryMillis()))
          .onFailure(e -> lose(held, "renewal", e));
    }
  }

  private void lose(MarketStore.Lease held, String during, Throwable cause) {
    if (held.equals(lease)) {
      LOG.warn("pool {}: lease given up at {}: {}", pool, during, cause.toString());
      drop();
      later(this::seek, retryMillis());
    }
  }

  private void drop() {
    if (fleet != null) {
      fleet.stop();
    }
    fleet = null;
    lease = null;
  }

  private void tick(MarketStore.Lease held, Fleet machines) {
    if (stopped || !held.equals(lease)) {
      return;
    }
    long now = now();
    followNodes(machines)
        .compose(read -> allowance(now))
        .compose(
            allowance -> {
              Tick.Nodes nodes = machines.snapshot(now);
              Tick tick = tick(allowance, now);
              return vertx.executeBlocking(() -> tick.decide(nodes), false);
            })
        .compose(outcome -> carryOut(outcome, held, machines, now))
        .onComplete(
            done -> {
              if (done.failed() && MarketStore.isLost(done.cause())) {
                lose(held, "tick", done.cause());
              } else {
                if (done.failed()) {
                  LOG.warn("pool {}: a tick failed", pool, done.cause());
                }
                // A clock set back must not make the next tick late.
                long tickMillis = setting.config.tickMillis();
                later(
                    () -> tick(held, machines),
                    Math.min(tickMillis, Math.max(1, now + tickMillis - now())));
              }
            });
  }

  /** Reads the nodes anew if they changed; a reading that fails or falls short is done again. */
  private Future<Void> followNodes(Fleet machines) {
    if (!nodesChanged.getAndSet(false)) {
      return Future.succeededFuture();
    }
    return machines
        .reread()
        .onSuccess(all -> nodesChanged.compareAndSet(false, !all))
        .onFailure(e -> nodesChanged.set(true))
        .mapEmpty();
  }

  private Future<Void> carryOut(
      Tick.Outcome outcome, MarketStore.Lease held, Fleet machines, long tickMillis) {
    List<Future<Void>> lanes = new ArrayList<>();
    Iterator<Map.Entry<String, Tick.Decided>> orders = outcome.decided().entrySet().iterator();
    for (int lane = 0; lane < ORDERS_IN_FLIGHT && orders.hasNext(); lane++) {
      lanes.add(orderNext(orders, held, machines));
    }
    lanes.add(
        storePrice(outcome.clearing(), held, tickMillis)
            .onSuccess(stored -> publish(outcome, tickMillis)));
    return Future.join(lanes).mapEmpty();
  }

  /** One lane of orders: the next cluster is told when this one has answered. */
  private Future<Void> orderNext(
      Iterator<Map.Entry<String, Tick.Decided>> orders, MarketStore.Lease held, Fleet machines) {
    if (!orders.hasNext()) {
      return Future.succeededFuture();
    }
    Map.Entry<String, Tick.Decided> next = orders.next();
    return order(next.getKey(), next.getValue(), held, machines)
        .compose(done -> orderNext(orders, held, machines));
  }

  private Future<Void> order(
      String name, Tick.Decided decided, MarketStore.Lease held, Fleet machines) {
    return setting
        .owners
        .submit(
            name,
            (cluster, now) -> Allotment.settle(cluster, orders(cluster, decided, machines), now),
            List.of(held.fence()))
        .<Void>mapEmpty()
        .recover(
            e -> {
              if (MarketStore.isLost(e)) {
                return Future.failedFuture(e);
              }
              LOG.warn("pool {}: cluster {} keeps its state: {}", pool, name, e.toString());
              return Future.succeededFuture();
            });
  }

  private Allotment.Orders orders(Cluster cluster, Tick.Decided decided, Fleet machines) {
    List<String> keyIds = setting.keys.keysFor(cluster).stream().map(SshKey::keyId).toList();
    List<Allotment.Orders.Grant> grants = new ArrayList<>();
    for (Clearing.Grant grant : decided.grants()) {
      grants.add(
          new Allotment.Orders.Grant(
              Ids.next("alc", setting.random),
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
        setting.config.swapFreshnessMillis());
  }

  private Future<Void> storePrice(Clearing clearing, MarketStore.Lease held, long tickMillis) {
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
    return setting.store.insert(point, held).onSuccess(stored -> lastPrice = point);
  }

  private void publish(Tick.Outcome outcome, long tickMillis) {
    Clearing clearing = outcome.clearing();
    setting.clusters.put(
        pool,
        new Quote(
            clearing.clearingCents(),
            clearing.admissionCents(),
            outcome.supply().seats(),
            Math.max(0, outcome.supply().free().size() - clearing.grants().size()),
            tickMillis,
            tickMillis + setting.config.tickMillis(),
            outcome.demand(),
            outcome.rivalry()));
  }

  private void later(Runnable what, long delayMillis) {
    if (!stopped) {
      vertx.setTimer(delayMillis, timer -> what.run());
    }
  }

  private long retryMillis() {
    return Math.max(1, setting.config.leaseMillis() / RENEWALS_PER_LEASE);
  }

  private long now() {
    return setting.clock.millis();
  }
}
