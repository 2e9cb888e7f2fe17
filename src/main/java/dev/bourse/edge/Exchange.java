package dev.bourse.edge;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.Scope;
import dev.bourse.contract.ErrorFormat;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.edge.limits.RequestBudgets;
import dev.bourse.logs.RequestContext;
import dev.bourse.traces.Attribute;
import io.github.bucket4j.ConsumptionProbe;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.ContextInternal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response, on the event loop of its connection. It always sends exactly one
 * response. {@link ReceivedRequest} contains the parsed request.
 */
final class Exchange implements OpenConnection.PendingRequest {
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  /** The status of a body that arrives too slowly. */
  private static final int TOO_SLOW = 408;

  static final CharSequence JSON_TYPE = HttpHeaders.createOptimized("application/json");
  private static final CharSequence RATE_LIMIT = HttpHeaders.createOptimized("ratelimit");
  private static final CharSequence RATE_LIMIT_POLICY =
      HttpHeaders.createOptimized("ratelimit-policy");
  private static final CharSequence NOSNIFF_NAME =
      HttpHeaders.createOptimized("x-content-type-options");
  private static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
  private static final CharSequence HSTS_NAME =
      HttpHeaders.createOptimized("strict-transport-security");

  /** Makes browsers use https only for this host, for a year. */
  private static final CharSequence HSTS = HttpHeaders.createOptimized("max-age=31536000");

  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
  private static final CharSequence REVALIDATE = HttpHeaders.createOptimized("private, no-cache");
  private static final CharSequence WWW_AUTHENTICATE =
      HttpHeaders.createOptimized("www-authenticate");
  private static final CharSequence ANY = HttpHeaders.createOptimized("*");

  /**
   * Response headers that pages of other origins may read in addition to those browsers always
   * allow.
   */
  private static final CharSequence EXPOSED =
      HttpHeaders.createOptimized(
          """
          Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, \
          Retry-After, X-Request-Id\
          """);

  private static final CharSequence CLOSE = HttpHeaders.createOptimized("close");

  private final LoopContext loop;
  private final HttpServerRequest request;
  private final RequestContext requestContext;
  private final ContextInternal context;
  private final long enteredNanos;
  private final OpenConnection connection;
  private final ReceivedRequest received;
  private @Nullable Endpoint endpoint;
  private boolean done;
  private boolean counted;

  /** The status of the response, once it has started. */
  private int status;

  /** True if the response was interrupted. */
  private boolean isCutOff;

  private @Nullable Scope missing;
  private boolean left;

  /** True if the response has {@code Connection: close}, so that the connection closes after it. */
  private boolean isLast;

  Exchange(
      LoopContext loop,
      HttpServerRequest request,
      OpenConnection connection,
      RequestContext requestContext,
      long enteredNanos) {
    this.loop = loop;
    this.request = request;
    this.requestContext = requestContext;
    ContextInternal current = ContextInternal.current();
    // Vert.x duplicates the loop's context for each request, so values in it belong to this one.
    this.context = current.isDuplicate() ? current : current.duplicate();
    requestContext.enter(context);
    this.enteredNanos = enteredNanos;
    this.connection = connection;
    this.received = new ReceivedRequest(request, loop, connection, requestContext);
    connection.entered(this);
    loop.edge().metrics().entered();
  }

  HttpServerRequest request() {
    return request;
  }

  /** Returns whether it is answered or its client has disconnected. */
  boolean isDone() {
    return done;
  }

  void identify(Endpoint reached) {
    endpoint = reached;
    requestContext.setOperation(reached.id());
    requestContext.span().rename(reached.id());
    requestContext.span().setAttribute(Attribute.ROUTE, reached.route());
  }

  /** Returns whether the calling thread works for this request. */
  boolean isCurrent() {
    return ContextInternal.current() == context;
  }

  /**
   * Runs an action on the event loop after its current task, with this request as the log's
   * context. May be called from any thread.
   */
  void later(Runnable action) {
    context.runOnContext(turn -> action.run());
  }

  /** Returns the parsed part of the request. */
  ReceivedRequest received() {
    return received;
  }

  @Override
  public boolean hasUnread() {
    return received.hasUnread();
  }

  @Override
  public void reportSlowBody() {
    received.breakOff();
    fail(ApiException.of(ErrorCode.REQUEST_TIMEOUT, "the body comes too slowly"));
  }

  /** Sends an operation's response; 500 if it cannot be made. */
  void answer(Answer answer) {
    try {
      sendAnswer(answer);
    } catch (Throwable fault) {
      failResponse(fault);
    }
  }

  /** Handles a response that failed while it was made; sent parts cannot be taken back. */
  private void failResponse(Throwable fault) {
    HttpServerResponse response = request.response();
    if (response.headWritten()) {
      LOG.error("answer {} broke off", requestContext.id(), fault);
      isCutOff = true;
      settle(response.getStatusCode());
      connection.close();
      return;
    }
    if (done && !left) {
      done = false;
      response.headers().clear();
    }
    fail(fault);
  }

