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

/** What is counted of requests, and what connections take. */
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

  /** Shows what connections take. */
  void show(Signals signals, Occupancy occupancy, StreamRoom streams) {
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
        occupancy::turnedAway);
    signals.gauge("bourse_event_streams", "Streams of events that are open.", streams::open);
  }

  /** Shows what was closed for what proxies said of it; nothing where none says anything. */
  void showProxies(Signals signals, @Nullable ProxyProtocol proxies) {
    signals.counters(
        "bourse_http_proxy_headers_refused_total",
        """
        Connections closed with `proxy.protocol`: `untrusted`, of an address that `proxies` does \
        not list, or `malformed`, which began without a header that can be read.\
        """,
        List.of(Label.KIND),
        refused -> {
          if (proxies != null) {
            refused.put(proxies.untrusted(), "untrusted");
            refused.put(proxies.malformed(), "malformed");
          }
        });
  }

  /** Shows how long the certificate and the authorities of clients' last; nothing without TLS. */
  void showCertificate(Signals signals, @Nullable Renewal renewal) {
    signals.gauge(
        "bourse_tls_certificate_expiry_seconds",
        """
        Until the certificate that the API speaks TLS with ends, or the first authority of client \
        certificates if that ends before; negative after, absent without a certificate.\
        """,
        () -> renewal == null ? Double.NaN : renewal.secondsLeft());
  }

  /** The series of one operation; {@code none} for requests that reach none. */
  Series series(String operation) {
    return byOperation.computeIfAbsent(operation, Series::new);
  }

  /** One operation's series, looked up once; none is shown before its first answer. */
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
        // Two loops may both come here; they are given the same series.
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

  void streamDropped() {
    streamsDropped.increment();
  }

  void overBudgetOfToken() {
    overBudgetOfToken.increment();
  }

  void overBudgetOfAddress() {
    overBudgetOfAddress.increment();
  }
}
