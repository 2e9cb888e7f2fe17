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

/** What is shown of the markets of all pools and of the work on their machines. */
final class MarketSignals {
  /** From a small pool in memory to a store that hangs. */
  private static final double[] TICKS = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};

  /** From a simulated machine to one that is installed anew. */
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
            "Time of a tick, from its begin until its decisions are stored.",
            List.of(Label.POOL),
            TICKS);
    late =
        signals.times(
            "bourse_market_tick_late_seconds",
            "By how much a tick began later than the tick before it had said.",
            List.of(Label.POOL),
            TICKS);
    failedTicks =
        signals.tally(
            "bourse_market_tick_failures_total",
            "Ticks that failed; the next one decides anew.",
            List.of(Label.POOL));
    work =
        signals.times(
            "bourse_node_work_seconds",
            """
            Time of work on a machine, `provision` or `reclaim`, by what came of it: `done`; the \
            machine could not be reached or told, for now (`passing`) or until somebody changes \
            something (`lasting`), or is marked for another allocation (`held-by-another`); \
            `busy` when it was not asked; `other` when the store or the service failed.\
            """,
            List.of(Label.POOL, Label.KIND, Label.OUTCOME),
            WORK);
  }

  void ticked(String pool, long nanos, long lateNanos, AsyncResult<Void> done) {
    ticks.took(nanos, pool);
    late.took(lateNanos, pool);
    if (done.failed()) {
      failedTicks.add(pool);
    }
  }

  void worked(String pool, String kind, long nanos, AsyncResult<?> done) {
    work.took(nanos, pool, kind, done.succeeded() ? "done" : outcome(done.cause()));
  }

  private static String outcome(Throwable cause) {
    return cause instanceof NodeFailureException failure ? failure.kind() : "other";
  }

  /**
   * Shows the markets.
   *
   * @param previews how many are being made
   * @param now the time
   * @param open the markets this process has open, whether or not it runs them
   * @param reach how many machines answered when last tried, by pool
   * @param health how many machines have a health of each state, by pool
   */
  void registerMetrics(
      DoubleSupplier previews,
      Clusters clusters,
      LongSupplier now,
      Supplier<Map<String, MarketVerticle>> open,
      Supplier<Map<String, Reachability.Counts>> reach,
      Supplier<Map<String, Map<Health.State, Integer>>> health) {
    signals.gauge("bourse_previews_running", "Previews being made now.", previews);
    showQuotes(clusters, now);
    showPauses(clusters);
    signals.gauges(
        "bourse_market_lease_held",
        "1 while this process runs the pool's market, 0 while it waits for the lease.",
        List.of(Label.POOL),
        readings ->
            open.get()
                .forEach((pool, market) -> readings.put(market.epoch().isPresent() ? 1 : 0, pool)));
    signals.gauges(
        "bourse_market_lease_epoch",
        "How often the pool's market has changed hands, told by the process that runs it.",
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
        held ones too; kept out of the market by an operator (`cordoned`), or as they could not \
        be prepared or cleaned (`quarantined`), or for some minutes after that failed \
        (`resting`), or as they do not answer (`unreachable`).\
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

  private void showPauses(Clusters clusters) {
    signals.gauges(
        "bourse_market_paused",
        "1 while an operator has the pool's market paused, 0 while it goes on.",
        List.of(Label.POOL),
        readings ->
            clusters.pools().forEach(pool -> readings.put(pool.isPaused() ? 1 : 0, pool.name())));
  }

  private void showQuotes(Clusters clusters, LongSupplier now) {
    showQuote(
        clusters,
        "bourse_market_clearing_price_dollars",
        "What holders pay for a GPU-hour; absent while nobody holds a node.",
        (pool, quote) -> dollars(quote.clearingCents()));
    showQuote(
        clusters,
        "bourse_market_admission_price_dollars",
        "The least that wins a node at the next tick, for a GPU-hour; absent when no price does.",
        (pool, quote) -> dollars(quote.admissionCents()));
    showQuote(
        clusters,
        "bourse_market_supply_nodes",
        "Nodes that bids compete for.",
        (pool, quote) -> (double) quote.usableNodes());
    showQuote(
        clusters,
        "bourse_market_free_nodes",
        "Nodes that could be granted at once.",
        (pool, quote) -> (double) quote.freeNodes());
    showQuote(
        clusters,
        "bourse_market_demand_nodes",
        "Nodes that are bid for, held ones too.",
        (pool, quote) -> (double) quote.demand().nodes());
    showQuote(
        clusters,
        "bourse_market_quote_age_seconds",
        """
        How long ago the tick was whose prices this process shows; a process that does not run \
        the market is told them with the lease's renewals, and computes its own until it is.\
        """,
        (pool, quote) -> (now.getAsLong() - quote.tickAtMillis()) / 1e3);
  }

  private void showQuote(
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
