package dev.bourse.traces.otlp;

import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.sdk.trace.IdGenerator;
import java.util.random.RandomGenerator;

/** Generates ids from the service's own source of randomness. */
final class RandomIds implements IdGenerator {
  private final RandomGenerator random;

  RandomIds(RandomGenerator random) {
    this.random = random;
  }

  @Override
  public String generateSpanId() {
    return SpanId.fromLong(notZero());
  }

  @Override
  public String generateTraceId() {
    return TraceId.fromLongs(random.nextLong(), notZero());
  }

  /** Zero is not a valid id. */
  private long notZero() {
    long drawn = random.nextLong();
    return drawn == 0 ? 1 : drawn;
  }
}
