package dev.bourse.edge;

import dev.bourse.access.InsufficientScope;
import dev.bourse.access.Scope;
import dev.bourse.contract.ErrorFormat;
import dev.bourse.core.ApiError;
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
 * One request and its answer, on the event loop of its connection: what is sent, once, whatever the
 * request comes to. What was read of it is {@link ReceivedRequest}.
 */
final class Exchange implements OpenConnection.PendingRequest {
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  /** The answer to a body that comes too slowly. */
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

  /** For a year browsers ask this host by https alone. */
  private static final CharSequence HSTS = HttpHeaders.createOptimized("max-age=31536000");

  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
  private static final CharSequence REVALIDATE = HttpHeaders.createOptimized("private, no-cache");
  private static final CharSequence WWW_AUTHENTICATE =
      HttpHeaders.createOptimized("www-authenticate");
  private static final CharSequence ANY = HttpHeaders.createOptimized("*");

  /** What pages of other origins may read of an answer beside what browsers show them anyway. */
  private static final CharSequence EXPOSED =
      HttpHeaders.createOptimized(
          """
          Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, \
          Retry-After, X-Request-Id\
          """);

  private static final CharSequence CLOSE = HttpHeaders.createOptimized("close");

  private final LoopContext loop;
  private final HttpServerRequest request;
  private final RequestContext told;
  private final ContextInternal context;
  private final long enteredNanos;
  private final OpenConnection connection;
  private final ReceivedRequest received;
  private @Nullable Endpoint endpoint;
  private boolean done;
  private boolean counted;

  /** Of the answer, once one was begun. */
  private int status;

  /** The answer broke off before its end. */
  private boolean isCutOff;

  private @Nullable Scope missing;
  private boolean left;

  /** The client was told that this is the connection's last answer. */
  private boolean isLast;

  Exchange(
      LoopContext loop,
      HttpServerRequest request,
      OpenConnection connection,
      RequestContext told,
      long enteredNanos) {
    this.loop = loop;
    this.request = request;
    this.told = told;
    ContextInternal current = ContextInternal.current();
    // Vert.x duplicates the loop's context for each request; what is put there is this one's.
    this.context = current.isDuplicate() ? current : current.duplicate();
    told.enter(context);
    this.enteredNanos = enteredNanos;
    this.connection = connection;
    this.received = new ReceivedRequest(request, loop, connection, told);
    connection.entered(this);
    loop.edge().metrics().entered();
  }

  HttpServerRequest request() {
    return request;
  }

  /** Whether it is answered, or its client gone. */
  boolean isDone() {
    return done;
  }

  void identify(Endpoint reached) {
    endpoint = reached;
    told.setOperation(reached.id());
    told.span().rename(reached.id());
    told.span().setAttribute(Attribute.ROUTE, reached.route());
  }

  /** Whether the calling thread is at work for this request. */
  boolean isCurrent() {
    return ContextInternal.current() == context;
  }

  /**
   * Goes on with the request after what its loop is doing now; may be called from any thread. What
   * is logged then is logged for this request.
   */
  void later(Runnable action) {
    context.runOnContext(turn -> action.run());
  }

  /** What is known of the request by now. */
  ReceivedRequest received() {
    return received;
  }

  @Override
  public boolean hasUnread() {
    return received.hasUnread();
  }

  @Override
  public void bodyTooSlow() {
    received.breakOff();
    fail(ApiError.of(ErrorCode.REQUEST_TIMEOUT, "the body comes too slowly"));
  }

  /** Sends an operation's answer; 500 when it cannot be made. */
  void answer(Answer answer) {
    try {
      give(answer);
    } catch (Throwable fault) {
      collapse(fault);
    }
  }

