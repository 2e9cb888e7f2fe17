package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.TickPreview;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Computes the outcome of one pool's market: passes the current state to a {@link Tick} and
 * publishes its decisions or returns them as a preview. It does not carry them out, so it needs no
 * lease: the auction is a pure function, and every process computes the same result.
 */
final class TickRunner {
  /**
   * How long previews without the lease share one read of the nodes, because a pool may have
   * 100,000 nodes. The holder's own quote is up to one tick old, ten times as much.
   */
  private static final long SHARED_MILLIS = 1_000;

  /** Times at which rivals bid again that an outlook looks at: a tick is computed for each. */
  private static final int MOST_RETURNS = 8;

  private final Vertx vertx;
  private final String pool;
  private final MarketEnvironment env;
  private final NoticeClock noticeClock;

  /** The last read of the nodes; null a second after it. */
  private volatile @Nullable Future<PoolSnapshot> stored;

  TickRunner(Vertx vertx, String pool, MarketEnvironment env) {
    this.vertx = vertx;
    this.pool = pool;
    this.env = env;
    this.noticeClock = new NoticeClock(env.nanoTime());
  }

  /**
   * The nodes of a pool in the store.
   *
   * @param swapped the exclusions at the same moment
   */
  private record PoolSnapshot(List<Node> nodes, SwapExclusions swapped) {}

  /**
   * Reads the nodes from the store, which a process without the lease needs. Free machines that the
   * holder is cleaning, or is asking for their allocation, count as free here, because only the
   * holder knows about them. They are busy for a short time.
   */
  private Future<Tick.Nodes> storedNodes(long nowMillis) {
    Future<PoolSnapshot> read = stored;
    if (read == null || read.failed()) {
      Future<PoolSnapshot> begun = readNodes(nowMillis);
      stored = begun;
      vertx.setTimer(
          SHARED_MILLIS,
          over -> {
            if (stored == begun) {
              stored = null;
            }
          });
      read = begun;
    }
    return read.map(
        known -> new Tick.Nodes(known.nodes(), Set.of(), known.swapped().at(nowMillis)));
  }

  private Future<PoolSnapshot> readNodes(long nowMillis) {
    Future<List<Node>> nodes = env.nodes().list(pool);
    Future<SwapExclusions> swapped =
        env.nodes()
            .listSwappedAway(pool, nowMillis - SwapExclusions.MILLIS)
            .map(SwapExclusions::new);
    return Future.all(nodes, swapped)
        .map(all -> new PoolSnapshot(nodes.result(), swapped.result()));
  }

  /** Makes the next tick read the nodes again, because an operator changed them. */
  void forgetNodes() {
    stored = null;
  }

  /** Publishes prices while another process holds the lease. */
  Future<Void> observe(long nowMillis) {
    Pool terms = terms();
    return Future.all(allowance(nowMillis), standing(terms, nowMillis))
        .compose(
            read ->
                storedNodes(nowMillis)
                    .compose(
                        nodes -> {
                          Supplier<Tick> tick =
                              tick(terms, read.<SpendingAllowance>resultAt(0), nowMillis);
                          return vertx.executeBlocking(
                              () -> tick.get().decide(nodes, read.resultAt(1)), false);
                        }))
        .onSuccess(outcome -> publish(outcome, nowMillis))
        .mapEmpty();
  }

  /** Decides a tick at this moment. */
  Future<Tick.Outcome> decide(SpendingAllowance allowance, Tick.Nodes nodes, long nowMillis) {
    Pool terms = terms();
    // A market that is not paused reads nothing here, so that it sees clusters and nodes at the
    // same moment.
    return terms.isPaused()
        ? standing(terms, nowMillis)
            .compose(cents -> decide(terms, cents, allowance, nodes, nowMillis))
        : decide(terms, Optional.empty(), allowance, nodes, nowMillis);
  }

  private Future<Tick.Outcome> decide(
      Pool terms,
      Optional<Long> standingCents,
      SpendingAllowance allowance,
      Tick.Nodes nodes,
      long nowMillis) {
    List<ClusterView> views = env.clusters().ofTick(terms);
    return vertx.executeBlocking(
        () -> {
          Set<String> over = noticeClock.over(views, nowMillis);
          Notices notices = new Notices(noticeMillis(terms), a -> over.contains(a.allocationId()));
          Tick tick = tick(terms, views, allowance, notices, patience(false), nowMillis);
          Tick.Outcome outcome = tick.withEvictors(tick.decide(nodes, standingCents));
          noticeClock.recordGiven(outcome.decided().values(), nowMillis);
          return outcome;
        },
        false);
  }

