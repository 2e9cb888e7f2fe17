package dev.bourse.market;

import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Tries out bids that no cluster has declared: previews the next tick of a pool with one more
 * cluster of the caller's organization. It writes nothing and needs no cluster.
 */
public final class QuoteService {
  /** The limit of a declaration: more GPUs than any pool has, and no sum of them overflows. */
  private static final int MAX_GPUS = 1_000_000;

  private final Clusters clusters;
  private final Holds holds;
  private final TickPreview.Source market;
  private final LongSupplier now;

  /**
   * @param holds the billing holds of organizations
   * @param market previews the next tick
   * @param now the wall clock, in epoch milliseconds
   */
  public QuoteService(Clusters clusters, Holds holds, TickPreview.Source market, LongSupplier now) {
    this.clusters = clusters;
    this.holds = holds;
    this.market = market;
    this.now = now;
  }

  /**
   * Previews a bid at the next tick and counts the further nodes that the same price would win.
   *
   * <p>Fails with {@code not-found} for a pool that does not exist, {@code bad-request} if the GPUs
   * are not whole nodes, {@code price-precision}, {@code price-above-maximum}, and {@code
   * overloaded} if too many previews run.
   *
   * @param gpus GPUs to bid for
   * @param price the most to pay per GPU-hour, in US dollars
   */
  public Future<BidQuote> readMarketQuote(
      Principal caller, String poolName, long gpus, BigDecimal price) {
    Pool pool =
        clusters.findPool(poolName).orElseThrow(() -> ApiException.notFound("pool", poolName));
    long ceilingCents = ceilingCents(pool, price);
    if (gpus <= 0 || gpus > MAX_GPUS || gpus % pool.gpusPerNode() != 0) {
      throw ApiException.badField(
          "gpus",
          gpus,
          "a multiple of gpus_per_node, which is %s, up to %s"
              .formatted(pool.gpusPerNode(), MAX_GPUS));
    }
    Optional<Quote> last = clusters.findQuote(poolName);
    int most = last.map(Quote::usableNodes).orElse(0);
    long rivalCents =
        last.map(quote -> quote.rivalry().rivalCents(caller.org().orgId())).orElse(0L);
    int nodes = (int) gpus / pool.gpusPerNode();
    return hold(caller.org().orgId())
        .map(hold -> new BidTerms(caller, pool, ceilingCents, hold))
        .compose(
            terms ->
                market
                    .preview(bidding(terms, nodes))
                    .compose(
                        asked ->
                            left(terms, Math.max(nodes, most), asked)
                                .map(
                                    left ->
                                        new BidQuote(
                                            pool,
                                            (int) gpus,
                                            ceilingCents,
                                            asked,
                                            left,
                                            rivalCents))));
  }

  /** The terms of a bid for any number of GPUs. */
  private record BidTerms(Principal caller, Pool pool, long ceilingCents, Optional<Hold> hold) {}

  /**
   * Returns the number of further nodes that the ceiling would win; 0 if the bid does not win all
   * its nodes.
   */
  private Future<Integer> left(BidTerms terms, int most, TickPreview asked) {
    return asked.nodesUnfilled() > 0
        ? Future.succeededFuture(0)
        : market
            .preview(bidding(terms, most))
            .map(all -> Math.max(0, all.nodesWon() - asked.nodesWon()));
  }

  /**
   * Creates a hypothetical cluster. Its empty name replaces no real cluster and ranks last in ties.
   */
  private Cluster bidding(BidTerms terms, int nodes) {
    return Cluster.bidding(
        terms.caller.org().orgId(),
        terms.pool.name(),
        Declaration.of(
            nodes * terms.pool.gpusPerNode(),
            terms.ceilingCents,
            now.getAsLong(),
            terms.caller.actor()),
        terms.hold);
  }

  /**
   * Returns the hold of an organization; it applies to all of its clusters. Without a cluster in
   * memory, such as after the last one was retired, it is read from the store as for a new cluster.
   */
  private Future<Optional<Hold>> hold(String orgId) {
    List<ClusterView> held =
        clusters.ofOrg(orgId).stream().filter(view -> !view.cluster().isRetired()).toList();
    return held.isEmpty()
        ? holds.readHold(orgId).map(reading -> Optional.ofNullable(reading.hold()))
        : Future.succeededFuture(
            held.stream().map(view -> view.cluster().hold()).filter(Objects::nonNull).findFirst());
  }

  private static long ceilingCents(Pool pool, BigDecimal price) {
    if (!Price.isWholeCents(price)) {
      throw ApiException.of(
          ErrorCode.PRICE_PRECISION,
          "price: %s has more than two decimals; expected whole cents",
          Text.shown(price.toPlainString()));
    }
    if (price.compareTo(BigDecimal.valueOf(pool.capCents(), 2)) > 0) {
      throw ApiException.of(
              ErrorCode.PRICE_ABOVE_MAXIMUM,
              "price %s is above the highest accepted, %s",
              Text.shown(price.toPlainString()),
              Price.shown(pool.capCents()))
          .with("maximum", Price.toUsd(pool.capCents()));
    }
    return Price.toCents(price);
  }
}
