package dev.bourse.traces;

import dev.bourse.core.BaseUrl;
import dev.bourse.core.Settings;
import java.util.Optional;

/**
 * Settings of the export of traces.
 *
 * @param endpoint {@code trace.endpoint}: the address of a collector, without the path
 * @param sample {@code trace.sample}: the share of requests that are traced, 0 to 1
 */
public record TraceConfig(String endpoint, double sample) {
  private static final double USUAL = 0.01;

  /** Reads the settings; empty if tracing is off. */
  public static Optional<TraceConfig> from(Settings settings) {
    String endpoint = settings.text("trace.endpoint", "");
    double sample = settings.fraction("trace.sample", USUAL);
    if (endpoint.isEmpty()) {
      return Optional.empty();
    }
    if (!BaseUrl.isOne(endpoint)) {
      settings.fault("trace.endpoint", endpoint, BaseUrl.ACCEPTED);
    }
    return Optional.of(new TraceConfig(endpoint, sample));
  }
}