  private void sendAnswer(Answer answer) {
    if (answer instanceof Answer.Whole whole) {
      answer(whole);
    } else if (answer instanceof Answer.Streamed streamed) {
      new PieceSender(this, connection, streamed).ask();
    } else if (answer instanceof Answer.Download download) {
      new DownloadSender(this, connection, download).begin();
    } else if (answer instanceof Answer.RenderedPage page) {
      answer(page);
    } else if (answer instanceof Answer.Served served) {
      new ServedPageSender(this, served.page()).send();
    } else if (answer instanceof Answer.Events events) {
      new EventSender(this, loop, connection, events.source(), received.caller()).begin();
    } else if (answer instanceof Answer.Empty empty) {
      HttpServerResponse response = beginAnswer(empty.status());
      if (response != null) {
        empty.headers().forEach(response.headers()::add);
        end(response, null);
      }
    }
  }

  private void answer(Answer.RenderedPage page) {
    HttpServerResponse response = beginAnswer(page.status());
    if (response == null) {
      return;
    }
    MultiMap headers = response.headers();
    page.headers().forEach(header -> headers.add(header.getKey(), header.getValue()));
    if (page.contentType().isEmpty()) {
      end(response, null);
    } else {
      headers.add(HttpHeaders.CONTENT_TYPE, page.contentType());
      end(response, page.body());
    }
  }

  /** Sends a JSON response; 304 if the client has it already. */
  private void answer(Answer.Whole answer) {
    String etag = answer.etag();
    HttpServerResponse response = begin(answer.status());
    if (response == null) {
      return;
    }
    MultiMap headers = response.headers();
    answer.headers().forEach(headers::add);
    if (etag != null) {
      headers.add(HttpHeaders.ETAG, etag).add(HttpHeaders.CACHE_CONTROL, REVALIDATE);
      String known = request.getHeader(HttpHeaders.IF_NONE_MATCH);
      if (known != null && isRead() && Headers.matches(known, etag)) {
        response.setStatusCode(304);
        end(response, null);
        return;
      }
    } else {
      headers.add(HttpHeaders.CACHE_CONTROL, NO_STORE);
    }
    headers.add(HttpHeaders.CONTENT_TYPE, JSON_TYPE);
    end(response, answer.body());
  }

  /** Starts a response; null if the client has disconnected. */
  @Nullable HttpServerResponse beginAnswer(int status) {
    return begin(status);
  }

  /**
   * Starts a 200 response in the negotiated media type; null if the client has disconnected.
   *
   * @param parameters of the media type; empty without any
   */
  @Nullable HttpServerResponse beginStreamed(String parameters) {
    HttpServerResponse response = begin(200);
    if (response != null) {
      count(200);
      response
          .headers()
          .add(HttpHeaders.CACHE_CONTROL, NO_STORE)
          .add(HttpHeaders.CONTENT_TYPE, received.mediaType() + parameters);
    }
    return response;
  }

  /** Interrupts a response that cannot be finished. */
  void cutOff(int status, Throwable fault) {
    LOG.warn("answer {} was cut off: {}", requestContext.id(), fault.toString());
    isCutOff = true;
    settle(status);
  }

  /** Sends an error response; 500 for unexpected exceptions, without internal details. */
  void fail(Throwable failure) {
    if (failure instanceof InboundBody.ClientDisconnectedException) {
      // The code that interrupted the body has answered the client, if it is still connected.
      return;
    }
    ApiException error;
    if (failure instanceof ApiException refusal) {
      error = refusal;
    } else if (failure instanceof InsufficientScopeException lacking) {
      missing = lacking.scope();
      error = lacking.refusal();
    } else {
      Optional<ApiException> translated = loop.edge().translation().apply(failure);
      if (translated.isEmpty()) {
        LOG.error(
            "request {} failed: operation {}",
            requestContext.id(),
            endpoint == null ? "-" : endpoint.id(),
            failure);
      }
      error =
          translated.orElseGet(
              () ->
                  ApiException.of(
                      ErrorCode.INTERNAL,
                      "the service failed; quote request " + requestContext.id() + " to us"));
    }
    refuse(error, null);
  }

