package dev.bourse.edge;

import dev.bourse.edge.limits.ClientAddress;
import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.CountedHandshakes;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.Occupancy;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.tls.Renewal;
import dev.bourse.signals.Signals;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import java.time.Clock;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The operators' port: {@code /livez}, {@code /readyz} and {@code /metrics} in the Prometheus text
 * format. Probes need no credentials, because a kubelet has none. Metrics need none on this
 * machine, and a token or a client certificate elsewhere.
 */
public final class ManagementVerticle extends AbstractVerticle {
  private static final int MAX_CONNECTIONS = 64;

  /** As many handshakes as connections; the other limits are not used. */
  private static final EdgeLimits HANDSHAKES =
      EdgeLimits.in(new ProcessLimits(MAX_CONNECTIONS, Integer.MAX_VALUE, 1, 1, 1, 1));

  private final Set<HttpConnection> connections = new LinkedHashSet<>();
  private final ManagementConfig config;
  private final Readiness readiness;
  private final Signals signals;
  private final @Nullable Renewal renewal;
  private final Connections handshakes =
      new Connections(
          HANDSHAKES,
          new Occupancy(HANDSHAKES.room(), new ClientAddress(Set.of())),
          System::nanoTime);
  private @Nullable HttpServer server;
  private volatile int actualPort;

  /**
   * @param clock shows which certificates have expired
   */
  public ManagementVerticle(
      ManagementConfig config, Readiness readiness, Signals signals, Clock clock) {
    this.renewal = config.tls().map(tls -> new Renewal(tls, clock)).orElse(null);
    this.config = config;
    this.readiness = readiness;
    this.signals = signals;
  }

  /** Returns the port in use; 0 before it listens. */
  public int actualPort() {
    return actualPort;
  }

  /**
   * Checks whether the files of its certificate or of clients' authorities have changed, and uses
   * the new ones for new connections.
   */
  public Future<Boolean> renewCertificate() {
    Renewal renewing = renewal;
    HttpServer serving = server;
    return renewing == null || serving == null
        ? Future.succeededFuture(false)
        : TlsPort.renew(vertx, renewing, serving);
  }

  @Override
  public void start(Promise<Void> started) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setHttp2ClearTextEnabled(false)
            .setIdleTimeout(60)
            .setIdleTimeoutUnit(TimeUnit.SECONDS);
    if (renewal != null) {
      CountedHandshakes counted = new CountedHandshakes();
      counted.countAt(((ContextInternal) context).nettyEventLoop(), handshakes);
      TlsPort.secure(options, renewal, counted, HANDSHAKES.headMillis());
    }
    HttpServer listening =
        vertx
            .createHttpServer(options)
            .connectionHandler(this::opened)
            .requestHandler(this::handle);
    server = listening;
    listening
        .listen()
        .onSuccess(bound -> actualPort = bound.actualPort())
        .<Void>mapEmpty()
        .recover(
            refused ->
                Future.failedFuture(
                    new PortUnavailableException(
                        "management.port", config.host(), config.port(), refused)))
        .onComplete(started);
  }

  @Override
  public void stop(Promise<Void> stopped) {
    HttpServer open = server;
    (open == null ? Future.<Void>succeededFuture() : open.close()).onComplete(stopped);
  }

  /** Allows enough connections for a few monitors; beyond that, closes the oldest one. */
  private void opened(HttpConnection connection) {
    handshakes.handshakeFinished(connection);
    connections.add(connection);
    connection.closeHandler(gone -> connections.remove(connection));
    if (connections.size() > MAX_CONNECTIONS) {
      Iterator<HttpConnection> eldest = connections.iterator();
      HttpConnection first = eldest.next();
      eldest.remove();
      first.close();
    }
  }

  private void handle(HttpServerRequest request) {
    if (!HttpMethod.GET.equals(request.method()) && !HttpMethod.HEAD.equals(request.method())) {
      answer(request, 405, "text/plain", Buffer.buffer("GET or HEAD\n"));
      return;
    }
    switch (String.valueOf(request.path())) {
      case "/livez" -> answer(request, 200, "text/plain", Buffer.buffer("live\n"));
      case "/readyz" -> {
        Optional<String> fault = readiness.unready();
        answer(
            request,
            fault.isEmpty() ? 200 : 503,
            "text/plain",
            Buffer.buffer(
                fault.map(why -> "not ready: " + why + "\n").orElse("ready\n")
                    + readiness.served()));
      }
      case "/metrics" -> metrics(request);
      default -> answer(request, 404, "text/plain", Buffer.buffer("/livez /readyz /metrics\n"));
    }
  }

  private void metrics(HttpServerRequest request) {
    if (!config.mayRead(
        request.getHeader(HttpHeaders.AUTHORIZATION),
        OpenConnection.hasPeerCertificate(request.connection().sslSession()))) {
      request.response().putHeader("www-authenticate", "Bearer");
      answer(
          request, 401, "text/plain", Buffer.buffer("/metrics takes " + config.accepted() + "\n"));
      return;
    }
    // Collecting metrics may be slow and the text long, so both run off the event loop.
    vertx
        .executeBlocking(() -> Buffer.buffer(signals.print()), false)
        .onSuccess(text -> answer(request, 200, Signals.CONTENT_TYPE, text))
        .onFailure(fault -> answer(request, 500, "text/plain", Buffer.buffer("scrape failed\n")));
  }

  private static void answer(HttpServerRequest request, int status, String type, Buffer text) {
    request.response().setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, type).end(text);
  }
}
