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
 * The numbers of one process. What is given here to read them is called on any thread, reads what
 * is in memory and does not wait; one that throws is left out of that scrape, and counted.
 *
 * <p>None has exemplars, which the text format does not print: each time that something is counted
 * the library would ask OpenTelemetry, which is there for traces, whether there is one.
 */
public final class Signals {
  /** Of the text that {@link #print} makes. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  private static final Logger LOG = LoggerFactory.getLogger(Signals.class);

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final SortedMap<String, Signal> all = new ConcurrentSkipListMap<>();
  private final LongAdder unreadable = new LongAdder();

  public Signals() {
    counter(
        "bourse_signals_unreadable_total",
        "Readings for a scrape that failed; the number was left out. A fault of the program.",
        unreadable::sum);
  }

  /** Told the number of one combination of labels. */
  public interface Readings {
    /**
     * It is so much.
     *
     * @param labels the labels' values, in order
     */
    void put(double number, String... labels);

    /** It is so many; a count above 2^53 is not told exactly. */
    default void put(long count, String... labels) {
      put((double) count, labels);
    }
  }

  /** Told how long things took. */
  public interface Times {
    /**
     * What is told so of one series; whoever is told often keeps it. The series begins here.
     *
     * @param labels the labels' values, in order
     * @return takes nanoseconds
     */
    LongConsumer at(String... labels);

    /** It took so long. */
    default void took(long nanos, String... labels) {
      at(labels).accept(nanos);
    }
  }

  /** Told that things happened. */
  public interface Tally {
    /**
     * What adds one to a series, at the cost of a striped counter; whoever adds often keeps it. The
     * series begins here.
     *
     * @param labels the labels' values, in order
     */
    Runnable at(String... labels);

    /** It happened once. */
    default void add(String... labels) {
      at(labels).run();
    }
  }

  /** Shows a number that only grows. */
  public void counter(String name, String meaning, LongSupplier now) {
    declare(name, Signal.Type.COUNTER, meaning, List.of());
    CounterWithCallback.builder()
        .name(name)
        .help(meaning)
        .callback(callback -> reading(name, () -> callback.call((double) now.getAsLong())))
        .register(registry);
  }

  /** Shows numbers that only grow, by labels. */
  public void counters(String name, String meaning, List<Label> labels, Consumer<Readings> now) {
    declare(name, Signal.Type.COUNTER, meaning, labels);
    CounterWithCallback.builder()
        .name(name)
        .help(meaning)
        .labelNames(texts(labels))
        .callback(callback -> reading(name, () -> now.accept(callback::call)))
        .register(registry);
  }

  /** Shows a number that grows and shrinks; nothing while it is {@code NaN}. */
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
   * Shows what does not change, as Prometheus has it: the text is a label, and the number 1.
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

  /** Shows numbers that come and go, by labels. */
  public void gauges(String name, String meaning, List<Label> labels, Consumer<Readings> now) {
    declare(name, Signal.Type.GAUGE, meaning, labels);
    GaugeWithCallback.builder()
        .name(name)
        .help(meaning)
        .labelNames(texts(labels))
        .callback(callback -> reading(name, () -> now.accept(callback::call)))
        .register(registry);
  }

  /** Shows how often something happens, by labels; a series begins when it first does. */
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
   * Shows how many of something there are each time.
   *
   * @param bounds of the buckets, ascending
   * @return takes how many
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
   * Shows how long something takes, by labels; a series begins when it first does.
   *
   * @param bounds of the buckets, in seconds, ascending
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
      throw new IllegalArgumentException(name + " is shown already");
    }
  }

  private static String[] texts(List<Label> labels) {
    return labels.stream().map(Label::text).toArray(String[]::new);
  }

  /** One number that cannot be read must not hide the others. */
  private void reading(String name, Runnable read) {
    try {
      read.run();
    } catch (RuntimeException fault) {
      unreadable.increment();
      LOG.warn("{} could not be read for a scrape", name, fault);
    }
  }

  /** All that is shown, by name. */
  public List<Signal> all() {
    return List.copyOf(all.values());
  }

  /** All numbers in Prometheus' text format. Takes some milliseconds: not for an event loop. */
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
