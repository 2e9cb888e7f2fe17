package dev.bourse.edge;

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
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The operators' own port: {@code /livez}, {@code /readyz} and {@code /metrics} in Prometheus' text
 * format. It has no authentication, so it listens on the loopback unless told otherwise.
 */
public final class ManagementVerticle extends AbstractVerticle {
  private static final int MAX_CONNECTIONS = 64;

  private final Set<HttpConnection> connections = new LinkedHashSet<>();
  private final String host;
  private final int port;
  private final Readiness readiness;
  private final Signals signals;
  private @Nullable HttpServer server;
  private volatile int actualPort;

  /**
   * @param port where to listen; 0 picks a free one
   */
  public ManagementVerticle(String host, int port, Readiness readiness, Signals signals) {
    this.host = host;
    this.port = port;
    this.readiness = readiness;
    this.signals = signals;
  }

  /** The port in use; 0 before it listens. */
  public int actualPort() {
    return actualPort;
  }

  @Override
  public void start(Promise<Void> started) {
    HttpServer listening =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setHost(host)
                    .setPort(port)
                    .setHttp2ClearTextEnabled(false)
                    .setIdleTimeout(60)
                    .setIdleTimeoutUnit(TimeUnit.SECONDS))
            .connectionHandler(this::opened)
            .requestHandler(this::handle);
    server = listening;
    listening
        .listen()
        .onSuccess(bound -> actualPort = bound.actualPort())
        .<Void>mapEmpty()
        .recover(
            refused -> Future.failedFuture(new PortRefused("management.port", host, port, refused)))
        .onComplete(started);
  }

  @Override
  public void stop(Promise<Void> stopped) {
    HttpServer open = server;
    (open == null ? Future.<Void>succeededFuture() : open.close()).onComplete(stopped);
  }

  /** Enough for a few monitors; beyond it the connection that was opened first is closed. */
  private void opened(HttpConnection connection) {
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
            Buffer.buffer(fault.map(why -> "not ready: " + why + "\n").orElse("ready\n")));
      }
      case "/metrics" ->
          // Collectors may be slow and the text long: neither belongs on the event loop.
          vertx
              .executeBlocking(() -> Buffer.buffer(signals.print()), false)
              .onSuccess(
                  text -> answer(request, 200, Signals.CONTENT_TYPE, text))
              .onFailure(
                  fault -> answer(request, 500, "text/plain", Buffer.buffer("scrape failed\n")));
      default -> answer(request, 404, "text/plain", Buffer.buffer("/livez /readyz /metrics\n"));
    }
  }

  private static void answer(HttpServerRequest request, int status, String type, Buffer text) {
    request.response().setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, type).end(text);
  }
}