  /** An answer failed while it was made; what was sent of it by then cannot be taken back. */
  private void collapse(Throwable fault) {
    HttpServerResponse response = request.response();
    if (response.headWritten()) {
      LOG.error("answer {} broke off", told.id(), fault);
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

  private void give(Answer answer) {
    if (answer instanceof Answer.Whole whole) {
      answer(whole);
    } else if (answer instanceof Answer.Streamed streamed) {
      new PieceSender(this, connection, streamed.pieces()).ask();
    } else if (answer instanceof Answer.Download download) {
      new DownloadSender(this, connection, download).begin();
    } else if (answer instanceof Answer.Page page) {
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

  private void answer(Answer.Page page) {
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

  /** Sends an answer in JSON; 304 when the client has it already. */
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

  /** Begins an answer of this status; null when the client is gone. */
  @Nullable HttpServerResponse beginAnswer(int status) {
    return begin(status);
  }

  /** Begins a 200 in the negotiated media type; null when the client is gone. */
  @Nullable HttpServerResponse beginStreamed() {
    HttpServerResponse response = begin(200);
    if (response != null) {
      count(200);
      response
          .headers()
          .add(HttpHeaders.CACHE_CONTROL, NO_STORE)
          .add(HttpHeaders.CONTENT_TYPE, received.mediaType());
    }
    return response;
  }

  /** An answer that was begun cannot be finished. */
  void cutOff(int status, Throwable fault) {
    LOG.warn("answer {} was cut off: {}", told.id(), fault.toString());
    isCutOff = true;
    settle(status);
  }

  /** Sends a refusal, or 500 for what is none; nothing internal leaves. */
  void fail(Throwable failure) {
    if (failure instanceof InboundBody.ClientGone) {
      // The code that broke off the body has answered the client, if it is still there.
      return;
    }
    ApiError error;
    if (failure instanceof ApiError refusal) {
      error = refusal;
    } else if (failure instanceof InsufficientScope lacking) {
      missing = lacking.scope();
      error = lacking.refusal();
    } else {
      Optional<ApiError> translated = loop.edge().translation().apply(failure);
      if (translated.isEmpty()) {
        LOG.error(
            "request {} failed: operation {}",
            told.id(),
            endpoint == null ? "-" : endpoint.id(),
            failure);
      }
      error =
          translated.orElseGet(
              () ->
                  ApiError.of(
                      ErrorCode.INTERNAL,
                      "the service failed; quote request " + told.id() + " to us"));
    }
    refuse(error, null);
  }

  /** Sends a refusal; {@code allow} is the Allow header of a 405. */
  void refuse(ApiError error, @Nullable String allow) {
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

  /** A GET of a path that does not exist may come from a browser, so it may be answered a page. */
  private ErrorFormat ofNoOperation(ApiError error) {
    return error.code() == ErrorCode.NOT_FOUND && isRead() && !loop.isAtContentHost(request)
        ? ErrorFormat.PAGE
        : ErrorFormat.JSON;
  }

  /** Sends a refusal after which nothing that the connection brings can be trusted. */
  void refuseAndClose(ApiError error) {
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
        .set(Headers.REQUEST_ID_NAME, told.id())
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
          .add(RATE_LIMIT_POLICY, loop.rateLimitPolicy());
    }
    return response;
  }

  /** Sends the rest of an answer; the connection is free for the next request. */
  void end(HttpServerResponse response, @Nullable Buffer content) {
    tellIfSlow(response.getStatusCode());
    settle(response.getStatusCode());
    // A body that no one reads may have ended while the operation was at work.
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
    // Requests that waited behind this one are being served by now.
    connection.settled();
  }

  /** An answer that sends itself to its end has done so; the connection is free. */
  void sent() {
    leave();
    connection.answered(request);
    connection.settled();
    if (isLast) {
      connection.close();
    }
  }

  /**
   * What sends itself to its end takes as long as its client does, and so does a body of bytes, or
   * one that never comes: how long that is says nothing of the service.
   */
  private void tellIfSlow(int status) {
    if (!counted && !received.awaitsBytes() && status != TOO_SLOW) {
      loop.edge().slowRequests().answered(told, status, loop.nanos() - enteredNanos);
    }
  }

  private void settle(int status) {
    count(status);
    leave();
  }

  /** Counts the request out of those in flight, once. */
  void leave() {
    if (!left) {
      left = true;
      loop.edge().metrics().left();
      if (told.span().isRecorded()) {
        RequestSpan.end(told, request.method(), status, isCutOff);
      }
    }
  }

  /** Counts the answer in the metrics when it starts, once. */
  void count(int answered) {
    // The metrics keep the first; an answer that collapsed before it was sent is another by now.
    status = answered;
    if (counted) {
      return;
    }
    counted = true;
    EdgeMetrics.Series series = endpoint == null ? loop.unrouted() : endpoint.series();
    series.answered(answered, loop.nanos() - enteredNanos);
  }

  /** An answer that comes later is dropped. */
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
