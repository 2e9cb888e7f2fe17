package dev.bourse.traces.otlp;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;

/**
 * A bounded queue of ended spans that wait to be exported; spans beyond the bound are dropped. The
 * SDK's own queue is bounded too, but reports its losses only through the SDK's metrics.
 */
final class SpanQueue implements SpanProcessor {
  /** Some 2 MB, or 200 requests with a few waits on the store. */
  static final int MAX_WAITING = 2_048;

  private static final int BATCH = 512;

  /** A batch is exported when it is full, or after this delay. */
  private static final Duration DELAY = Duration.ofSeconds(1);

  private final CountedExporter exporter;
  private final BatchSpanProcessor batches;

  SpanQueue(CountedExporter exporter) {
    this.exporter = exporter;
    this.batches =
        BatchSpanProcessor.builder(exporter)
            .setMaxQueueSize(MAX_WAITING)
            .setMaxExportBatchSize(BATCH)
            .setScheduleDelay(DELAY)
            .setExporterTimeout(CountedExporter.TIMEOUT.plusSeconds(1))
            .build();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {
    batches.onStart(parent, span);
  }

  @Override
  public boolean isStartRequired() {
    return batches.isStartRequired();
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (exporter.tryReserve(MAX_WAITING)) {
      batches.onEnd(span);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  @Override
  public CompletableResultCode forceFlush() {
    return batches.forceFlush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return batches.shutdown();
  }
}
