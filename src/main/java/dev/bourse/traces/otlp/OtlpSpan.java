package dev.bourse.traces.otlp;

import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A span of the SDK. All times of a trace are the start of its first span in this process plus the
 * monotonic time since, so that setting the wall clock cannot distort a trace.
 */
final class OtlpSpan implements Span {
  /**
   * Most children of one span: an export reads the store hundreds of times, and the first reads
   * show the pattern.
   */
  static final int MAX_CHILDREN = 64;

  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private final Tracer tracer;
  private final Anchor anchor;
  private final Context context;
  private final io.opentelemetry.api.trace.Span span;
  private final AtomicInteger children = new AtomicInteger();

  /**
   * @param epochNanos start of the first span, in nanoseconds since 1970
   * @param nanos the same moment by the monotonic clock
   */
  private record Anchor(SpanTime time, long epochNanos, long nanos) {
    long at(long when) {
      return epochNanos + (when - nanos);
    }

    long now() {
      return at(time.nanoTime());
    }
  }

  private OtlpSpan(Tracer tracer, Anchor anchor, Context parent, String name, SpanKind kind) {
    this.tracer = tracer;
    this.anchor = anchor;
    this.span = startSpan(tracer, anchor.now(), parent, name, kind);
    this.context = parent.with(span);
  }

  static Span begin(Tracer tracer, SpanTime time, Context parent, String name, Kind kind) {
    return new OtlpSpan(
        tracer, new Anchor(time, time.now(), time.nanoTime()), parent, name, kind(kind));
  }

  private static io.opentelemetry.api.trace.Span startSpan(
      Tracer tracer, long epochNanos, Context parent, String name, SpanKind kind) {
    return tracer
        .spanBuilder(name)
        .setParent(parent)
        .setSpanKind(kind)
        .setStartTimestamp(epochNanos, TimeUnit.NANOSECONDS)
        .startSpan();
  }

  private static SpanKind kind(Kind kind) {
    return switch (kind) {
      case SERVER -> SpanKind.SERVER;
      case CLIENT -> SpanKind.CLIENT;
      case INTERNAL -> SpanKind.INTERNAL;
    };
  }

  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public String traceId() {
    return span.getSpanContext().getTraceId();
  }

  @Override
  public void rename(String name) {
    span.updateName(name);
  }

  @Override
  public void setAttribute(Attribute attribute, String value) {
    span.setAttribute(attribute.key(), value);
  }

  @Override
  public void setAttribute(Attribute attribute, long value) {
    span.setAttribute(attribute.key(), value);
  }

  @Override
  public Span child(String name, Kind kind) {
    return exceedsMaxChildren() ? NONE : new OtlpSpan(tracer, anchor, context, name, kind(kind));
  }

  @Override
  public void addCompletedChild(String name, long beganNanos, long endedNanos) {
    if (!exceedsMaxChildren()) {
      startSpan(tracer, anchor.at(beganNanos), context, name, SpanKind.INTERNAL)
          .end(anchor.at(endedNanos), TimeUnit.NANOSECONDS);
    }
  }

  private boolean exceedsMaxChildren() {
    return children.incrementAndGet() > MAX_CHILDREN;
  }

  @Override
  public void end() {
    int untold = children.get() - MAX_CHILDREN;
    if (untold > 0) {
      setAttribute(Attribute.OMITTED_WAITS, untold);
    }
    span.end(anchor.now(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void fail(String kind) {
    span.setAttribute(ERROR, kind);
    span.setStatus(StatusCode.ERROR);
    end();
  }
}
