package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
import dev.bourse.events.HistorySeries;
import dev.bourse.events.HistoryStore;
import dev.bourse.events.PriceHistory;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.pools.Pool;
import dev.bourse.signals.Signals;
import dev.bourse.store.Mirror;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the markets of all pools. */
public final class MarketService implements Mirror {
  private static final Logger LOG = LoggerFactory.getLogger(MarketService.class);

  /** The default length of a price history, in hours. */
  public static final double DEFAULT_HISTORY_HOURS = 24;

  /**
   * Previews at once. Each may clear a whole pool, which takes tens of milliseconds of a core in
   * the largest pools.
   */
  private static final int MAX_PREVIEWS = 16;

  /**
   * Previews of one organization at once: a quarter, because more would wait for the same cores.
   */
  private static final int MAX_OWN_PREVIEWS = MAX_PREVIEWS / 4;

  /** Outlooks at once. Each may clear a pool hundreds of times, so few run beside the ticks. */
  private static final int MAX_OUTLOOKS = 2;

  private final Bulkhead previews =
      Bulkhead.of("previews being made", MAX_PREVIEWS).sharing(MAX_OWN_PREVIEWS).sharingFairly();

  private final Bulkhead outlooks =
      Bulkhead.of("outlooks being made", MAX_OUTLOOKS)
          .queueing(MAX_PREVIEWS - MAX_OUTLOOKS)
          .sharing(MAX_OWN_PREVIEWS)
          .sharingFairly();

  private final Vertx vertx;
  private final Clusters clusters;
  private final Map<String, NodeProvider> providers;
  private final MarketEnvironment env;
  private final String processId;
  private final NoticeTurns turns;
  private final MarketSignals signals;
  private final HistoryStore history;
  private final QuoteService quotes;

  // Guarded by this object.
  private final Map<String, OpenMarket> open = new HashMap<>();
  private Runnable unsubscribe = () -> {};
  private boolean stopped;

  /** A pool's market and its deployment. */
  private record OpenMarket(MarketVerticle market, Future<String> deployment) {}

  /**
   * @param providers node providers by the name that pools use
   * @param signals receives the metrics of ticks and machines
   */
  public MarketService(
      Vertx vertx, Map<String, NodeProvider> providers, MarketEnvironment env, Signals signals) {
    this.vertx = vertx;
    this.turns = new NoticeTurns(vertx);
    this.signals = new MarketSignals(signals);
    this.clusters = env.clusters();
    this.history = new HistoryStore(env.database());
    this.providers = Map.copyOf(providers);
    this.env = env;
    this.quotes = new QuoteService(clusters, env.holds(), this::preview, env::now);
    this.processId = env.process();
  }

  /** Opens the market of every pool, including pools that are added later. */
  public synchronized Future<Void> start() {
    List<Future<Void>> opened = new ArrayList<>();
    unsubscribe =
        clusters.onPool(
            pool ->
                open(pool)
                    .onFailure(
                        e -> LOG.error("could not open the market of pool {}", pool.name(), e)));
    clusters.pools().forEach(pool -> opened.add(open(pool)));
    return Future.all(opened).mapEmpty();
  }

  private synchronized Future<Void> open(Pool pool) {
    OpenMarket known = open.get(pool.name());
    if (known != null || stopped) {
      return known == null ? Future.succeededFuture() : known.deployment().mapEmpty();
    }
    NodeProvider provider = providers.get(pool.provider());
    if (provider == null) {
      return Future.failedFuture(
          new IllegalStateException(
              "pool " + pool.name() + " names an unknown node provider: " + pool.provider()));
    }
    if (provider.reimageTimeoutMillis().isPresent()
        && !provider.canReimage()
        && env.hasRootTenants(pool.name())) {
      LOG.warn(
          "pool {}: tenants can become root (tenants: root, or Kubernetes clusters), but"
              + " nodes.ssh.reimage-command is not set; machines are quarantined after each tenant",
          pool.name());
    }
    MarketVerticle market =
        new MarketVerticle(pool.name(), provider, processId, env, turns, signals);
    Future<String> deployment = vertx.deployVerticle(market);
    open.put(pool.name(), new OpenMarket(market, deployment));
    return deployment.mapEmpty();
  }

  /** Returns the provider of a pool's machines; empty if this process has no such provider. */
  Optional<NodeProvider> provider(Pool pool) {
    return Optional.ofNullable(providers.get(pool.provider()));
  }

  /** Returns the name of this process in leases. */
  public String processId() {
    return processId;
  }

