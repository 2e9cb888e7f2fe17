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
 * A span of the SDK's. All of a trace's times follow from when its first span of this process began
 * and the monotonic clock since, so a clock that is set meanwhile tears none apart.
 */
final class OtlpSpan implements Span {
  /**
   * What one span may have within it: an export reads the store hundreds of times, and the first of
   * them say what there is to say.
   */
  static final int MAX_CHILDREN = 64;

  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private final Tracer tracer;
  private final Anchor anchor;
  private final Context context;
  private final io.opentelemetry.api.trace.Span span;
  private final AtomicInteger children = new AtomicInteger();

  /**
   * @param epochNanos when the first span began, since 1970
   * @param nanos the same by the monotonic clock
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
    this.span = begun(tracer, anchor.now(), parent, name, kind);
    this.context = parent.with(span);
  }

  static Span begin(Tracer tracer, SpanTime time, Context parent, String name, Kind kind) {
    return new OtlpSpan(
        tracer, new Anchor(time, time.now(), time.nanoTime()), parent, name, kind(kind));
  }

  private static io.opentelemetry.api.trace.Span begun(
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
  public boolean isTold() {
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
  public void tell(Attribute attribute, String value) {
    span.setAttribute(attribute.key(), value);
  }

  @Override
  public void tell(Attribute attribute, long value) {
    span.setAttribute(attribute.key(), value);
  }

  @Override
  public Span child(String name, Kind kind) {
    return isOneTooMany() ? NONE : new OtlpSpan(tracer, anchor, context, name, kind(kind));
  }

  @Override
  public void passed(String name, long beganNanos, long endedNanos) {
    if (!isOneTooMany()) {
      begun(tracer, anchor.at(beganNanos), context, name, SpanKind.INTERNAL)
          .end(anchor.at(endedNanos), TimeUnit.NANOSECONDS);
    }
  }

  private boolean isOneTooMany() {
    return children.incrementAndGet() > MAX_CHILDREN;
  }

  @Override
  public void end() {
    int untold = children.get() - MAX_CHILDREN;
    if (untold > 0) {
      tell(Attribute.UNTOLD, untold);
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
