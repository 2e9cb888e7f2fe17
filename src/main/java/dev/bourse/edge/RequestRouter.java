package dev.bourse.edge;

import dev.bourse.contract.AnyOriginPaths;
import dev.bourse.contract.Contract;
import dev.bourse.contract.Percent;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.docs.Page;
import dev.bourse.edge.limits.Connections;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.Occupancy;
import io.github.bucket4j.ConsumptionProbe;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.core.internal.http.HttpServerRequestWrapper;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.openapi.router.OpenAPIRoute;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import io.vertx.openapi.contract.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The way of a request on one event loop to its route: address budget, path, routing; {@link
 * RequestPipeline} takes it from there.
 *
 * <p>Each contract's routes are a Router built from it; the first two segments of a path choose the
 * Router, since a Router tries its routes one after the other.
 */
final class RequestRouter {
  /** With a counter behind it, enough that two processes' request ids never meet. */
  private static final int ID_PREFIX_LENGTH = 8;

  private final Edge edge;
  private final Vertx vertx;
  private final Context context;
  private final RequestPipeline entrance;
  private final Connections connections;
  private final Map<String, Router> routers = new HashMap<>();
  private final AnyOriginPaths openPaths;
  private final EdgeMetrics.Series unrouted;
  private final String idPrefix;
  private final String rateLimitPolicy;
  private final EventStreams streams;
  private long served;
  private String date;

  /** The request being routed. Routing is synchronous, so a route's handler finds its own here. */
  private @Nullable Exchange entering;

  RequestRouter(Edge edge, Vertx vertx, Context context) {
    this.edge = edge;
    this.vertx = vertx;
    this.context = context;
    this.entrance = new RequestPipeline(edge, context);
    this.idPrefix = Ids.base62(edge.sources().random(), ID_PREFIX_LENGTH);
    this.connections =
        new Connections(edge.config().limits(), edge.occupancy(), edge.sources().nanos());
    // A fifth of the connections stays for requests.
    this.streams =
        new EventStreams(
            edge.config().limits().room().connections() / 5 * 4,
            edge.streams(),
            edge.streamsOfTokens(),
            this::later);
    this.unrouted = edge.metrics().series("none");
    this.rateLimitPolicy = "\"default\";q=" + edge.tokenBudgets().quota() + ";w=60";
    this.date = now();
    this.openPaths = new AnyOriginPaths(edge.contracts());
    for (Contract contract : edge.contracts()) {
      Router router = router(contract);
      for (Path path : contract.model().getPaths()) {
        routers.put(prefix(path.getName()), router);
      }
    }
  }

  /**
   * The part of a path that chooses its contract: two segments, or one when the second is a
   * parameter.
   */
  static String prefix(String path) {
    int second = path.indexOf('/', 1);
    if (second < 0 || path.startsWith("{", second + 1)) {
      return second < 0 ? path : path.substring(0, second);
    }
    int third = path.indexOf('/', second + 1);
    return third < 0 ? path : path.substring(0, third);
  }

  private Router router(Contract contract) {
    RouterBuilder builder = RouterBuilder.create(vertx, contract.model());
    for (OpenAPIRoute route : builder.getRoutes()) {
      io.vertx.openapi.contract.Operation model = route.getOperation();
      Endpoint endpoint = new Endpoint(model, edge.operations(), edge.metrics());
      route
          .setDoValidation(false)
          .setDoSecurity(false)
          .addHandler(routed -> entrance.enter(entered(), endpoint));
    }
    Router router = builder.createRouter();
    for (Route route : router.getRoutes()) {
      if (route.methods() != null && route.methods().contains(HttpMethod.GET)) {
        route.method(HttpMethod.HEAD);
      }
    }
    router.errorHandler(404, failed -> notFound(entered()));
    router.errorHandler(405, failed -> methodNotAllowed(entered(), contract));
    router.errorHandler(500, failed -> entered().fail(failed.failure()));
    return router;
  }

  private Exchange entered() {
    if (entering == null) {
      throw new IllegalStateException("no request is being routed");
    }
    return entering;
  }

  /** Takes a request from the wire. */
  void handle(HttpServerRequest request) {
    Connections.Link link = connections.find(request.connection());
    if (link == null) {
      return;
    }
    Exchange exchange = exchange(request, link);
    if (!Headers.hasKnownFraming(request.headers())) {
      exchange.refuseAndClose(
          ApiError.of(
              ErrorCode.MALFORMED_REQUEST,
              "the body's length is not told by either Content-Length or chunked alone"));
      return;
    }
    try {
      ConsumptionProbe probe = edge.addressBudgets().spend(clientKey(request));
      if (probe != null && !probe.isConsumed()) {
        connections.throttles(link);
        throw edge.addressBudgets().refusal(probe);
      }
      if (!Headers.hasOneHost(request)) {
        // The library would refuse it in words of its own, and log each as a fault of ours.
        throw ApiError.of(
            ErrorCode.MALFORMED_REQUEST, "a request has one Host header: a name or an address");
      }
      String path = request.path();
      if (path == null || !Percent.isNormal(path)) {
        notFound(exchange);
        return;
      }
      route(exchange, path);
    } catch (Throwable e) {
      exchange.fail(e);
    }
  }

  private void route(Exchange exchange, String path) {
    if (edge.pages().has(path)) {
      show(exchange, path);
      return;
    }
    Router router = routers.get(prefix(path));
    if (router == null) {
      int second = path.indexOf('/', 1);
      router = second < 0 ? null : routers.get(path.substring(0, second));
    }
    if (router == null) {
      notFound(exchange);
      return;
    }
    entering = exchange;
    router.handle(new Routed((HttpServerRequestInternal) exchange.request()));
  }

