package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Lapse;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one pool's market comes to: what is stored and known goes into a {@link Tick}, whose
 * decisions are published or returned as a preview. It carries nothing out, so it needs no lease:
 * the auction is a pure function, and every process that computes it comes to the same result.
 */
final class TickRunner {
  /**
   * How long previews without the lease share what was read: a pool may have 100,000 nodes. The
   * holder's own tick is up to its interval old, ten times as much.
   */
  private static final long SHARED_MILLIS = 1_000;

  private final Vertx vertx;
  private final String pool;
  private final MarketEnvironment env;
  private final NoticeClock noticeClock;

  /** The last read of the nodes, for a second; null behind it. */
  private volatile @Nullable Future<Stored> stored;

  TickRunner(Vertx vertx, String pool, MarketEnvironment env) {
    this.vertx = vertx;
    this.pool = pool;
    this.env = env;
    this.noticeClock = new NoticeClock(env.nanoTime());
  }

  /**
   * What the store has of a pool's nodes.
   *
   * @param swapped as of the same moment
   */
  private record Stored(List<Node> nodes, SwapExclusions swapped) {}

  /**
   * The nodes as the store has them, for who does not hold the lease. Machines that the holder is
   * cleaning though nobody has them, or is still asking what they hold, count as free here: only
   * the holder knows of them, and not for long.
   */
  private Future<Tick.Nodes> storedNodes(long nowMillis) {
    Future<Stored> read = stored;
    if (read == null || read.failed()) {
      Future<Stored> begun = readNodes(nowMillis);
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

  private Future<Stored> readNodes(long nowMillis) {
    Future<List<Node>> nodes = env.nodes().list(pool);
    Future<SwapExclusions> swapped =
        env.nodes()
            .listSwappedAway(pool, nowMillis - SwapExclusions.MILLIS)
            .map(SwapExclusions::new);
    return Future.all(nodes, swapped).map(all -> new Stored(nodes.result(), swapped.result()));
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
                          Supplier<Tick> tick = tick(terms, read.<Allowance>resultAt(0), nowMillis);
                          return vertx.executeBlocking(
                              () -> tick.get().decide(nodes, read.resultAt(1)), false);
                        }))
        .onSuccess(outcome -> publish(outcome, nowMillis))
        .mapEmpty();
  }

  /** What a tick at this moment decides. */
  Future<Tick.Outcome> decide(Allowance allowance, Tick.Nodes nodes, long nowMillis) {
    Pool terms = terms();
    // Nothing is read in between unless it must be: clusters are seen together with the nodes.
    return terms.isPaused()
        ? standing(terms, nowMillis)
            .compose(cents -> decide(terms, cents, allowance, nodes, nowMillis))
        : decide(terms, Optional.empty(), allowance, nodes, nowMillis);
  }

  private Future<Tick.Outcome> decide(
      Pool terms,
      Optional<Long> standingCents,
      Allowance allowance,
      Tick.Nodes nodes,
      long nowMillis) {
    List<ClusterView> views = env.clusters().ofTick(terms);
    return vertx.executeBlocking(
        () -> {
          Set<String> over = noticeClock.over(views, nowMillis);
          Notices notices = new Notices(noticeMillis(terms), a -> over.contains(a.allocationId()));
          Tick tick = tick(terms, views, allowance, notices, nowMillis);
          Tick.Outcome outcome = tick.withEvictors(tick.decide(nodes, standingCents));
          noticeClock.given(outcome.decided().values(), nowMillis);
          return outcome;
        },
        false);
  }

  /**
   * What the next tick would bring a cluster, were it as given.
   *
   * @param held the nodes as the lease's holder knows them; empty when another process holds it
   */
  Future<TickPreview> preview(Cluster changed, Optional<Tick.Nodes> held, long nowMillis) {
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
              Tick.Nodes known = read.resultAt(0);
              Supplier<Tick> standing = tick(terms, read.<Allowance>resultAt(1), tickAt);
              return vertx.executeBlocking(
                  () -> {
                    Tick tick = standing.get().with(changed);
                    return tick.preview(changed, tick.decide(known, read.resultAt(2)));
                  },
                  false);
            });
  }

  /**
   * By the terms as they were just now: an operator may have changed them since the last tick. What
   * clusters are is read at once, together with the nodes; the rest is for a worker to make.
   */
  private Supplier<Tick> tick(Pool terms, Allowance allowance, long nowMillis) {
    List<ClusterView> views = env.clusters().ofTick(terms);
    Notices notices = Notices.at(noticeMillis(terms), nowMillis);
    return () -> tick(terms, views, allowance, notices, nowMillis);
  }

  private Tick tick(
      Pool terms, List<ClusterView> views, Allowance allowance, Notices notices, long nowMillis) {
    return new Tick(
        terms,
        views,
        env.config().swapFreshnessMillis(),
        new Patience(env.config().gangPatienceMillis(), env.time().undoubtedMillis().isEmpty()),
        allowance,
        notices,
        nowMillis);
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

  /** What the pool's buyers may still commit to. */
  Future<Allowance> allowance(long nowMillis) {
    return allowance(Optional.empty(), nowMillis);
  }

  /**
   * What the pool's buyers may still commit to.
   *
   * @param instead a cluster as it would be instead of as it stands
   */
  private Future<Allowance> allowance(Optional<Cluster> instead, long nowMillis) {
    return vertx
        .executeBlocking(() -> buying(instead), false)
        .compose(
            buying -> {
              Future<Allowance> allowance =
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

  /** Whose limits a tick needs: organizations that want more, and clusters with budgets. */
  private record Buying(Set<String> orgs, List<Cluster> budgeted) {}

  /**
   * Looks at every cluster that stirs: on a worker, for a large pool takes a request's patience.
   */
  private Buying buying(Optional<Cluster> instead) {
    int gpusPerNode = terms().gpusPerNode();
    Set<String> orgs = new HashSet<>();
    List<Cluster> budgeted = new ArrayList<>();
    for (ClusterView view : env.clusters().stirringIn(pool)) {
      Cluster seen = view.cluster();
      if (Lapse.budget(seen).isPresent()
          && instead.filter(c -> c.name().equals(seen.name())).isEmpty()) {
        budgeted.add(seen);
      }
      if (Allowance.buys(seen, gpusPerNode)) {
        orgs.add(seen.orgId());
      }
    }
    instead.ifPresent(changed -> orgs.add(changed.orgId()));
    instead.filter(changed -> Lapse.budget(changed).isPresent()).ifPresent(budgeted::add);
    return new Buying(orgs, budgeted);
  }

  /** Shows what a tick at this moment came to. */
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
