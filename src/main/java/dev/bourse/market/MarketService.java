package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
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
import dev.bourse.pools.Quote;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The markets of all pools. */
public final class MarketService implements Mirror {
  private static final Logger LOG = LoggerFactory.getLogger(MarketService.class);

  /** How far back past prices reach unless a reader says. */
  public static final double DEFAULT_HISTORY_HOURS = 24;

  /** Each may clear a whole pool, for tens of milliseconds of a core in the largest ones. */
  private static final int MAX_PREVIEWS = 16;

  /** A quarter; more previews of one organization at once would wait for the same cores. */
  private static final int MAX_OWN_PREVIEWS = MAX_PREVIEWS / 4;

  private final Bulkhead previews =
      Bulkhead.of("previews being made", MAX_PREVIEWS).sharing(MAX_OWN_PREVIEWS).sharingFairly();
  private final Vertx vertx;
  private final Clusters clusters;
  private final Map<String, NodeProvider> providers;
  private final MarketEnvironment env;
  private final String processId;
  private final NoticeTurns turns;
  private final MarketSignals signals;
  private final HistoryStore history;
  private final QuoteService quotes;

  // The three below are guarded by this object.
  private final Map<String, Open> open = new HashMap<>();
  private Runnable unsubscribe = () -> {};
  private boolean stopped;

  /** A pool's market, and its deployment. */
  private record Open(MarketVerticle market, Future<String> deployment) {}

  /**
   * @param providers node providers by the name pools call them
   * @param signals where it is shown what ticks and machines come to
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
    this.quotes = new QuoteService(clusters, this::preview, env::now);
    this.processId = env.process();
  }

  /** Opens the market of every pool, and from now on of every pool that is made. */
  public synchronized Future<Void> start() {
    List<Future<Void>> opened = new ArrayList<>();
    unsubscribe =
        clusters.onPool(
            pool ->
                open(pool)
                    .onFailure(
                        e ->
                            LOG.error(
                                "the market of pool {} could not be opened", pool.name(), e)));
    clusters.pools().forEach(pool -> opened.add(open(pool)));
    return Future.all(opened).mapEmpty();
  }

  private synchronized Future<Void> open(Pool pool) {
    Open known = open.get(pool.name());
    if (known != null || stopped) {
      return known == null ? Future.succeededFuture() : known.deployment().mapEmpty();
    }
    NodeProvider provider = providers.get(pool.provider());
    if (provider == null) {
      return Future.failedFuture(
          new IllegalStateException(
              "pool " + pool.name() + " names no node provider: " + pool.provider()));
    }
    if (provider.reimageTimeoutMillis().isPresent()
        && !provider.canReimage()
        && env.hasRootTenants(pool.name())) {
      LOG.warn(
          "pool {}: tenants could become root (tenants: root, or Kubernetes clusters), and"
              + " nodes.ssh.reimage-command is not set: machines that are given back are quarantined",
          pool.name());
    }
    MarketVerticle market =
        new MarketVerticle(pool.name(), provider, processId, env, turns, signals);
    Future<String> deployment = vertx.deployVerticle(market);
    open.put(pool.name(), new Open(market, deployment));
    return deployment.mapEmpty();
  }

  /** The provider of a pool's machines; empty if this process has none of its kind. */
  Optional<NodeProvider> provider(Pool pool) {
    return Optional.ofNullable(providers.get(pool.provider()));
  }

  /** What leases call this process. */
  public String processId() {
    return processId;
  }

  /** Closes all markets and gives their leases back. */
  public synchronized Future<Void> stop() {
    stopped = true;
    unsubscribe.run();
    return Future.join(
            open.values().stream().map(o -> o.deployment().compose(vertx::undeploy)).toList())
        .mapEmpty();
  }

  /** An operator changed nodes of a pool: its market reads them anew before its next tick. */
  public synchronized void nodesChanged(String pool) {
    Open known = open.get(pool);
    if (known != null) {
      known.market().nodesChanged();
    }
  }

  /** How many machines answered when last tried, by pool, for those whose lease is held here. */
  synchronized Map<String, Reachability.Counts> reach() {
    Map<String, Reachability.Counts> reach = new HashMap<>();
    open.forEach((pool, o) -> o.market().reach().ifPresent(r -> reach.put(pool, r)));
    return reach;
  }

  /** How many machines have a health of each state, by pool, likewise. */
  private synchronized Map<String, Map<Health.State, Integer>> health() {
    Map<String, Map<Health.State, Integer>> health = new HashMap<>();
    open.forEach((pool, o) -> o.market().health().ifPresent(h -> health.put(pool, h)));
    return health;
  }

  /** Shows what is known of the markets; once. */
  public void registerMetrics() {
    signals.registerMetrics(
        previews::running, clusters, env::now, this::markets, this::reach, this::health);
  }

  private synchronized Map<String, MarketVerticle> markets() {
    Map<String, MarketVerticle> markets = new HashMap<>();
    open.forEach((pool, o) -> markets.put(pool, o.market()));
    return markets;
  }

  /** Has the markets of pools read their nodes anew; each does that when its turn comes. */
  @Override
  public Future<Refreshed> refresh(List<String> poolNames) {
    poolNames.forEach(this::nodesChanged);
    return Future.succeededFuture(new Refreshed(Set.of(), Set.of()));
  }

  /** Nodes of any pool may have changed: they are read anew, not compared. */
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

  /** A pool and what its market last published, if it has. */
  public record PoolQuote(Pool pool, Optional<Quote> quote) {}

  /** Every pool, by name. */
  public List<PoolQuote> readMarketFeed() {
    return clusters.pools().stream()
        .map(pool -> new PoolQuote(pool, clusters.findQuote(pool.name())))
        .toList();
  }

  /** One pool, with what was bid for in it. Refused with {@code not-found}. */
  public PoolQuote readMarketDepth(String pool) {
    return new PoolQuote(find(pool), clusters.findQuote(pool));
  }

  /** A pool's prices of the last so many hours, in buckets. Refused with {@code not-found}. */
  public Future<PriceHistory> readMarketHistory(String pool, double hours) {
    return history.readPrices(find(pool).name(), HistorySeries.Buckets.of(hours, env.now()));
  }

  /**
   * What the next tick would bring a cluster, were it as given. Refused with {@code overloaded}
   * when as many are being made for all, or for its organization, as are made at once.
   */
  public Future<TickPreview> preview(Cluster changed) {
    return Future.future(
        done ->
            previews.enter(
                changed.orgId(),
                place ->
                    opened(changed.pool())
                        .compose(market -> market.preview(changed))
                        .onComplete(made -> place.close())
                        .onComplete(done)));
  }

  /** What bids would win that nobody has made. */
  public QuoteService quotes() {
    return quotes;
  }

  private synchronized Future<MarketVerticle> opened(String pool) {
    Open known = open.get(pool);
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
