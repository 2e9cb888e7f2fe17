package dev.bourse.traces.otlp;

import dev.bourse.core.ThisProcess;
import dev.bourse.signals.Signals;
import dev.bourse.traces.Span;
import dev.bourse.traces.TraceConfig;
import dev.bourse.traces.TraceParent;
import dev.bourse.traces.Traces;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Traces that are exported to a collector. */
public final class OtlpTraces implements Traces {
  /** Longest wait at shutdown for the collector to accept the last spans. */
  private static final long FLUSH_MILLIS = 3_000;

  /** Longest attribute value, which is also the longest request id that a client may send. */
  private static final int MAX_VALUE = 128;

  private static final String NAME = "bourse";

  private final Vertx vertx;
  private final RandomGenerator random;
  private final Sampler sampler;
  private final SpanTime time;
  private final SdkTracerProvider provider;
  private final Tracer tracer;

  private OtlpTraces(
      Vertx vertx,
      TraceConfig config,
      RandomGenerator random,
      SpanTime time,
      SdkTracerProvider provider) {
    this.vertx = vertx;
    this.random = random;
    this.sampler = new Sampler(config.sample(), time.nanoTime());
    this.time = time;
    this.provider = provider;
    this.tracer = provider.get(NAME);
  }

  /**
   * Starts the export, with a span of its own: an unreachable collector is noticed at once, and the
   * library's classes are loaded before an event loop traces its first request.
   *
   * @param version of the program
   * @param clock for start times
   * @param nanoTime for durations, and the clock of {@link Span#addCompletedChild}
   * @param random for ids and sampling
   */
  public static Traces open(
      Vertx vertx,
      TraceConfig config,
      String version,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      Signals signals) {
    CountedExporter exporter = new CountedExporter(config.endpoint(), nanoTime);
    exporter.registerMetrics(signals);
    SpanTime time = new SpanTime(clock, nanoTime);
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setClock(time)
            .setIdGenerator(new RandomIds(random))
            .setResource(
                Resource.create(
                    Attributes.builder()
                        .put("service.name", NAME)
                        .put("service.version", version)
                        .put("service.instance.id", ThisProcess.name())
                        .build()))
            .setSpanLimits(SpanLimits.builder().setMaxAttributeValueLength(MAX_VALUE).build())
            // The callers decide whether a span is recorded.
            .setSampler(io.opentelemetry.sdk.trace.samplers.Sampler.alwaysOn())
            .addSpanProcessor(new SpanQueue(exporter))
            .build();
    Traces traces = new OtlpTraces(vertx, config, random, time, provider);
    Span begun = traces.always("traces begin", Span.Kind.INTERNAL);
    begun.child("first", Span.Kind.INTERNAL).end();
    begun.end();
    return traces;
  }

  @Override
  public Span request(@Nullable TraceParent caller, double drawn) {
    return sampler.takes(caller, drawn, time.nanoTime())
        ? OtlpSpan.begin(tracer, time, context(caller), "none", Span.Kind.SERVER)
        : Span.NONE;
  }

  private static Context context(@Nullable TraceParent caller) {
    return caller == null
        ? Context.root()
        : Context.root()
            .with(
                io.opentelemetry.api.trace.Span.wrap(
                    SpanContext.createFromRemoteParent(
                        caller.traceId(),
                        caller.spanId(),
                        TraceFlags.getSampled(),
                        TraceState.getDefault())));
  }

  @Override
  public Span sampled(String name, Span.Kind kind) {
    return sampler.takes(random.nextDouble()) ? always(name, kind) : Span.NONE;
  }

  @Override
  public Span always(String name, Span.Kind kind) {
    return OtlpSpan.begin(tracer, time, Context.root(), name, kind);
  }

  @Override
  public Future<Void> close() {
    Promise<Void> ended = Promise.promise();
    long timer = vertx.setTimer(FLUSH_MILLIS, late -> ended.tryComplete());
    provider.shutdown().whenComplete(ended::tryComplete);
    return ended.future().onComplete(done -> vertx.cancelTimer(timer));
  }
}
