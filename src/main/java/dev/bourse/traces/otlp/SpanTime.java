package dev.bourse.traces.otlp;

import io.opentelemetry.sdk.common.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Adapts the service's clocks to the SDK's interface. */
final class SpanTime implements Clock {
  private final java.time.Clock clock;
  private final LongSupplier nanoTime;

  SpanTime(java.time.Clock clock, LongSupplier nanoTime) {
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  @Override
  public long now() {
    Instant now = clock.instant();
    return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
  }

  @Override
  public long nanoTime() {
    return nanoTime.getAsLong();
  }
}