  /** Sends an error response; {@code allow} is the Allow header of a 405. */
  void refuse(ApiException error, @Nullable String allow) {
    ErrorFormat refusals = endpoint == null ? ofNoOperation(error) : endpoint.refusals();
    Operations.ErrorPages pages = loop.edge().operations().errorPages();
    if (refusals == ErrorFormat.PAGE && pages != null && Headers.prefersHtml(request)) {
      answer(pages.render(error));
      return;
    }
    HttpServerResponse response = begin(refusals.status(error));
    if (response == null) {
      return;
    }
    MultiMap headers = response.headers();
    CharSequence challenge =
        Challenge.of(response.getStatusCode(), endpoint, missing, received, loop.edge().baseUrl());
    if (challenge != null) {
      headers.add(WWW_AUTHENTICATE, challenge);
    }
    if (allow != null) {
      headers.add(HttpHeaders.ALLOW, allow);
    }
    Object retryAfter = error.extras().get("retry_after_s");
    if (retryAfter != null) {
      headers.add(HttpHeaders.RETRY_AFTER, retryAfter.toString());
    }
    headers.add(HttpHeaders.CACHE_CONTROL, NO_STORE).add(HttpHeaders.CONTENT_TYPE, JSON_TYPE);
    end(response, refusals.json(error).toBuffer());
  }

  /**
   * Returns the error format of an unknown path, whose GET may come from a browser and get a page.
   */
  private ErrorFormat ofNoOperation(ApiException error) {
    return error.code() == ErrorCode.NOT_FOUND && isRead() && !loop.isAtContentHost(request)
        ? ErrorFormat.PAGE
        : ErrorFormat.JSON;
  }

  /**
   * Sends an error response and closes the connection, because its further bytes are not
   * trustworthy.
   */
  void refuseAndClose(ApiException error) {
    refuse(error, null);
    connection.close();
  }

  private @Nullable HttpServerResponse begin(int status) {
    if (done) {
      return null;
    }
    done = true;
    HttpServerResponse response = request.response();
    MultiMap headers = response.setStatusCode(status).headers();
    headers
        .set(Headers.REQUEST_ID_NAME, requestContext.id())
        .add(HttpHeaders.DATE, loop.date())
        .add(NOSNIFF_NAME, NOSNIFF);
    if (loop.edge().isSecure()) {
      headers.add(HSTS_NAME, HSTS);
    }
    if (loop.isOpen(request.path())) {
      headers
          .add(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN, ANY)
          .add(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    if (loop.edge().isDraining()) {
      headers.set(HttpHeaders.CONNECTION, CLOSE);
      isLast = true;
    }
    ConsumptionProbe probe = received.budget();
    if (probe != null) {
      headers
          .add(RATE_LIMIT, RequestBudgets.rateLimit(probe))
          .add(RATE_LIMIT_POLICY, loop.edge().budgets(received.caller()).policy());
    }
    return response;
  }

  /** Sends the rest of a response, which frees the connection for the next request. */
  void end(HttpServerResponse response, @Nullable Buffer content) {
    logIfSlow(response.getStatusCode());
    settle(response.getStatusCode());
    // A body that nobody reads may have ended during the operation.
    if (received.hasUnread() && !request.isEnded()) {
      if (received.awaitsBytes()) {
        request.resume();
      }
      response.headers().set(HttpHeaders.CONNECTION, CLOSE);
      request.handler(ignored -> {});
      request.endHandler(end -> connection.close());
      connection.lingers();
    } else {
      connection.answered(request);
    }
    if (content == null) {
      response.end();
    } else {
      if (HttpMethod.HEAD.equals(request.method())) {
        response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(content.length()));
      }
      response.end(content);
    }
    if (isLast) {
      connection.close();
    }
    // Requests that waited behind this one are already being served.
    connection.settled();
  }

  /** Completes a response that was sent piece by piece; the connection is free. */
  void sent() {
    leave();
    connection.answered(request);
    connection.settled();
    if (isLast) {
      connection.close();
    }
  }

  /** Logs a slow request. Excludes responses and bodies whose duration depends on the client. */
  private void logIfSlow(int status) {
    if (!counted && !received.awaitsBytes() && status != TOO_SLOW) {
      loop.edge().slowRequests().answered(requestContext, status, loop.nanos() - enteredNanos);
    }
  }

  private void settle(int status) {
    count(status);
    leave();
  }

  /** Removes the request from those in flight, once. */
  void leave() {
    if (!left) {
      left = true;
      loop.edge().metrics().left();
      if (requestContext.span().isRecorded()) {
        RequestSpan.end(requestContext, request.method(), status, isCutOff);
      }
    }
  }

  /** Counts the response in the metrics when it starts, once. */
  void count(int answered) {
    // The metrics keep the first status; a response that failed before it was sent has another one
    // by now.
    status = answered;
    if (counted) {
      return;
    }
    counted = true;
    EdgeMetrics.Series series = endpoint == null ? loop.unrouted() : endpoint.series();
    series.answered(answered, loop.nanos() - enteredNanos);
  }

  /** Drops later responses. */
  @Override
  public void abandon() {
    received.breakOff();
    if (!done) {
      done = true;
      leave();
      received.gone();
    }
  }

  boolean isRead() {
    return HttpMethod.GET.equals(request.method()) || HttpMethod.HEAD.equals(request.method());
  }
}
