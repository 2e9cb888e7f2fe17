package dev.bourse.edge;

import dev.bourse.logs.RequestContext;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import io.vertx.core.http.HttpMethod;
import java.util.Set;

/** Ends the trace of a request with its attributes. */
final class RequestSpan {
  /** Recorded methods; others could create arbitrary values at a collector. */
  private static final Set<HttpMethod> METHODS =
      Set.of(
          HttpMethod.GET,
          HttpMethod.HEAD,
          HttpMethod.POST,
          HttpMethod.PUT,
          HttpMethod.DELETE,
          HttpMethod.PATCH,
          HttpMethod.OPTIONS);

  private static final String OTHER = "_OTHER";
  private static final int SERVER_FAULTS = 500;

  private RequestSpan() {}

  /**
   * Ends the span. It records neither the path nor headers, because links and cookies grant access.
   *
   * @param status the response's status; 0 if the client disconnected before it started
   * @param isCutOff whether the response was interrupted
   */
  static void end(RequestContext requestContext, HttpMethod method, int status, boolean isCutOff) {
    Span span = requestContext.span();
    span.setAttribute(Attribute.METHOD, METHODS.contains(method) ? method.name() : OTHER);
    span.setAttribute(Attribute.REQUEST, requestContext.id());
    if (!requestContext.org().isEmpty()) {
      span.setAttribute(Attribute.ORG, requestContext.org());
    }
    if (status == 0) {
      span.fail("client gone");
      return;
    }
    span.setAttribute(Attribute.STATUS, status);
    if (isCutOff) {
      span.fail("cut off");
    } else if (status >= SERVER_FAULTS) {
      span.fail(Integer.toString(status));
    } else {
      span.end();
    }
  }
}
