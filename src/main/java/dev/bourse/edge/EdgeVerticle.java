package dev.bourse.edge;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.tls.Renewal;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The API's HTTP server on one event loop. Stopping it waits for requests in flight. */
final class EdgeVerticle extends AbstractVerticle {
  private static final long SWEEP_MILLIS = 1_000;

  /**
   * The interval of checks of streams' callers. Together with the interval in which a replica reads
   * the commit log, it ends a stream within a second of a revocation.
   */
  private static final long STREAM_CHECK_MILLIS = 500;

  /** How long requests in flight may take to finish when the service stops. */
  private static final long DRAIN_SECONDS = 10;

  private final Edge edge;
  private @Nullable HttpServer server;
  private Runnable endStreams = () -> {};

  EdgeVerticle(Edge edge) {
    this.edge = edge;
  }

  @Override
  public void start(Promise<Void> started) {
    LoopContext loop = new LoopContext(edge, context);
    RequestRouter router = new RequestRouter(vertx, loop);
    endStreams = loop.streams()::end;
    EdgeLimits limits = edge.config().limits();
    long shortestMillis = Math.min(limits.headMillis(), limits.lingerMillis());
    long sweepMillis = Math.max(20, Math.min(SWEEP_MILLIS, shortestMillis / 2));
    vertx.setPeriodic(sweepMillis, tick -> loop.sweep());
    vertx.setPeriodic(STREAM_CHECK_MILLIS, tick -> loop.streams().endRefused());
    HttpServerOptions options = options(edge.config());
    Renewal renewal = edge.renewal();
    if (renewal != null) {
      edge.handshakes().countAt(((ContextInternal) context).nettyEventLoop(), loop.connections());
      TlsPort.secure(options, renewal, edge.handshakes(), edge.config().limits().headMillis());
    }
    HttpServer listening =
        vertx
            .createHttpServer(options)
            .connectionHandler(
                connection -> {
                  AnswerAllocator.serve(connection);
                  edge.listeners().arrived(connection);
                  loop.connections().opened(connection);
                })
            .requestHandler(router::handle)
            .invalidRequestHandler(router::handleInvalid);
    server = listening;
    listening
        .listen()
        .recover(
            refused ->
                Future.failedFuture(
                    new PortUnavailableException(
                        "host, port", edge.config().host(), edge.config().port(), refused)))
        .onSuccess(edge::listening)
        // Made now, off the event loop, and not in the first request.
        .compose(bound -> vertx.executeBlocking(edge::pages))
        .<Void>mapEmpty()
        .onComplete(started);
  }

  private static HttpServerOptions options(EdgeConfig config) {
    return new HttpServerOptions()
        .setHost(config.host())
        // A negative port is a free one that all instances share; with 0 each instance would get
        // its own.
        .setPort(config.port() == 0 ? -1 : config.port())
        .setHttp2ClearTextEnabled(false)
        // No route uses WebSocket; without these options its handlers are not in the pipeline.
        .setPerMessageWebSocketCompressionSupported(false)
        .setPerFrameWebSocketCompressionSupported(false)
        .setMaxInitialLineLength(EdgeLimits.MAX_URI_BYTES)
        .setMaxHeaderSize(EdgeLimits.MAX_HEADER_BYTES)
        .setAcceptBacklog(Listeners.BACKLOG)
        // No idle time-out: Connections ends slow clients, including those that stop reading.
        // Vert.x's time-out would end a body that waits for a slow store, and adds a handler to
        // each write.
        .setTcpNoDelay(true);
  }

  @Override
  public void stop(Promise<Void> stopped) {
    // Streams of events would never end by themselves.
    endStreams.run();
    HttpServer open = server;
    (open == null ? Future.<Void>succeededFuture() : open.shutdown(DRAIN_SECONDS, TimeUnit.SECONDS))
        .onComplete(stopped);
  }
}
