package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.NodeAgent;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.SessionAuthenticator.SignedIn;
import dev.bourse.contract.Form;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.SchemaDescription;
import dev.bourse.contract.SchemaValidator;
import dev.bourse.contract.SchemaViolation;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.json.StrictJson;
import io.github.bucket4j.ConsumptionProbe;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks a routed request before its operation runs, in the order of the contracts: caller, scope,
 * token budget, media type, body, input.
 */
final class RequestPipeline {
  private final Edge edge;

  RequestPipeline(LoopContext loop) {
    this.edge = loop.edge();
  }

  void enter(Exchange exchange, Endpoint endpoint) {
    exchange.identify(endpoint);
    try {
      if (endpoint.isForOwnPages()) {
        Origins.check(exchange.request().getHeader(HttpHeaders.ORIGIN), edge.baseUrl());
      }
      if (endpoint.schemes().isEmpty()) {
        proceed(exchange, endpoint);
        return;
      }
      Future<SignedIn> session = edge.sessions().find(exchange.request(), endpoint);
      admit(
          exchange,
          endpoint,
          session == null
              ? meter(exchange.received(), caller(exchange, endpoint), null)
              : session.compose(found -> meter(exchange.received(), found.caller(), found)));
    } catch (Throwable e) {
      // An Error is answered too: after an input overflowed the stack, the stack is intact here.
      exchange.fail(e);
    }
  }

  private Caller caller(Exchange exchange, Endpoint endpoint) {
    String authorization = exchange.request().getHeader(HttpHeaders.AUTHORIZATION);
    exchange.received().passCertificateGate(authorization);
    Caller caller = edge.authenticator().authenticate(authorization);
    if (endpoint.schemeOf(caller) == null) {
      throw ApiException.of(ErrorCode.UNAUTHORIZED, mistaken(caller, endpoint));
    }
    return caller;
  }

  private static String mistaken(Caller caller, Endpoint endpoint) {
    if (!endpoint.schemes().contains(Principal.MCP_SCHEME)) {
      return "this operation takes %s, not %s"
          .formatted(String.join(" or ", endpoint.schemes()), caller.scheme());
    }
    if (caller instanceof Principal principal && principal.member() != null) {
      return "the token is for another resource";
    }
    return """
    this is %s, which only the HTTP interface accepts; members sign in here with OAuth, which the \
    header WWW-Authenticate describes\
    """
        .formatted(
            caller instanceof Operator
                ? "an operator's token"
                : caller instanceof NodeAgent
                    ? "a node's credential"
                    : "an organization's API token");
  }

  /**
   * A caller whose request was counted.
   *
   * @param session the caller's session; null if the caller used a token
   * @param left the rest of the caller's budget; null if there is no budget
   */
  private record Metered(
      Caller caller, @Nullable SignedIn session, @Nullable ConsumptionProbe left) {}

  private Future<Metered> meter(
      ReceivedRequest received, Caller caller, @Nullable SignedIn session) {
    if (caller instanceof NodeAgent) {
      return Future.succeededFuture(new Metered(caller, session, received.ofNode()));
    }
    SharedBudgets shared = edge.sharedBudgets();
    return shared == null
        ? Future.succeededFuture(
            new Metered(caller, session, edge.tokenBudgets().spend(caller.budgetKey())))
        : shared
            .spend(caller.budgetKey(), edge.tokenBudgets())
            .map(left -> new Metered(caller, session, left));
  }

  /**
   * Continues on the connection's event loop when the caller and the rest of its budget are known.
   */
  private void admit(Exchange exchange, Endpoint endpoint, Future<Metered> metering) {
    if (metering.succeeded()) {
      admit(exchange, endpoint, metering.result());
      return;
    }
    // Until then, an arriving body is not read.
    boolean sendsBody = exchange.received().hasUnread();
    if (sendsBody) {
      exchange.request().pause();
    }
    metering.onComplete(
        outcome ->
            exchange.later(
                () -> {
                  try {
                    if (exchange.isDone()) {
                      return;
                    }
                    if (metering.failed()) {
                      exchange.fail(metering.cause());
                    } else {
                      admit(exchange, endpoint, metering.result());
                    }
                  } catch (Throwable e) {
                    exchange.fail(e);
                  } finally {
                    // The bytes wait until the operation is ready for them.
                    if (sendsBody && !exchange.received().awaitsBytes()) {
                      exchange.request().resume();
                    }
                  }
                }));
  }

