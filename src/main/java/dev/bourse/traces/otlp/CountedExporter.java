package dev.bourse.traces.otlp;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Exports batches of spans to the collector, once each, and counts the outcomes. */
final class CountedExporter implements SpanExporter {
  /** Time-out of one export; a collector is near, and the queue fills during the wait. */
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final Duration CONNECT = Duration.ofSeconds(2);
  private static final long TOLD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(CountedExporter.class);

  /**
   * The library logs each failed batch. Held in a field, because a level is lost with its logger.
   */
  private static final Logger THEIRS = Logger.getLogger("io.opentelemetry.exporter");

  private final String endpoint;
  private final LongSupplier nanoTime;
  private final SpanExporter exporter;
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongAdder sent = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder dropped = new LongAdder();

  private boolean everTold;
  private long toldNanos;
  private long lostBefore;

  CountedExporter(String endpoint, LongSupplier nanoTime) {
    this.endpoint = endpoint;
    this.nanoTime = nanoTime;
    THEIRS.setLevel(Level.OFF);
    this.exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(endpoint + "/v1/traces")
            .setConnectTimeout(CONNECT)
            .setTimeout(TIMEOUT)
            // Disabled, because the spans that arrive during a retry would be lost instead.
            .setRetryPolicy(null)
            .build();
  }

  void registerMetrics(Signals signals) {
    signals.counters(
        "bourse_trace_spans_total",
        """
        Spans of traces: `sent` to the collector; `refused` by it, or it was down; `dropped`, because too \
        many waited. Present while traces are exported.\
        """,
        List.of(Label.OUTCOME),
        readings -> {
          readings.put(sent.sum(), "sent");
          readings.put(refused.sum(), "refused");
          readings.put(dropped.sum(), "dropped");
        });
  }

  /**
   * Reserves a place for an ended span; returns false if {@code most} are waiting and the span is
   * dropped.
   */
  boolean tryReserve(int most) {
    if (waiting.incrementAndGet() <= most) {
      return true;
    }
    waiting.decrementAndGet();
    dropped.increment();
    return false;
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    // The library clears the collection after this call.
    int count = spans.size();
    CompletableResultCode result;
    try {
      result = exporter.export(spans);
    } catch (RuntimeException | Error e) {
      // The library continues with the next batch.
      waiting.addAndGet(-count);
      refused.add(count);
      throw e;
    }
    result.whenComplete(
        () -> {
          waiting.addAndGet(-count);
          if (result.isSuccess()) {
            sent.add(count);
          } else {
            refused.add(count);
            reportLoss(result.getFailureThrowable());
          }
        });
    return result;
  }

  private synchronized void reportLoss(@Nullable Throwable fault) {
    long now = nanoTime.getAsLong();
    if (everTold && now - toldNanos < TOLD_NANOS) {
      return;
    }
    everTold = true;
    toldNanos = now;
    long lost = refused.sum() + dropped.sum();
    LOG.warn(
        "{} does not accept traces: {}; {} spans lost since the last report",
        endpoint,
        fault == null ? "unknown reason" : root(fault).toString(),
        lost - lostBefore);
    lostBefore = lost;
  }

  private static Throwable root(Throwable fault) {
    Throwable cause = fault.getCause();
    return cause == null ? fault : cause;
  }

  @Override
  public CompletableResultCode flush() {
    return exporter.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return exporter.shutdown();
  }
}
