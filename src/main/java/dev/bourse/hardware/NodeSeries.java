package dev.bourse.hardware;

import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.schemas.vm.GpuSeriesJson;
import dev.bourse.schemas.vm.MetricSeriesJson;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The last hour of one node's measurements, in a ring of fixed size: one sample for each GPU and
 * interval. A later report within an interval replaces the earlier one, so the number of reports
 * does not matter. Thread-safe.
 */
final class NodeSeries {
  /** The length of an interval, in seconds: the agent's period. */
  static final int STEP_SECONDS = 30;

  /** The intervals of an hour. */
  static final int INTERVALS = 120;

  /** A node that has been silent for longer is unknown: it missed three reports. */
  static final long SILENCE_MILLIS = 120_000;

  private static final long STEP_MILLIS = STEP_SECONDS * 1_000L;

  /** The heap of this object and the latest measurements, beside the samples. */
  private static final int OBJECT_BYTES = 700;

  private static final int LATEST_BYTES = 250;

  // A sample's fields by their offset; each has the lowest value of its type if it is unknown.
  private static final int MEMORY = 0;
  private static final int POWER = 4;
  private static final int SM_CLOCK = 6;
  private static final int MEMORY_CLOCK = 8;
  private static final int UTILIZATION = 10;
  private static final int TEMPERATURE = 11;
  private static final int ECC_CORRECTED = 12;
  private static final int ECC_UNCORRECTED = 16;
  private static final int SAMPLE_BYTES = 20;

  private final int gpus;
  private final ByteBuffer samples;

  /** The number of the interval that each place of the ring has, counted from the epoch. */
  private final int[] intervals = new int[INTERVALS];

  private List<GpuMetricsJson> latest = List.of();
  private long heardAtMillis;

  /**
   * @param gpus the GPUs of the node
   */
  NodeSeries(int gpus) {
    this.gpus = gpus;
    samples = ByteBuffer.allocate(INTERVALS * gpus * SAMPLE_BYTES);
  }

  int gpus() {
    return gpus;
  }

  /** Returns the heap that this object takes, which never changes. */
  int bytes() {
    return OBJECT_BYTES + gpus * (INTERVALS * SAMPLE_BYTES + LATEST_BYTES);
  }

  /**
   * Records a report.
   *
   * @param reported the GPUs that it has, each once, with indexes below the node's number of GPUs
   * @param nowMillis the time of its arrival
   * @return whether it is the first of its interval
   */
  synchronized boolean record(List<GpuMetricsJson> reported, long nowMillis) {
    List<GpuMetricsJson> all = new ArrayList<>(unknown(gpus));
    reported.forEach(gpu -> all.set(gpu.index(), gpu));
    int interval = interval(nowMillis);
    int place = interval % INTERVALS;
    boolean isFirst = intervals[place] != interval;
    intervals[place] = interval;
    all.forEach(gpu -> write(offset(place, gpu.index()), gpu));
    latest = List.copyOf(all);
    heardAtMillis = nowMillis;
    return isFirst;
  }

  private static int interval(long millis) {
    return (int) (millis / STEP_MILLIS);
  }

  private int offset(int place, int gpu) {
    return (place * gpus + gpu) * SAMPLE_BYTES;
  }

  private void write(int at, GpuMetricsJson gpu) {
    samples.putInt(at + MEMORY, orLowest(gpu.memoryUsedMib(), Integer.MIN_VALUE));
    samples.putShort(at + POWER, (short) orLowest(gpu.powerW(), Short.MIN_VALUE));
    samples.putShort(at + SM_CLOCK, (short) orLowest(gpu.smClockMhz(), Short.MIN_VALUE));
    samples.putShort(at + MEMORY_CLOCK, (short) orLowest(gpu.memoryClockMhz(), Short.MIN_VALUE));
    samples.put(at + UTILIZATION, (byte) orLowest(gpu.utilizationPercent(), Byte.MIN_VALUE));
    samples.put(at + TEMPERATURE, (byte) orLowest(gpu.temperatureC(), Byte.MIN_VALUE));
    samples.putInt(at + ECC_CORRECTED, count(gpu.eccCorrected()));
    samples.putInt(at + ECC_UNCORRECTED, count(gpu.eccUncorrected()));
  }

  /** Returns a count of errors that fits a sample; the latest measurements have it unbounded. */
  private static int count(@Nullable Long errors) {
    return errors == null ? Integer.MIN_VALUE : (int) Math.min(errors, Integer.MAX_VALUE);
  }

  private static int orLowest(@Nullable Integer value, int lowest) {
    return value == null ? lowest : value;
  }

  /** Returns the time of the last report. */
  synchronized long heardAtMillis() {
    return heardAtMillis;
  }

  /** Returns the latest measurements; all are unknown if the node has been silent for too long. */
  synchronized List<GpuMetricsJson> latest(long nowMillis) {
    return Math.abs(nowMillis - heardAtMillis) <= SILENCE_MILLIS ? latest : unknown(gpus);
  }

  /** Returns GPUs without a known value. */
  static List<GpuMetricsJson> unknown(int gpus) {
    return IntStream.range(0, gpus)
        .mapToObj(
            index ->
                new GpuMetricsJson(index, null, null, null, null, null, null, null, null, null))
        .toList();
  }

  /** Returns the last hour, of which the last interval is the present one. */
  synchronized MetricSeriesJson lastHour(long nowMillis) {
    int first = interval(nowMillis) - INTERVALS + 1;
    return new MetricSeriesJson(
        (long) first * STEP_SECONDS,
        STEP_SECONDS,
        IntStream.range(0, gpus)
            .mapToObj(
                gpu ->
                    new GpuSeriesJson(
                        gpu,
                        values(first, gpu, UTILIZATION),
                        values(first, gpu, MEMORY),
                        values(first, gpu, TEMPERATURE),
                        values(first, gpu, POWER),
                        values(first, gpu, SM_CLOCK),
                        values(first, gpu, MEMORY_CLOCK),
                        values(first, gpu, ECC_CORRECTED),
                        values(first, gpu, ECC_UNCORRECTED)))
            .toList());
  }

  /** Returns the last hour of a node that has not reported. */
  static MetricSeriesJson unknownHour(int gpus, long nowMillis) {
    return new NodeSeries(gpus).lastHour(nowMillis);
  }

  private List<@Nullable Integer> values(int first, int gpu, int field) {
    List<@Nullable Integer> values = new ArrayList<>(INTERVALS);
    for (int interval = first; interval < first + INTERVALS; interval++) {
      int place = Math.floorMod(interval, INTERVALS);
      values.add(intervals[place] == interval ? value(offset(place, gpu), field) : null);
    }
    return values;
  }

  private @Nullable Integer value(int at, int field) {
    return switch (field) {
      case MEMORY, ECC_CORRECTED, ECC_UNCORRECTED ->
          known(samples.getInt(at + field), Integer.MIN_VALUE);
      case UTILIZATION, TEMPERATURE -> known(samples.get(at + field), Byte.MIN_VALUE);
      default -> known(samples.getShort(at + field), Short.MIN_VALUE);
    };
  }

  private static @Nullable Integer known(int value, int lowest) {
    return value == lowest ? null : value;
  }
}