  private void admit(Exchange exchange, Endpoint endpoint, Metered metered) {
    Caller caller = metered.caller();
    ConsumptionProbe left = metered.left();
    exchange.received().admit(caller, metered.session(), left);
    String scheme = endpoint.schemeOf(caller);
    Scope scope = scheme == null ? null : endpoint.scope(scheme);
    if (scope != null) {
      InsufficientScopeException.require(caller, scope);
    }
    if (caller instanceof Operator operator && !endpoint.isForOneSite()) {
      operator.requirePlatform(endpoint.id());
    }
    if (!caller.mayWrite() && writes(exchange.request(), endpoint)) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "%s is read-only; %s takes an operator's token that is not",
          caller.actor(),
          endpoint.id());
    }
    if (left != null && !left.isConsumed()) {
      edge.metrics().recordTokenOverBudget();
      throw edge.budgets(caller).refusal(left);
    }
    proceed(exchange, endpoint);
  }

  /**
   * Returns whether the operation writes. Session-only operations do not count, because every
   * bearer of a session may end it.
   */
  private static boolean writes(HttpServerRequest request, Endpoint endpoint) {
    return !HttpMethod.GET.equals(request.method())
        && !HttpMethod.HEAD.equals(request.method())
        && endpoint.schemes().contains(Operator.SCHEME);
  }

  private void proceed(Exchange exchange, Endpoint endpoint) {
    endpoint.gate().accept(exchange.received());
    String mediaType =
        // Stored bytes have a fixed type, even if the client does not accept it.
        endpoint.mediaTypes().contains(OperationContract.ANY_TYPE)
            ? OperationContract.ANY_TYPE
            : Headers.preferred(
                exchange.request().getHeader(HttpHeaders.ACCEPT), endpoint.mediaTypes());
    if (mediaType == null) {
      throw ApiException.of(
          ErrorCode.NOT_ACCEPTABLE,
          "Accept excludes all there is: " + String.join(", ", endpoint.mediaTypes()));
    }
    exchange.received().negotiated(mediaType);
    if (endpoint.inputs().takesBytes()) {
      exchange.received().expectBytes();
      perform(exchange, endpoint, null);
    } else if (endpoint.inputs().body() == null) {
      perform(exchange, endpoint, null);
    } else {
      readBody(exchange, endpoint);
    }
  }

  private void readBody(Exchange exchange, Endpoint endpoint) {
    HttpServerRequest request = exchange.request();
    boolean isForm = endpoint.takesForm();
    int maxBytes = Math.max(edge.config().limits().maxBodyBytes(), endpoint.bodyBytes());
    if (isForm) {
      maxBytes = Math.min(maxBytes, Form.MAX_BYTES);
    }
    if (!exchange.received().hasUnread()) {
      throw missingBody(isForm);
    }
    String contentType = request.getHeader(HttpHeaders.CONTENT_TYPE);
    String expected = isForm ? Form.TYPE : OperationContract.JSON;
    if (!Headers.isInUtf8(contentType, expected)) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE,
          "Content-Type is %s; expected %s",
          contentType == null ? "missing" : Text.shown(contentType),
          expected);
    }
    if (Headers.isLonger(request.getHeader(HttpHeaders.CONTENT_LENGTH), maxBytes)) {
      throw ReceivedRequest.tooLarge(maxBytes);
    }
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
    exchange
        .received()
        .readBody(
            maxBytes,
            exchange::isDone,
            exchange::fail,
            bytes -> {
              try {
                perform(exchange, endpoint, body(bytes, endpoint));
              } catch (Throwable e) {
                exchange.fail(e);
              }
            });
  }

  private static JsonObject body(byte[] bytes, Endpoint endpoint) {
    if (bytes.length == 0) {
      throw missingBody(endpoint.takesForm());
    }
    if (endpoint.takesForm()) {
      return endpoint.form(bytes);
    }
    Object value =
        endpoint.bodyBytes() > 0
            ? StrictJson.parse(bytes, StrictJson.MANY_VALUES)
            : StrictJson.parse(bytes);
    if (!(value instanceof JsonObject object)) {
      throw SchemaViolation.said(SchemaDescription.shown(value) + "; expected a JSON object")
          .refusal("");
    }
    return endpoint.known(object);
  }

  private static ApiException missingBody(boolean isForm) {
    return ApiException.of(
        ErrorCode.BAD_REQUEST,
        "the body is missing; expected " + (isForm ? "the fields of a form" : "a JSON object"));
  }

  private void perform(Exchange exchange, Endpoint endpoint, @Nullable JsonObject body) {
    Map<String, Object> parameters =
        endpoint.inputs().parameters().read(exchange.request().path(), exchange.request().query());
    SchemaValidator shape = endpoint.inputs().body();
    if (shape != null && body != null) {
      shape.omitNulls(body);
      shape.check("", body);
      shape.putDefaults(body);
    }
    exchange.received().input(parameters, body);
    Future<Void> ready = edge.operations().prepare(exchange.received());
    Future<Answer> future =
        ready.succeeded()
            ? endpoint.operation().handle(exchange.received())
            : ready.compose(met -> endpoint.operation().handle(exchange.received()));
    if (future.isComplete()) {
      conclude(exchange, future);
    } else {
      future.onComplete(
          outcome -> {
            if (exchange.isCurrent()) {
              conclude(exchange, future);
            } else {
              exchange.later(() -> conclude(exchange, future));
            }
          });
    }
  }

  private static void conclude(Exchange exchange, Future<Answer> future) {
    if (future.succeeded()) {
      exchange.answer(future.result());
    } else {
      exchange.fail(future.cause());
    }
  }
}
