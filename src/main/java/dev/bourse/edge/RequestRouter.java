package dev.bourse.edge;

import dev.bourse.contract.Contract;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.PercentEncoding;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.logs.RequestContext;
import dev.bourse.pages.ServedPage;
import dev.bourse.traces.TraceParent;
import io.github.bucket4j.ConsumptionProbe;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.core.internal.http.HttpServerRequestWrapper;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.openapi.router.OpenAPIRoute;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import io.vertx.openapi.contract.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The way of a request on one event loop to its route: address budget, path, routing; {@link
 * RequestPipeline} takes it from there.
 *
 * <p>Each contract's routes are a Router built from it; the first two segments of a path choose the
 * Router, since a Router tries its routes one after the other. A path without parameters is one
 * operation's for each method, and found by a look at {@link #plain}: the Router takes a twelfth of
 * a read of capacity.
 */
final class RequestRouter {
  /** With a counter behind it, enough that two processes' request ids never meet. */
  private static final int ID_PREFIX_LENGTH = 8;

  private final Vertx vertx;
  private final LoopContext loop;
  private final Edge edge;
  private final RequestPipeline pipeline;
  private final Map<String, Router> routers = new HashMap<>();

  /** Endpoints of paths without parameters, by path as the library knows it and method. */
  private final Map<String, Map<HttpMethod, Endpoint>> plain = new HashMap<>();

  /** The paths that end with a slash; the library drops it when it reads a contract. */
  private final Set<String> folders = new HashSet<>();

  /** What answers every path under one, by the one. */
  private final Map<String, Endpoint> subtrees = new LinkedHashMap<>();

  private final String idPrefix;
  private long served;

  /** For what is sampled of the loop's requests: nothing that has to be unguessable. */
  private final SplittableRandom draws;

  /** The request being routed. Routing is synchronous, so a route's handler finds its own here. */
  private @Nullable Exchange entering;

