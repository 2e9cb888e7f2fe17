package dev.bourse.edge;

import dev.bourse.edge.limits.Occupancy;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the service counts about itself. Features register collectors of their own with {@link
 * #registry()}.
 */
public final class EdgeMetrics {
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Counter requests =
      Counter.builder()
          .name("bourse_http_requests_total")
          .help("Requests answered.")
          .labelNames("operation", "status")
          .register(registry);
  private final Histogram seconds =
      Histogram.builder()
          .name("bourse_http_request_seconds")
          .help("Time from a request's head to the start of its answer.")
          .labelNames("operation")
          .classicOnly()
          .classicUpperBounds(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
          .register(registry);
  private final LongAdder inFlight = new LongAdder();
  private final Map<String, Series> byOperation = new ConcurrentHashMap<>();

  public EdgeMetrics() {
    GaugeWithCallback.builder()
        .name("bourse_http_requests_in_flight")
        .help("Requests that are not answered yet.")
        .callback(callback -> callback.call((double) inFlight.sum()))
        .register(registry);
  }

  /** Where collectors are registered; {@code /metrics} shows all of them. */
  public PrometheusRegistry registry() {
    return registry;
  }

  /**
   * Shows a number that only grows.
   *
   * @param name as Prometheus has it, ending in {@code _total}
   * @param current the number as of now; called on any thread
   */
  public void count(String name, String help, LongSupplier current) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .callback(callback -> callback.call((double) current.getAsLong()))
        .register(registry);
  }

  /** Shows what connections take. */
  void show(Occupancy occupancy) {
    gauge("bourse_http_connections", "Connections that are open.", occupancy::connections);
    gauge(
        "bourse_http_unread_bytes",
        "Memory of heads and JSON bodies that are not complete.",
        occupancy::unreadBytes);
    gauge(
        "bourse_http_block_bytes",
        "Memory of bodies on their way to the disk.",
        occupancy::blockBytes);
    count(
        "bourse_http_connections_turned_away_total",
        "Connections and bodies that there was no room for.",
        occupancy::turnedAway);
  }

  /**
   * Shows a number that grows and shrinks.
   *
   * @param current the number as of now; called on any thread
   */
  public void gauge(String name, String help, DoubleSupplier current) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .callback(callback -> callback.call(current.getAsDouble()))
        .register(registry);
  }

  /**
   * Shows numbers that come and go, by labels.
   *
   * @param current the numbers as of now, each by its labels' values in order; of few labels and
   *     bounded in number, for each is a series; called on any thread
   */
  public void gauges(
      String name, String help, List<String> labels, Supplier<Map<List<String>, Integer>> current) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames(labels.toArray(new String[0]))
        .callback(
            callback ->
                current
                    .get()
                    .forEach(
                        (values, number) ->
                            callback.call((double) number, values.toArray(new String[0]))))
        .register(registry);
  }

  /** Told how long something took. */
  public interface Times {
    /**
     * It took so long.
     *
     * @param labels the labels' values, in order
     */
    void took(long nanos, String... labels);
  }

  /**
   * Shows how long something takes, by labels.
   *
   * @param labels of few values, for each combination is a series
   * @param bounds of the buckets, in seconds
   */
  public Times times(String name, String help, List<String> labels, double... bounds) {
    Histogram histogram =
        Histogram.builder()
            .name(name)
            .help(help)
            .labelNames(labels.toArray(new String[0]))
            .classicOnly()
            .classicUpperBounds(bounds)
            .register(registry);
    return (nanos, values) -> histogram.labelValues(values).observe(nanos / 1e9);
  }

  /** The series of one operation; {@code none} for requests that reach none. */
  Series series(String operation) {
    return byOperation.computeIfAbsent(operation, Series::new);
  }

  /** One operation's series, looked up once. */
  final class Series {
    private final String operation;
    private final DistributionDataPoint latency;
    private final Map<Integer, CounterDataPoint> byStatus = new ConcurrentHashMap<>();

    private Series(String operation) {
      this.operation = operation;
      this.latency = seconds.labelValues(operation);
    }

    void answered(int status, long nanos) {
      byStatus
          .computeIfAbsent(status, code -> requests.labelValues(operation, Integer.toString(code)))
          .inc();
      latency.observe(nanos / 1e9);
    }
  }

  void entered() {
    inFlight.increment();
  }

  void left() {
    inFlight.decrement();
  }
}