  /**
   * Previews the next tick for a cluster in a changed state.
   *
   * @param held the nodes that the holder of the lease knows; empty if another process holds it
   */
  Future<TickPreview> preview(Cluster changed, Optional<Tick.Nodes> held, long nowMillis) {
    return tryOut(
        changed, held, nowMillis, trial -> trial.step(changed, trial.tickAtMillis).preview());
  }

  /**
   * Computes a cluster's outlook.
   *
   * @param held the nodes that the holder of the lease knows; empty if another process holds it
   */
  Future<Outlook> outlook(Cluster cluster, Optional<Tick.Nodes> held, long nowMillis) {
    long capCents = env.clusters().poolOf(cluster).capCents();
    return tryOut(
            cluster,
            held,
            nowMillis,
            trial ->
                new OutlookSearch(cluster, trial.times(cluster.name()), capCents, trial::step)
                    .find())
        .compose(
            outlook -> {
              Long cents = outlook.pendingCents();
              // The limits leave less at a higher ceiling, which the trial has not read.
              return cents == null
                  ? Future.succeededFuture(outlook)
                  : preview(cluster.withCeiling(cents, nowMillis), held, nowMillis)
                      .map(
                          wins ->
                              wins.nodesUnfilled() == 0 ? outlook : outlook.withoutPendingPrice());
            });
  }

  /** Reads the state of the pool, then computes with it on a worker. */
  private <T> Future<T> tryOut(
      Cluster changed, Optional<Tick.Nodes> held, long nowMillis, Function<Trial, T> work) {
    long tickAt =
        Math.max(
            nowMillis,
            env.clusters().findQuote(pool).map(Quote::nextTickAtMillis).orElse(nowMillis));
    Future<Tick.Nodes> nodes =
        held.map(Future::succeededFuture).orElseGet(() -> storedNodes(nowMillis));
    Pool terms = terms();
    return Future.all(nodes, allowance(Optional.of(changed), tickAt), standing(terms, nowMillis))
        .compose(
            read -> {
              Trial trial =
                  new Trial(
                      terms,
                      env.clusters().ofTick(terms),
                      read.resultAt(1),
                      read.resultAt(0),
                      read.resultAt(2),
                      tickAt);
              return vertx.executeBlocking(() -> work.apply(trial), false);
            });
  }

  /** The state of a pool, in which ticks are tried out. */
  private final class Trial {
    private final Pool terms;
    private final List<ClusterView> views;
    private final SpendingAllowance allowance;
    private final Tick.Nodes nodes;
    private final Optional<Long> standingCents;
    private final long tickAtMillis;

    /** The last tick that was tried out, with the cluster as it is; a search tries many prices. */
    private @Nullable Tick base;

    private long baseMillis;

    /**
     * @param tickAtMillis when the next tick is due
     */
    Trial(
        Pool terms,
        List<ClusterView> views,
        SpendingAllowance allowance,
        Tick.Nodes nodes,
        Optional<Long> standingCents,
        long tickAtMillis) {
      this.terms = terms;
      this.views = views;
      this.allowance = allowance;
      this.nodes = nodes;
      this.standingCents = standingCents;
      this.tickAtMillis = tickAtMillis;
    }

    OutlookSearch.TickTimes times(String own) {
      TreeSet<Long> returns = new TreeSet<>();
      for (ClusterView view : views) {
        if (view.cluster().name().equals(own)) {
          continue;
        }
        Long ranksLastUntil = view.cluster().standing().ranksLastUntilMillis();
        Long unwoundAt = view.cluster().setbacks().gangUnwoundAtMillis();
        if (ranksLastUntil != null && ranksLastUntil > tickAtMillis) {
          returns.add(ranksLastUntil);
        }
        if (unwoundAt != null && unwoundAt + env.config().gangPatienceMillis() > tickAtMillis) {
          returns.add(unwoundAt + env.config().gangPatienceMillis());
        }
      }
      while (returns.size() > MOST_RETURNS) {
        returns.remove(returns.lower(returns.last()));
      }
      return new OutlookSearch.TickTimes(tickAtMillis, env.config().tickMillis(), returns);
    }

    /**
     * Computes the next tick, or a later one as if nothing happened until then. Nodes that are
     * being prepared stay so, and no minimum is unwound after the next tick.
     */
    OutlookSearch.Step step(Cluster changed, long atMillis) {
      Tick known = base;
      if (known == null || baseMillis != atMillis) {
        known =
            tick(
                terms,
                views,
                allowance,
                Notices.at(noticeMillis(terms), atMillis),
                patience(atMillis > tickAtMillis),
                atMillis);
        base = known;
        baseMillis = atMillis;
      }
      Tick tick = known.with(changed);
      return tick.step(changed, tick.decide(nodes, standingCents));
    }
  }

