package dev.bourse.edge;

import dev.bourse.contract.Contract;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.PercentEncoding;
import dev.bourse.core.ApiException;
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
 * Routes a request on one event loop: address budget, path, route; then {@link RequestPipeline}
 * continues.
 *
 * <p>Each contract has a Router built from it. The first two segments of a path choose the Router,
 * because a Router tries its routes one after another. A path without parameters has one operation
 * per method, which {@link #plain} finds directly: the Router would take a twelfth of the time of a
 * read of capacity.
 */
final class RequestRouter {
  /** Long enough, together with a counter, that request ids of two processes do not collide. */
  private static final int ID_PREFIX_LENGTH = 8;

  private final Vertx vertx;
  private final LoopContext loop;
  private final Edge edge;
  private final RequestPipeline pipeline;
  private final Map<String, Router> routers = new HashMap<>();

  /** Endpoints of paths without parameters, by the library's form of the path and method. */
  private final Map<String, Map<HttpMethod, Endpoint>> plain = new HashMap<>();

  /** Paths that end with a slash, which the library drops when it reads a contract. */
  private final Set<String> folders = new HashSet<>();

  /** Endpoints that answer every path under a prefix, by prefix. */
  private final Map<String, Endpoint> subtrees = new LinkedHashMap<>();

  private final String idPrefix;
  private long served;

  /** Selects sampled requests; it need not be unguessable. */
  private final SplittableRandom draws;

  /**
   * The request being routed. Routing is synchronous, so a route's handler finds its request here.
   */
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
   * Returns the part of a path that selects its contract: two segments, or one if the second is a
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

  /** Handles a request from the wire. */
  void handle(HttpServerRequest request) {
    OpenConnection connection = loop.connections().find(request.connection());
    if (connection == null) {
      return;
    }
    Exchange exchange = exchange(request, connection);
    if (!Headers.hasKnownFraming(request.headers())) {
      exchange.refuseAndClose(
          ApiException.of(
              ErrorCode.MALFORMED_REQUEST,
              "send either Content-Length or Transfer-Encoding: chunked, not both"));
      return;
    }
    try {
      ConsumptionProbe probe =
          exchange.received().spendOfNode()
              ? null
              : edge.addressBudgets().spend(loop.clientKey(connection, request));
      if (probe != null && !probe.isConsumed()) {
        connection.throttles();
        edge.metrics().recordAddressOverBudget();
        throw edge.addressBudgets().refusal(probe);
      }
      if (!Headers.hasOneHost(request)) {
        // The library would reject it in its own words, and log each one as an error.
        throw ApiException.of(
            ErrorCode.MALFORMED_REQUEST, "a request has one Host header: a name or an address");
      }
      String path = request.path();
      if (path == null
          || !(PercentEncoding.isNormal(path) || folders.contains(path) || isRootOfSubtree(path))) {
        notFound(exchange);
        return;
      }
      if (loop.isAtContentHost(request) && !loop.isContent(path)) {
        // That host serves tenants' bytes, so it serves no page or session of the service.
        notFound(exchange);
        return;
      }
      route(exchange, path);
    } catch (Throwable e) {
      exchange.fail(e);
    }
  }

  /** Returns whether the path is the root of a subtree, with an optional trailing slash. */
  private boolean isRootOfSubtree(String path) {
    return path.endsWith("/") && subtrees.containsKey(path.substring(0, path.length() - 1));
  }

  /** Checks the few subtrees without allocation; a map look-up would have to cut the path. */
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

  /** Returns the operation of a path without parameters; null if there is none with this method. */
  private @Nullable Endpoint plain(String path, HttpMethod method) {
    Map<HttpMethod, Endpoint> methods = plain.get(path);
    return methods == null
        ? null
        : methods.get(HttpMethod.HEAD.equals(method) ? HttpMethod.GET : method);
  }

  /** Returns a path as written in contracts. */
  private String described(String path) {
    return folders.contains(path + '/') ? path + '/' : path;
  }

  /** Returns a path in the library's form. */
  private String routed(String path) {
    return folders.contains(path) ? path.substring(0, path.length() - 1) : path;
  }

  /**
   * The router's view of a request. The original would decode the whole query to add the path's
   * parameters to it, and throw at a malformed escape. {@link Parameters} reads both, and reports
   * faults after the caller is known.
   */
  private static final class Routed extends HttpServerRequestWrapper {
    private final String path;

    /** Allocated for a path with parameters; most have none. */
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

  /**
   * Answers bytes that are not HTTP and closes the connection, because the decoder has lost its
   * position.
   */
  void handleInvalid(HttpServerRequest request) {
    OpenConnection connection = loop.connections().find(request.connection());
    if (connection == null) {
      return;
    }
    Exchange exchange = exchange(request, connection);
    Throwable cause = request.decoderResult().cause();
    ApiException error =
        cause instanceof TooLongHttpLineException
            ? ApiException.of(
                ErrorCode.URI_TOO_LONG,
                "the request line is over " + EdgeLimits.MAX_URI_BYTES + " bytes")
            : cause instanceof TooLongHttpHeaderException
                ? ApiException.of(
                    ErrorCode.HEADERS_TOO_LARGE,
                    "the headers are over " + EdgeLimits.MAX_HEADER_BYTES + " bytes")
                : ApiException.of(ErrorCode.MALFORMED_REQUEST, "this is not an HTTP/1.1 request");
    exchange.refuseAndClose(error);
  }

  private Exchange exchange(HttpServerRequest request, OpenConnection connection) {
    String sent = Headers.requestId(request);
    String id = sent != null ? sent : idPrefix + Long.toString(served++, Character.MAX_RADIX);
    return new Exchange(loop, request, connection, requestContext(id, request), loop.nanos());
  }

  private RequestContext requestContext(String id, HttpServerRequest request) {
    TraceParent caller = Headers.traceParent(request);
    return new RequestContext(
        id,
        caller == null ? "" : caller.traceId(),
        edge.traces().request(caller, draws.nextDouble()),
        edge.sources().nanos());
  }

  private static void notFound(Exchange exchange) {
    exchange.fail(
        ApiException.of(
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
        ApiException.of(
            ErrorCode.METHOD_NOT_ALLOWED,
            "%s is not among this route's methods; expected %s",
            Text.shown(exchange.request().method().name()),
            allowed),
        allowed);
  }
}
