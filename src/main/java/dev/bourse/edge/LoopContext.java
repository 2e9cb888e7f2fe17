package dev.bourse.edge;

import dev.bourse.contract.MarkedPaths;
import dev.bourse.core.ApiException;
import dev.bourse.core.BaseUrl;
import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.edge.limits.ProxyProtocol;
import io.vertx.core.Context;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** State shared by the requests of one event loop. */
final class LoopContext {
  private final Edge edge;
  private final Context context;
  private final Connections connections;
  private final MarkedPaths openPaths;
  private final MarkedPaths contentPaths;
  private final EdgeMetrics.Series unrouted;
  private final EventStreams streams;
  private CharSequence date;

  LoopContext(Edge edge, Context context) {
    this.edge = edge;
    this.context = context;
    this.connections =
        new Connections(
            edge.config().limits(), edge.occupancy(), edge.sources().nanos(), edge.proxies());
    this.streams = new EventStreams(edge.streamRoom(), this::later, edge.sessions()::listInForce);
    this.unrouted = edge.metrics().series("none");
    this.date = now();
    this.openPaths = new MarkedPaths(edge.contracts(), MarkedPaths.ANY_ORIGIN);
    this.contentPaths = new MarkedPaths(edge.contracts(), MarkedPaths.CONTENT_HOST);
  }

  Edge edge() {
    return edge;
  }

  /** Runs a task on this loop after its current one; may be called from any thread. */
  void later(Runnable action) {
    context.runOnContext(turn -> action.run());
  }

  /** Once a second, closes slow connections and renews the Date header. */
  void sweep() {
    date = now();
    connections.sweep();
    edge.occupancy().report(nanos());
    ProxyProtocol proxies = edge.proxies();
    if (proxies != null) {
      proxies.report(nanos());
    }
    edge.slowRequests().report(nanos());
    streams.sweep(nanos());
  }

  private CharSequence now() {
    return HttpHeaders.createOptimized(
        DateTimeFormatter.RFC_1123_DATE_TIME.format(
            ZonedDateTime.now(edge.sources().clock().withZone(ZoneOffset.UTC))));
  }

  /** Returns the budget key of a request's client address. */
  String clientKey(OpenConnection connection, HttpServerRequest request) {
    return edge.clientAddress()
        .key(
            connection.peer(),
            connection.mayForward() ? Headers.forwardedFor(request.headers()) : null);
  }

  /** Returns whether pages of any origin may read the responses of a path. */
  boolean isOpen(@Nullable String path) {
    return path != null && openPaths.has(path);
  }

  /** Returns whether the request is for the host that serves published bytes only. */
  boolean isAtContentHost(HttpServerRequest request) {
    String contentHost = edge.config().contentHost();
    return !contentHost.isEmpty()
        && request.authority() != null
        && contentHost.equals(BaseUrl.host(request.authority().host()));
  }

  /** Returns whether that host serves a path. */
  boolean isContent(String path) {
    return contentPaths.has(path);
  }

  EventStreams streams() {
    return streams;
  }

  /** Returns whether the caller of a request is still valid. */
  boolean isStillKnown(HttpServerRequest request) {
    try {
      edge.authenticator().authenticate(request.getHeader(HttpHeaders.AUTHORIZATION));
      return true;
    } catch (ApiException refused) {
      return false;
    }
  }

  Connections connections() {
    return connections;
  }

  EdgeMetrics.Series unrouted() {
    return unrouted;
  }

  CharSequence date() {
    return date;
  }

  long nanos() {
    return edge.sources().nanos().getAsLong();
  }
}