  RequestRouter(Vertx vertx, LoopContext loop) {
    this.vertx = vertx;
    this.loop = loop;
    this.edge = loop.edge();
    this.pipeline = new RequestPipeline(loop);
    this.idPrefix = Ids.base62(edge.sources().random(), ID_PREFIX_LENGTH);
    this.draws = new SplittableRandom(edge.sources().random().nextLong());
    for (Contract contract : edge.contracts()) {
      Router router = router(contract);
      contract.paths().stream()
          .filter(path -> path.length() > 1 && path.endsWith("/"))
          .forEach(folders::add);
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
      Endpoint endpoint = Endpoint.of(contract, model, edge.operations(), edge.metrics());
      route
          .setDoValidation(false)
          .setDoSecurity(false)
          .addHandler(routed -> pipeline.enter(entered(), endpoint));
      if (!model.getAbsoluteOpenAPIPath().contains("{")) {
        plain
            .computeIfAbsent(model.getAbsoluteOpenAPIPath(), path -> new HashMap<>())
            .put(model.getHttpMethod(), endpoint);
      }
      if (OperationContract.isSubtree(model)) {
        subtrees.put(model.getAbsoluteOpenAPIPath(), endpoint);
      }
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
    OpenConnection connection = loop.connections().find(request.connection());
    if (connection == null) {
      return;
    }
    Exchange exchange = exchange(request, connection);
    if (!Headers.hasKnownFraming(request.headers())) {
      exchange.refuseAndClose(
          ApiError.of(
              ErrorCode.MALFORMED_REQUEST,
              "the body's length is not told by either Content-Length or chunked alone"));
      return;
    }
    try {
      ConsumptionProbe probe = edge.addressBudgets().spend(loop.clientKey(connection, request));
      if (probe != null && !probe.isConsumed()) {
        connection.throttles();
        edge.metrics().overBudgetOfAddress();
        throw edge.addressBudgets().refusal(probe);
      }
      if (!Headers.hasOneHost(request)) {
        // The library would refuse it in words of its own, and log each as a fault of ours.
        throw ApiError.of(
            ErrorCode.MALFORMED_REQUEST, "a request has one Host header: a name or an address");
      }
      String path = request.path();
      if (path == null
          || !(PercentEncoding.isNormal(path) || folders.contains(path) || isRootOfSubtree(path))) {
        notFound(exchange);
        return;
      }
      if (loop.isAtContentHost(request) && !loop.isContent(path)) {
        // Strangers' bytes come from that host, so nothing of ours does: no page, no session.
        notFound(exchange);
        return;
      }
      route(exchange, path);
    } catch (Throwable e) {
      exchange.fail(e);
    }
  }

  /**
   * Whether it is a path that answers all under it, with the slash that such a path may end with.
   */
  private boolean isRootOfSubtree(String path) {
    return path.endsWith("/") && subtrees.containsKey(path.substring(0, path.length() - 1));
  }

  /** Looks at the two there are, which makes nothing; to look one up would cut the path. */
  private @Nullable Endpoint subtree(String path) {
    for (Map.Entry<String, Endpoint> one : subtrees.entrySet()) {
      String root = one.getKey();
      if (path.startsWith(root)
          && (path.length() == root.length() || path.charAt(root.length()) == '/')) {
        return one.getValue();
      }
    }
    return null;
  }

  private void route(Exchange exchange, String path) {
    if (edge.pages().has(path)) {
      show(exchange, path);
      return;
    }
    Endpoint subtree = subtree(path);
    if (subtree != null) {
      if (exchange.isRead()) {
        pipeline.enter(exchange, subtree);
      } else {
        notAllowed(exchange, "GET, HEAD");
      }
      return;
    }
    Endpoint operation = plain(routed(path), exchange.request().method());
    if (operation != null) {
      pipeline.enter(exchange, operation);
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
    router.handle(new Routed((HttpServerRequestInternal) exchange.request(), routed(path)));
  }

  /** The operation of a path without parameters; null when there is none of this method. */
  private @Nullable Endpoint plain(String path, HttpMethod method) {
    Map<HttpMethod, Endpoint> methods = plain.get(path);
    return methods == null
        ? null
        : methods.get(HttpMethod.HEAD.equals(method) ? HttpMethod.GET : method);
  }

  /** A path as contracts spell it. */
  private String described(String path) {
    return folders.contains(path + '/') ? path + '/' : path;
  }

  /** A path as the library knows it. */
  private String routed(String path) {
    return folders.contains(path) ? path.substring(0, path.length() - 1) : path;
  }

  /**
   * What the router sees of a request. It would decode the whole query to add the path's parameters
   * to it, and throw at an escape that is malformed; {@link Parameters} reads both, and says what
   * is wrong with them once it is known who asks.
   */
  private static final class Routed extends HttpServerRequestWrapper {
    private final String path;

    /** Made when a path has any: most have none. */
    private @Nullable MultiMap params;

    Routed(HttpServerRequestInternal request, String path) {
      super(request);
      this.path = path;
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public MultiMap params() {
      if (params == null) {
        params = MultiMap.caseInsensitiveMultiMap();
      }
      return params;
    }

    @Override
    public MultiMap params(boolean semicolonIsNormalChar) {
      return params();
    }
  }

  private void show(Exchange exchange, String path) {
    if (!exchange.isRead()) {
      notAllowed(exchange, "GET, HEAD");
      return;
    }
    ServedPage made = edge.pages().made(path);
    if (made != null) {
      exchange.answer(new Answer.Served(made));
      return;
    }
    vertx
        .executeBlocking(() -> edge.pages().get(path))
        .onSuccess(page -> exchange.answer(new Answer.Served(page)))
        .onFailure(exchange::fail);
  }

  /** Answers what is not HTTP. The decoder is lost after it, so the connection ends. */
  void handleInvalid(HttpServerRequest request) {
    OpenConnection connection = loop.connections().find(request.connection());
    if (connection == null) {
      return;
    }
    Exchange exchange = exchange(request, connection);
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

  private Exchange exchange(HttpServerRequest request, OpenConnection connection) {
    String sent = Headers.requestId(request);
    String id = sent != null ? sent : idPrefix + Long.toString(served++, Character.MAX_RADIX);
    return new Exchange(loop, request, connection, told(id, request), loop.nanos());
  }

  private RequestContext told(String id, HttpServerRequest request) {
    TraceParent caller = Headers.traceParent(request);
    return new RequestContext(
        id,
        caller == null ? "" : caller.traceId(),
        edge.traces().request(caller, draws.nextDouble()),
        edge.sources().nanos());
  }

  private static void notFound(Exchange exchange) {
    exchange.fail(
        ApiError.of(
            ErrorCode.NOT_FOUND,
            "no route " + Text.shown(String.valueOf(exchange.request().path()))));
  }

  private void methodNotAllowed(Exchange exchange, Contract contract) {
    TreeSet<String> allowed = new TreeSet<>();
    Path path = contract.model().findPath(described(exchange.request().path()));
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
            "%s is not among this route's methods; expected %s",
            Text.shown(exchange.request().method().name()),
            allowed),
        allowed);
  }
}
