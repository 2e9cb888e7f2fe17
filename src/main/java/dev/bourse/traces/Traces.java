package dev.bourse.traces;

import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Starts traces. */
public interface Traces {
  /** Records nothing. */
  Traces OFF = new Traces() {};

  /**
   * Starts the span of an incoming request.
   *
   * @param caller the client's trace context; null if it sent none
   * @param drawn a random number for this request, at least 0 and less than 1
   * @return {@link Span#NONE} for most requests
   */
  default Span request(@Nullable TraceParent caller, double drawn) {
    return Span.NONE;
  }

  /**
   * Starts the span of background work; sampled at the same rate as requests.
   *
   * @param name a constant of the code
   */
  default Span sampled(String name, Span.Kind kind) {
    return Span.NONE;
  }

  /**
   * Starts the span of rare, long work, which is always traced.
   *
   * @param name a constant of the code
   */
  default Span always(String name, Span.Kind kind) {
    return Span.NONE;
  }

  /** Exports the pending spans, for a few seconds at most, and closes. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