  /**
   * Returns a supplier of the tick by the current terms, which an operator may have changed since
   * the last tick. The clusters are read now, together with the nodes; a worker builds the tick.
   */
  private Supplier<Tick> tick(Pool terms, SpendingAllowance allowance, long nowMillis) {
    List<ClusterView> views = env.clusters().ofTick(terms);
    Notices notices = Notices.at(noticeMillis(terms), nowMillis);
    return () -> tick(terms, views, allowance, notices, patience(false), nowMillis);
  }

  private Tick tick(
      Pool terms,
      List<ClusterView> views,
      SpendingAllowance allowance,
      Notices notices,
      Patience patience,
      long nowMillis) {
    return new Tick(
        terms, views, env.config().swapFreshnessMillis(), patience, allowance, notices, nowMillis);
  }

  /**
   * @param isUnlimited for a tick after the next, by which nodes are assumed to be ready
   */
  private Patience patience(boolean isUnlimited) {
    return new Patience(
        env.config().gangPatienceMillis(), isUnlimited || env.time().undoubtedMillis().isEmpty());
  }

  /**
   * Returns the clearing price of a paused market, the stored price in force, so that all processes
   * use the same price, also after a fail-over.
   */
  private Future<Optional<Long>> standing(Pool terms, long nowMillis) {
    return terms.isPaused()
        ? env.prices().findInForce(pool, nowMillis).map(last -> last.map(PricePoint::clearingCents))
        : Future.succeededFuture(Optional.empty());
  }

  private Pool terms() {
    return env.clusters().findPool(pool).orElseThrow();
  }

  private long noticeMillis(Pool terms) {
    return Notices.millis(terms.noticeMillis(), env.config().noticeMillis());
  }

  /** Reads the amounts that the pool's buyers may still commit to. */
  Future<SpendingAllowance> allowance(long nowMillis) {
    return allowance(Optional.empty(), nowMillis);
  }

  /**
   * Reads the amounts that the pool's buyers may still commit to.
   *
   * @param instead a cluster in a changed state, which replaces its current one
   */
  private Future<SpendingAllowance> allowance(Optional<Cluster> instead, long nowMillis) {
    return vertx
        .executeBlocking(() -> buying(instead), false)
        .compose(
            buying -> {
              Future<SpendingAllowance> allowance =
                  env.spending().readAllowance(buying.orgs(), instead, nowMillis);
              if (buying.budgeted().isEmpty()) {
                return allowance;
              }
              return allowance.compose(
                  read ->
                      env.spending()
                          .readSpent(buying.budgeted(), nowMillis)
                          .map(spent -> read.with(new Budgets(spent, env.config().tickMillis()))));
            });
  }

  /**
   * The limits that a tick needs: organizations that want more nodes, and clusters with budgets.
   */
  private record LimitedBuyers(Set<String> orgs, List<Cluster> budgeted) {}

  /**
   * Finds the organizations and clusters with limits. Runs on a worker, because looking at every
   * active cluster of a large pool takes too long for an event loop.
   */
  private LimitedBuyers buying(Optional<Cluster> instead) {
    int gpusPerNode = terms().gpusPerNode();
    Set<String> orgs = new HashSet<>();
    List<Cluster> budgeted = new ArrayList<>();
    for (ClusterView view : env.clusters().stirringIn(pool)) {
      Cluster seen = view.cluster();
      if (Lapse.budget(seen).isPresent()
          && instead.filter(c -> c.name().equals(seen.name())).isEmpty()) {
        budgeted.add(seen);
      }
      if (SpendingAllowance.buys(seen, gpusPerNode)) {
        orgs.add(seen.orgId());
      }
    }
    instead.ifPresent(changed -> orgs.add(changed.orgId()));
    instead.filter(changed -> Lapse.budget(changed).isPresent()).ifPresent(budgeted::add);
    return new LimitedBuyers(orgs, budgeted);
  }

  /** Publishes the outcome of a tick at this moment. */
  void publish(Tick.Outcome outcome, long tickMillis) {
    Clearing clearing = outcome.clearing();
    env.clusters()
        .put(
            pool,
            new Quote(
                clearing.clearingCents(),
                clearing.orgCents(),
                clearing.admissionCents(),
                outcome.supply().seats(),
                Math.max(0, outcome.supply().free().size() - clearing.grants().size()),
                tickMillis,
                tickMillis + env.config().tickMillis(),
                outcome.demand(),
                outcome.rivalry()));
  }
}