  /** Closes all markets and releases their leases. */
  public synchronized Future<Void> stop() {
    stopped = true;
    unsubscribe.run();
    return Future.join(
            open.values().stream().map(o -> o.deployment().compose(vertx::undeploy)).toList())
        .mapEmpty();
  }

  /**
   * Makes a pool's market read its nodes again before its next tick, because an operator changed
   * them.
   */
  public synchronized void nodesChanged(String pool) {
    OpenMarket known = open.get(pool);
    if (known != null) {
      known.market().nodesChanged();
    }
  }

  /**
   * Returns how many machines answered the last probe, by pool, for pools whose lease this process
   * holds.
   */
  synchronized Map<String, Reachability.Counts> reach() {
    Map<String, Reachability.Counts> reach = new HashMap<>();
    open.forEach((pool, o) -> o.market().reach().ifPresent(r -> reach.put(pool, r)));
    return reach;
  }

  /**
   * Returns the number of machines in each health state, by pool, for pools whose lease this
   * process holds.
   */
  private synchronized Map<String, Map<Health.State, Integer>> health() {
    Map<String, Map<Health.State, Integer>> health = new HashMap<>();
    open.forEach((pool, o) -> o.market().health().ifPresent(h -> health.put(pool, h)));
    return health;
  }

  /** Registers the metrics of the markets. Called once. */
  public void registerMetrics() {
    signals.registerMetrics(
        previews::running, clusters, env::now, this::markets, this::reach, this::health);
  }

  private synchronized Map<String, MarketVerticle> markets() {
    Map<String, MarketVerticle> markets = new HashMap<>();
    open.forEach((pool, o) -> markets.put(pool, o.market()));
    return markets;
  }

  /** Makes the markets of pools read their nodes again before their next ticks. */
  @Override
  public Future<Refreshed> refresh(List<String> poolNames) {
    poolNames.forEach(this::nodesChanged);
    return Future.succeededFuture(new Refreshed(Set.of(), Set.of()));
  }

  /**
   * Reads the nodes of all pools again instead of comparing them, because nodes of any pool may
   * have changed.
   */
  @Override
  public Comparison compare() {
    return () -> {
      nodesChanged();
      return Future.succeededFuture(Optional.empty());
    };
  }

  synchronized void nodesChanged() {
    open.values().forEach(o -> o.market().nodesChanged());
  }

  /** Returns every pool with its quote, by name. */
  public List<PoolQuote> readMarketFeed() {
    return clusters.pools().stream().map(this::quoted).toList();
  }

  /** Returns a pool with its quote, which includes the demand. Fails with {@code not-found}. */
  public PoolQuote readMarketDepth(String pool) {
    return quoted(find(pool));
  }

  private PoolQuote quoted(Pool pool) {
    return PoolQuote.of(pool, clusters.findQuote(pool.name()).orElse(null));
  }

  /** Returns a pool's prices of the last hours, in buckets. Fails with {@code not-found}. */
  public Future<PriceHistory> readMarketHistory(String pool, double hours) {
    return history.readPrices(find(pool).name(), HistorySeries.Buckets.of(hours, env.now()));
  }

  /**
   * Previews the next tick for a cluster in a changed state. Fails with {@code overloaded} if too
   * many previews run in total, or for its organization.
   */
  public Future<TickPreview> preview(Cluster changed) {
    return runWithin(previews, changed, market -> market.preview(changed));
  }

  /**
   * Computes a cluster's outlook. Fails with {@code overloaded} if too many wait in total, or for
   * its organization.
   */
  public Future<Outlook> outlook(Cluster cluster) {
    // It may have waited, and the cluster may have been granted nodes meanwhile.
    return runWithin(
        outlooks,
        cluster,
        market ->
            market.outlook(
                clusters.find(cluster.name()).map(ClusterView::cluster).orElse(cluster)));
  }

  private <T> Future<T> runWithin(
      Bulkhead limit, Cluster cluster, Function<MarketVerticle, Future<T>> work) {
    return Future.future(
        done ->
            limit.enter(
                cluster.orgId(),
                place ->
                    opened(cluster.pool())
                        .compose(work)
                        .onComplete(made -> place.close())
                        .onComplete(done)));
  }

  /** Returns the service that tries out bids. */
  public QuoteService quotes() {
    return quotes;
  }

  private synchronized Future<MarketVerticle> opened(String pool) {
    OpenMarket known = open.get(pool);
    return known == null
        ? Future.failedFuture(
            ApiException.retryLater(
                ErrorCode.OVERLOADED, "the market of pool " + pool + " is not open here", 1_000))
        : known.deployment().map(known.market());
  }

  private Pool find(String pool) {
    return clusters.findPool(pool).orElseThrow(() -> ApiException.notFound("pool", pool));
  }
}
