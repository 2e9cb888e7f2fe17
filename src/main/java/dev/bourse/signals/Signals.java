package dev.bourse.signals;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metrics of one process. A callback that reads a number runs on any thread, reads memory only
 * and does not wait. One that throws is left out of that scrape, and counted.
 *
 * <p>No metric has exemplars. The text format does not print them, and the library would ask
 * OpenTelemetry, which is on the class path for traces, for one at each observation.
 */
public final class Signals {
  /** The content type of {@link #print}. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  private static final Logger LOG = LoggerFactory.getLogger(Signals.class);

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final SortedMap<String, Signal> all = new ConcurrentSkipListMap<>();
  private final LongAdder unreadable = new LongAdder();

  public Signals() {
    counter(
        "bourse_signals_unreadable_total",
        "Metrics left out of a scrape because reading them failed; an internal error.",
        unreadable::sum);
  }

  /** Receives the numbers of one metric, one for each combination of labels. */
  public interface Readings {
    /**
     * Sets the number of a series.
     *
     * @param labels values of the labels, in order
     */
    void put(double number, String... labels);

    /** Sets the count of a series; counts above 2^53 are rounded. */
    default void put(long count, String... labels) {
      put((double) count, labels);
    }
  }

  /** Records durations. */
  public interface Times {
    /**
     * Returns the recorder of one series, and creates the series. Frequent callers keep it.
     *
     * @param labels values of the labels, in order
     * @return takes nanoseconds
     */
    LongConsumer at(String... labels);

    /** Records one duration. */
    default void took(long nanos, String... labels) {
      at(labels).accept(nanos);
    }
  }

  /** Counts events. */
  public interface Tally {
    /**
     * Returns a counter that adds one to a series, at the cost of a striped counter, and creates
     * the series. Frequent callers keep it.
     *
     * @param labels values of the labels, in order
     */
    Runnable at(String... labels);

    /** Counts one event. */
    default void add(String... labels) {
      at(labels).run();
    }
  }

  /** Registers a number that only grows. */
  public void counter(String name, String meaning, LongSupplier now) {
    declare(name, Signal.Type.COUNTER, meaning, List.of());
    CounterWithCallback.builder()
        .name(name)
        .help(meaning)
        .callback(callback -> reading(name, () -> callback.call((double) now.getAsLong())))
        .register(registry);
  }

  /** Registers numbers that only grow, by labels. */
  public void counters(String name, String meaning, List<Label> labels, Consumer<Readings> now) {
    declare(name, Signal.Type.COUNTER, meaning, labels);
    CounterWithCallback.builder()
        .name(name)
        .help(meaning)
        .labelNames(texts(labels))
        .callback(callback -> reading(name, () -> now.accept(callback::call)))
        .register(registry);
  }

  /** Registers a number that grows and shrinks; it is not printed while it is {@code NaN}. */
  public void gauge(String name, String meaning, DoubleSupplier now) {
    declare(name, Signal.Type.GAUGE, meaning, List.of());
    GaugeWithCallback.builder()
        .name(name)
        .help(meaning)
        .callback(
            callback ->
                reading(
                    name,
                    () -> {
                      double number = now.getAsDouble();
                      if (!Double.isNaN(number)) {
                        callback.call(number);
                      }
                    }))
        .register(registry);
  }

  /**
   * Registers a constant text in Prometheus' info style: the text is a label and the number is 1.
   *
   * @param name ending in {@code _info}
   */
  public void fact(String name, String meaning, Label label, String text) {
    declare(name, Signal.Type.GAUGE, meaning, List.of(label));
    Info.builder()
        .name(name)
        .help(meaning)
        .labelNames(label.text())
        .register(registry)
        .addLabelValues(text);
  }

  /** Registers numbers that grow and shrink, by labels; the series may come and go. */
  public void gauges(String name, String meaning, List<Label> labels, Consumer<Readings> now) {
    declare(name, Signal.Type.GAUGE, meaning, labels);
    GaugeWithCallback.builder()
        .name(name)
        .help(meaning)
        .labelNames(texts(labels))
        .callback(callback -> reading(name, () -> now.accept(callback::call)))
        .register(registry);
  }

  /** Registers a counter of events, by labels; a series begins with its first event. */
  public Tally tally(String name, String meaning, List<Label> labels) {
    declare(name, Signal.Type.COUNTER, meaning, labels);
    Counter counter =
        Counter.builder()
            .name(name)
            .help(meaning)
            .labelNames(texts(labels))
            .withoutExemplars()
            .register(registry);
    return values -> {
      CounterDataPoint point = counter.labelValues(values);
      return point::inc;
    };
  }

  /**
   * Registers a histogram of sizes.
   *
   * @param bounds upper bounds of the buckets, ascending
   * @return takes a size
   */
  public LongConsumer sizes(String name, String meaning, double... bounds) {
    declare(name, Signal.Type.HISTOGRAM, meaning, List.of());
    Histogram histogram =
        Histogram.builder()
            .name(name)
            .help(meaning)
            .classicOnly()
            .withoutExemplars()
            .classicUpperBounds(bounds)
            .register(registry);
    return histogram::observe;
  }

  /**
   * Registers a histogram of durations, by labels; a series begins with its first observation.
   *
   * @param bounds upper bounds of the buckets, in seconds, ascending
   */
  public Times times(String name, String meaning, List<Label> labels, double... bounds) {
    declare(name, Signal.Type.HISTOGRAM, meaning, labels);
    Histogram histogram =
        Histogram.builder()
            .name(name)
            .help(meaning)
            .labelNames(texts(labels))
            .classicOnly()
            .withoutExemplars()
            .classicUpperBounds(bounds)
            .register(registry);
    return values -> {
      DistributionDataPoint point = histogram.labelValues(values);
      return nanos -> point.observe(nanos / 1e9);
    };
  }

  private void declare(String name, Signal.Type type, String meaning, List<Label> labels) {
    if (all.putIfAbsent(name, new Signal(name, type, meaning, labels)) != null) {
      throw new IllegalArgumentException(name + " is registered twice");
    }
  }

  private static String[] texts(List<Label> labels) {
    return labels.stream().map(Label::text).toArray(String[]::new);
  }

  /** A number that cannot be read must not hide the others. */
  private void reading(String name, Runnable read) {
    try {
      read.run();
    } catch (RuntimeException fault) {
      unreadable.increment();
      LOG.warn("{} could not be read for a scrape", name, fault);
    }
  }

  /** Returns all metrics, by name. */
  public List<Signal> all() {
    return List.copyOf(all.values());
  }

  /**
   * Prints all metrics in Prometheus' text format. Takes some milliseconds: not for an event loop.
   */
  public byte[] print() {
    ByteArrayOutputStream text = new ByteArrayOutputStream(16_384);
    try {
      PrometheusTextFormatWriter.create().write(text, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return text.toByteArray();
  }
}
