package dev.bourse.edge;

import dev.bourse.edge.limits.Occupancy;
import dev.bourse.edge.limits.ProxyProtocol;
import dev.bourse.edge.tls.Renewal;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Metrics of requests and connections. */
final class EdgeMetrics {
  private final Signals.Tally requests;
  private final Signals.Times seconds;
  private final LongAdder inFlight = new LongAdder();
  private final LongAdder streamsDropped = new LongAdder();
  private final LongAdder overBudgetOfToken = new LongAdder();
  private final LongAdder overBudgetOfAddress = new LongAdder();
  private final Map<String, Series> byOperation = new ConcurrentHashMap<>();

  EdgeMetrics(Signals signals) {
    requests =
        signals.tally(
            "bourse_http_requests_total",
            "Requests answered.",
            List.of(Label.OPERATION, Label.STATUS));
    seconds =
        signals.times(
            "bourse_http_request_seconds",
            "Time from a request's head to the start of its answer.",
            List.of(Label.OPERATION),
            0.0005,
            0.001,
            0.0025,
            0.005,
            0.01,
            0.025,
            0.05,
            0.1,
            0.25,
            1,
            5);
    signals.gauge(
        "bourse_http_requests_in_flight", "Requests that are not answered yet.", inFlight::sum);
    signals.counter(
        "bourse_event_streams_dropped_total",
        "Streams of events that were ended because their clients did not read them.",
        streamsDropped::sum);
    signals.counters(
        "bourse_http_over_budget_total",
        "Requests refused because a budget was spent, by whose: a `token` or an `address`.",
        List.of(Label.KIND),
        refused -> {
          refused.put(overBudgetOfToken.sum(), "token");
          refused.put(overBudgetOfAddress.sum(), "address");
        });
  }

  /** Registers the metrics of connections. */
  void registerMetrics(Signals signals, Occupancy occupancy, StreamRoom streams) {
    signals.gauge("bourse_http_connections", "Connections that are open.", occupancy::connections);
    signals.gauge(
        "bourse_http_unread_bytes",
        "Memory of heads and JSON bodies that are not complete.",
        occupancy::unreadBytes);
    signals.gauge(
        "bourse_http_block_bytes",
        "Memory of bodies on their way to the disk.",
        occupancy::blockBytes);
    signals.counter(
        "bourse_http_connections_turned_away_total",
        "Connections and bodies that there was no room for.",
        occupancy::rejected);
    signals.gauge("bourse_event_streams", "Streams of events that are open.", streams::open);
  }

  /** Registers the metrics of rejected PROXY headers; none without proxies. */
  void registerProxyMetrics(Signals signals, @Nullable ProxyProtocol proxies) {
    signals.counters(
        "bourse_http_proxy_headers_refused_total",
        """
        Connections closed with `proxy.protocol`: `untrusted`, because `proxies` does not list the \
        address, or `malformed`, because there was no valid header at the start.\
        """,
        List.of(Label.KIND),
        refused -> {
          if (proxies != null) {
            refused.put(proxies.untrusted(), "untrusted");
            refused.put(proxies.malformed(), "malformed");
          }
        });
  }

  /** Registers the lifetime of the certificate and the clients' authorities; none without TLS. */
  void registerCertificateMetrics(Signals signals, @Nullable Renewal renewal) {
    signals.gauge(
        "bourse_tls_certificate_expiry_seconds",
        """
        Time until the API's certificate expires, or the first authority of client certificates if \
        that expires earlier; negative after that, absent without a certificate.\
        """,
        () -> renewal == null ? Double.NaN : renewal.secondsLeft());
  }

  /** Returns the series of one operation; {@code none} for requests without an operation. */
  Series series(String operation) {
    return byOperation.computeIfAbsent(operation, Series::new);
  }

  /** The series of one operation, looked up once; registered with its first response. */
  final class Series {
    private final String operation;
    private final Map<Integer, Runnable> byStatus = new ConcurrentHashMap<>();
    private volatile @Nullable LongConsumer latency;

    private Series(String operation) {
      this.operation = operation;
    }

    void answered(int status, long nanos) {
      byStatus
          .computeIfAbsent(status, code -> requests.at(operation, Integer.toString(code)))
          .run();
      LongConsumer begun = latency;
      if (begun == null) {
        // Two loops may both reach this; they get the same series.
        begun = seconds.at(operation);
        latency = begun;
      }
      begun.accept(nanos);
    }
  }

  void entered() {
    inFlight.increment();
  }

  void left() {
    inFlight.decrement();
  }

  void recordDroppedStream() {
    streamsDropped.increment();
  }

  void recordTokenOverBudget() {
    overBudgetOfToken.increment();
  }

  void recordAddressOverBudget() {
    overBudgetOfAddress.increment();
  }
}
