package dev.bourse.traces.otlp;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;

/**
 * Spans that have ended and wait to be sent, up to a bound; those beyond it are lost. The SDK's own
 * queue has the bound too, but does not say what it lost unless its metrics are taken along.
 */
final class SpanQueue implements SpanProcessor {
  /** Some 2 MB, and 200 requests that waited for the store now and then. */
  static final int MAX_WAITING = 2_048;

  private static final int BATCH = 512;

  /** A batch is sent when it is full, or after so long. */
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
    if (exporter.takesOneMore(MAX_WAITING)) {
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
