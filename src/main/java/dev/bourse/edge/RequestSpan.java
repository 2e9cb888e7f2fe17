package dev.bourse.edge;

import dev.bourse.logs.RequestContext;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import io.vertx.core.http.HttpMethod;
import java.util.Set;

/** What the trace of a request is told at its end. */
final class RequestSpan {
  /** Those that are told, so that nobody names methods for a collector. */
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
   * Ends it. Neither the path nor any header is told: links and cookies let in whoever has them.
   *
   * @param status of the answer; 0 when the client was gone before one was begun
   * @param isCutOff whether the answer broke off
   */
  static void end(RequestContext told, HttpMethod method, int status, boolean isCutOff) {
    Span span = told.span();
    span.setAttribute(Attribute.METHOD, METHODS.contains(method) ? method.name() : OTHER);
    span.setAttribute(Attribute.REQUEST, told.id());
    if (!told.org().isEmpty()) {
      span.setAttribute(Attribute.ORG, told.org());
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
