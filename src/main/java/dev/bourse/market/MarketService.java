package dev.bourse.market;

import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Pool;
import dev.bourse.capacity.Quote;
import dev.bourse.capacity.SshKeyService;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.core.Ids;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** The markets of all pools. */
public final class MarketService {
  private final Vertx vertx;
  private final Clusters clusters;
  private final Map<String, NodeProvider> providers;
  private final MarketVerticle.Setting setting;
  private final List<String> deployments = new ArrayList<>();

  /**
   * @param providers node providers by the name pools call them
   */
  public MarketService(
      Vertx vertx,
      Clusters clusters,
      ClusterOwners owners,
      SshKeyService keys,
      SshKeyStore keyStore,
      MarketStore store,
      Map<String, NodeProvider> providers,
      MarketConfig config,
      Clock clock,
      RandomGenerator random) {
    this.vertx = vertx;
    this.clusters = clusters;
    this.providers = Map.copyOf(providers);
    this.setting =
        new MarketVerticle.Setting(
            clusters,
            owners,
            keys,
            keyStore,
            store,
            config,
            clock,
            random,
            Ids.next("process", random));
  }

  /** Opens the market of every pool. */
  public Future<Void> start() {
    List<Future<String>> opened = new ArrayList<>();
    for (Pool pool : clusters.pools()) {
      NodeProvider provider = providers.get(pool.provider());
      if (provider == null) {
        return Future.failedFuture(
            new IllegalStateException(
                "pool " + pool.name() + " names no node provider: " + pool.provider()));
      }
      opened.add(
          vertx
              .deployVerticle(new MarketVerticle(pool, provider, setting))
              .onSuccess(deployments::add));
    }
    return Future.all(opened).mapEmpty();
  }

  /** Closes all markets and gives their leases back. */
  public Future<Void> stop() {
    return Future.join(deployments.stream().map(vertx::undeploy).toList()).mapEmpty();
  }

  /** A pool and what its market last published, if it has. */
  public record PoolQuote(Pool pool, Optional<Quote> quote) {}

  /** Every pool, by name. */
  public List<PoolQuote> readMarketFeed() {
    return clusters.pools().stream()
        .map(pool -> new PoolQuote(pool, clusters.findQuote(pool.name())))
        .toList();
  }
}
