package dev.bourse.scrape;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The text of a scrape of 1,000 nodes of eight GPUs, 72,000 series, beside the Prometheus client's
 * writer with the same series.
 *
 * <p>Run: {@code mvn -Pbench test-compile}, then {@code org.openjdk.jmh.Main ScrapeBench} on the
 * test class path, as {@code scripts/bench jmh} does. Goal: at least as fast as the client.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
public class ScrapeBench {
  private static final int NODES = 1_000;
  private static final int GPUS = 8;
  private static final int FAMILIES = 9;

  private final List<String> nodes =
      IntStream.range(0, NODES).mapToObj(n -> "198.18." + n / 256 + '.' + n % 256).toList();

  @Benchmark
  public int pieces() {
    List<MetricFamily<String>> families = new ArrayList<>();
    for (int i = 0; i < FAMILIES; i++) {
      families.add(
          MetricFamily.gauge(
              "bourse_gpu_watts" + i,
              "Power.",
              nodes,
              (node, out) -> {
                String labels = MetricFamily.labels("cluster", "acme-train", "node", node);
                for (int gpu = 0; gpu < GPUS; gpu++) {
                  out.put(labels + ",gpu=\"" + gpu + '"', Long.toString(600 + gpu));
                }
              }));
    }
    MetricsText text = new MetricsText(families);
    int bytes = 0;
    for (var piece = text.next(); piece.isPresent(); piece = text.next()) {
      bytes += piece.get().length();
    }
    return bytes;
  }

  @Benchmark
  public int client() throws IOException {
    PrometheusRegistry registry = new PrometheusRegistry();
    for (int i = 0; i < FAMILIES; i++) {
      GaugeWithCallback.builder()
          .name("bourse_gpu_watts" + i)
          .help("Power.")
          .labelNames("cluster", "node", "gpu")
          .callback(
              callback ->
                  nodes.forEach(
                      node ->
                          IntStream.range(0, GPUS)
                              .forEach(
                                  gpu ->
                                      callback.call(
                                          600 + gpu, "acme-train", node, Integer.toString(gpu)))))
          .register(registry);
    }
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    OpenMetricsTextFormatWriter.create().write(text, registry.scrape());
    return text.size();
  }
}
