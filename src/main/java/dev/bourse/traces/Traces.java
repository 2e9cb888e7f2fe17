package dev.bourse.traces;

import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Where traces begin. */
public interface Traces {
  /** Nobody is told of anything. */
  Traces OFF = new Traces() {};

  /**
   * A request has arrived.
   *
   * @param caller what the client says of its own trace; null for nothing
   * @param drawn at random for this request, at least 0 and less than 1
   * @return {@link Span#NONE} for most
   */
  default Span request(@Nullable TraceParent caller, double drawn) {
    return Span.NONE;
  }

  /**
   * Work of the service's own begins, of which as large a share is traced as of requests.
   *
   * @param name written in the code
   */
  default Span sampled(String name, Span.Kind kind) {
    return Span.NONE;
  }

  /**
   * The same for work that is seldom and long, and always traced.
   *
   * @param name written in the code
   */
  default Span always(String name, Span.Kind kind) {
    return Span.NONE;
  }

  /** Sends what waits, for a few seconds at most, and ends. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
