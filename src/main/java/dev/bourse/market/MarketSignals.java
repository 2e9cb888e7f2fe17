package dev.bourse.market;

import dev.bourse.capacity.Clusters;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import io.vertx.core.AsyncResult;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Metrics of the markets of all pools and of the work on their machines. */
final class MarketSignals {
  /** Buckets in seconds, from a small pool in memory to a store that hangs. */
  private static final double[] TICKS = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};

  /** Buckets in seconds, from a simulated machine to one that is reinstalled. */
  private static final double[] WORK = {1, 5, 15, 60, 300, 1_200, 3_600};

  private final Signals signals;
  private final Signals.Times ticks;
  private final Signals.Times late;
  private final Signals.Tally failedTicks;
  private final Signals.Times work;

  MarketSignals(Signals signals) {
    this.signals = signals;
    ticks =
        signals.times(
            "bourse_market_tick_seconds",
            "Time of a tick, from its start until its decisions are stored.",
            List.of(Label.POOL),
            TICKS);
    late =
        signals.times(
            "bourse_market_tick_late_seconds",
            "How much later a tick started than the previous tick announced.",
            List.of(Label.POOL),
            TICKS);
    failedTicks =
        signals.tally(
            "bourse_market_tick_failures_total",
            "Ticks that failed; the next tick decides again.",
            List.of(Label.POOL));
    work =
        signals.times(
            "bourse_node_work_seconds",
            """
            Time of work on a machine, `provision`, `reclaim` or `reimage`, by outcome: `done`; \
            the machine failed for now (`passing`), failed until an operator changes something \
            (`lasting`) or is marked for another allocation (`held-by-another`); `busy` if the \
            machine was not asked; `other` if the store or the service failed.\
            """,
            List.of(Label.POOL, Label.KIND, Label.OUTCOME),
            WORK);
  }

  void recordTick(String pool, long nanos, long lateNanos, AsyncResult<Void> done) {
    ticks.took(nanos, pool);
    late.took(lateNanos, pool);
    if (done.failed()) {
      failedTicks.add(pool);
    }
  }

  void recordWork(String pool, String kind, long nanos, AsyncResult<?> done) {
    work.took(nanos, pool, kind, done.succeeded() ? "done" : outcome(done.cause()));
  }

  private static String outcome(Throwable cause) {
    return cause instanceof NodeFailureException failure ? failure.kind() : "other";
  }

  /**
   * Registers the metrics of the markets.
   *
   * @param previews returns the number of previews in progress
   * @param now the wall clock, in epoch milliseconds
   * @param open the markets that this process has open, whether or not it runs them
   * @param reach how many machines answered the last probe, by pool
   * @param health the number of machines in each health state, by pool
   */
  void registerMetrics(
      DoubleSupplier previews,
      Clusters clusters,
      LongSupplier now,
      Supplier<Map<String, MarketVerticle>> open,
      Supplier<Map<String, Reachability.Counts>> reach,
      Supplier<Map<String, Map<Health.State, Integer>>> health) {
    signals.gauge("bourse_previews_running", "Previews in progress.", previews);
    registerQuotes(clusters, now);
    registerPauses(clusters);
    signals.gauges(
        "bourse_market_lease_held",
        "1 while this process runs the pool's market, 0 while it waits for the lease.",
        List.of(Label.POOL),
        readings ->
            open.get()
                .forEach((pool, market) -> readings.put(market.epoch().isPresent() ? 1 : 0, pool)));
    signals.gauges(
        "bourse_market_lease_epoch",
        "How often the pool's market has changed hands, from the process that runs it.",
        List.of(Label.POOL),
        readings ->
            open.get()
                .forEach(
                    (pool, market) ->
                        market.epoch().ifPresent(epoch -> readings.put(epoch, pool))));
    signals.gauges(
        "bourse_nodes",
        "Nodes of the pools whose market this process runs, by whether they answer.",
        List.of(Label.POOL, Label.REACHABILITY),
        readings ->
            reach
                .get()
                .forEach(
                    (pool, counts) -> {
                      readings.put(counts.reachable(), pool, "reachable");
                      readings.put(counts.unreachable(), pool, "unreachable");
                      readings.put(counts.unknown(), pool, "unknown");
                    }));
    signals.gauges(
        "bourse_node_health",
        """
        Nodes of the pools whose market this process runs, by the result of their last hardware \
        check: `ok`, `degraded`, `failed`, or `unknown` without one.\
        """,
        List.of(Label.POOL, Label.STATE),
        readings ->
            health
                .get()
                .forEach(
                    (pool, counts) ->
                        counts.forEach(
                            (state, count) ->
                                readings.put(count, pool, state.name().toLowerCase(Locale.ROOT)))));
    signals.gauges(
        "bourse_pool_nodes",
        """
        Nodes of the pools whose market this process runs, as its last tick saw them: `usable`, \
        held ones too; kept out of the market by an operator (`cordoned`), after repeated \
        failures to prepare or clean them (`quarantined`), for some minutes after one failure \
        (`resting`), or because they do not answer (`unreachable`).\
        """,
        List.of(Label.POOL, Label.STATE),
        readings ->
            open.get()
                .forEach(
                    (pool, market) ->
                        market
                            .nodesSeen()
                            .ifPresent(
                                nodes ->
                                    states(nodes, now.getAsLong())
                                        .forEach(
                                            (state, count) -> readings.put(count, pool, state)))));
  }

  private void registerPauses(Clusters clusters) {
    signals.gauges(
        "bourse_market_paused",
        "1 while an operator has paused the pool's market, otherwise 0.",
        List.of(Label.POOL),
        readings ->
            clusters.pools().forEach(pool -> readings.put(pool.isPaused() ? 1 : 0, pool.name())));
  }

  private void registerQuotes(Clusters clusters, LongSupplier now) {
    registerQuote(
        clusters,
        "bourse_market_clearing_price_dollars",
        "What holders pay for a GPU-hour; absent while no node is held.",
        (pool, quote) -> dollars(quote.clearingCents()));
    registerQuote(
        clusters,
        "bourse_market_admission_price_dollars",
        "Lowest price of a GPU-hour that wins a node at the next tick; absent if no price does.",
        (pool, quote) -> dollars(quote.admissionCents()));
    registerQuote(
        clusters,
        "bourse_market_supply_nodes",
        "Nodes that bids compete for.",
        (pool, quote) -> (double) quote.usableNodes());
    registerQuote(
        clusters,
        "bourse_market_free_nodes",
        "Nodes that could be granted at once.",
        (pool, quote) -> (double) quote.freeNodes());
    registerQuote(
        clusters,
        "bourse_market_demand_nodes",
        "Nodes that clusters bid for, held ones too.",
        (pool, quote) -> (double) quote.demand().nodes());
    registerQuote(
        clusters,
        "bourse_market_quote_age_seconds",
        """
        Age of the tick whose prices this process shows. A process that does not run the market \
        reads them with the lease's renewals, and computes its own until then.\
        """,
        (pool, quote) -> (now.getAsLong() - quote.tickAtMillis()) / 1e3);
  }

  private void registerQuote(
      Clusters clusters, String name, String meaning, BiFunction<Pool, Quote, Double> number) {
    signals.gauges(
        name,
        meaning,
        List.of(Label.POOL),
        readings ->
            clusters
                .pools()
                .forEach(
                    pool ->
                        clusters
                            .findQuote(pool.name())
                            .map(quote -> number.apply(pool, quote))
                            .filter(value -> !value.isNaN())
                            .ifPresent(value -> readings.put(value, pool.name()))));
  }

  private static Double dollars(@Nullable Long cents) {
    return cents == null ? Double.NaN : cents / 1e2;
  }

  private static Map<String, Integer> states(Iterable<Node> nodes, long now) {
    Map<String, Integer> states = new HashMap<>();
    List.of("usable", "cordoned", "quarantined", "unreachable", "resting")
        .forEach(state -> states.put(state, 0));
    nodes.forEach(node -> states.merge(state(node, now), 1, Integer::sum));
    return states;
  }

  private static String state(Node node, long now) {
    if (node.cordoned()) {
      return "cordoned";
    }
    if (node.quarantinedAtMillis() != null) {
      return "quarantined";
    }
    if (node.isUnreachable()) {
      return "unreachable";
    }
    return node.isLeftAlone(now) ? "resting" : "usable";
  }
}