  /**
   * What the router sees of a request. It would decode the whole query to add the path's parameters
   * to it, and throw at an escape that is malformed; {@link Parameters} reads both, and says what
   * is wrong with them once it is known who asks.
   */
  private static final class Routed extends HttpServerRequestWrapper {
    private final MultiMap params = MultiMap.caseInsensitiveMultiMap();

    Routed(HttpServerRequestInternal request) {
      super(request);
    }

    @Override
    public MultiMap params() {
      return params;
    }

    @Override
    public MultiMap params(boolean semicolonIsNormalChar) {
      return params;
    }
  }

  private void show(Exchange exchange, String path) {
    if (!exchange.isRead()) {
      notAllowed(exchange, "GET, HEAD");
      return;
    }
    Page made = edge.pages().made(path);
    if (made != null) {
      exchange.answer(made);
      return;
    }
    vertx
        .executeBlocking(() -> edge.pages().get(path))
        .onSuccess(exchange::answer)
        .onFailure(exchange::fail);
  }

  /** Answers what is not HTTP. The decoder is lost after it, so the connection ends. */
  void handleInvalid(HttpServerRequest request) {
    Connections.Link link = connections.find(request.connection());
    if (link == null) {
      return;
    }
    Exchange exchange = exchange(request, link);
    Throwable cause = request.decoderResult().cause();
    ApiError error =
        cause instanceof TooLongHttpLineException
            ? ApiError.of(
                ErrorCode.URI_TOO_LONG,
                "the request line is over " + EdgeLimits.MAX_URI_BYTES + " bytes")
            : cause instanceof TooLongHttpHeaderException
                ? ApiError.of(
                    ErrorCode.HEADERS_TOO_LARGE,
                    "the headers are over " + EdgeLimits.MAX_HEADER_BYTES + " bytes")
                : ApiError.of(ErrorCode.MALFORMED_REQUEST, "this is not an HTTP/1.1 request");
    exchange.refuseAndClose(error);
  }

  private Exchange exchange(HttpServerRequest request, Connections.Link link) {
    String id = idPrefix + Long.toString(served++, Character.MAX_RADIX);
    return new Exchange(this, request, link, id, nanos());
  }

  private static void notFound(Exchange exchange) {
    exchange.fail(
        ApiError.of(
            ErrorCode.NOT_FOUND,
            "no route " + Text.shown(String.valueOf(exchange.request().path()))));
  }

  private static void methodNotAllowed(Exchange exchange, Contract contract) {
    TreeSet<String> allowed = new TreeSet<>();
    Path path = contract.model().findPath(exchange.request().path());
    if (path != null) {
      path.getOperations().forEach(operation -> allowed.add(operation.getHttpMethod().name()));
    }
    if (allowed.contains("GET")) {
      allowed.add("HEAD");
    }
    notAllowed(exchange, String.join(", ", allowed));
  }

  private static void notAllowed(Exchange exchange, String allowed) {
    exchange.refuse(
        ApiError.of(
            ErrorCode.METHOD_NOT_ALLOWED,
            Text.shown(exchange.request().method().name())
                + " is not among this route's methods; expected "
                + allowed),
        allowed);
  }

  /**
   * Runs something on this loop once it has done what is at hand; may be called from any thread.
   */
  void later(Runnable action) {
    context.runOnContext(turn -> action.run());
  }

  /** Once a second: closes late connections and renews the Date header. */
  void sweep() {
    date = now();
    connections.sweep();
    edge.occupancy().report(nanos());
    streams.sweep(nanos());
  }

  private String now() {
    return DateTimeFormatter.RFC_1123_DATE_TIME.format(
        ZonedDateTime.now(edge.sources().clock().withZone(ZoneOffset.UTC)));
  }

  /** Whose budget a request is on by its address. */
  String clientKey(HttpServerRequest request) {
    return edge.clientAddress()
        .key(request.remoteAddress().hostAddress(), Headers.forwardedFor(request.headers()));
  }

  String baseUrl() {
    return edge.baseUrl();
  }

  @Nullable ErrorPages errorPages() {
    return edge.operations().errorPages();
  }

  /** Whether pages of any origin may read what is answered there. */
  boolean isOpen(@Nullable String path) {
    return path != null && openPaths.has(path);
  }

  EventStreams streams() {
    return streams;
  }

  /** Whether the caller of a request would still be let in. */
  boolean isStillKnown(HttpServerRequest request) {
    try {
      edge.authenticator().authenticate(request.getHeader(HttpHeaders.AUTHORIZATION));
      return true;
    } catch (ApiError refused) {
      return false;
    }
  }

  Connections connections() {
    return connections;
  }

  Occupancy occupancy() {
    return edge.occupancy();
  }

  EdgeMetrics metrics() {
    return edge.metrics();
  }

  EdgeMetrics.Series unrouted() {
    return unrouted;
  }

  Optional<ApiError> translate(Throwable failure) {
    return edge.translation().apply(failure);
  }

  String date() {
    return date;
  }

  String rateLimitPolicy() {
    return rateLimitPolicy;
  }

  /** Whether the service is about to stop. */
  boolean isDraining() {
    return edge.isDraining();
  }

  long nanos() {
    return edge.sources().nanos().getAsLong();
  }
}
