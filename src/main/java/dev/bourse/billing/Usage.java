package dev.bourse.billing;

import dev.bourse.core.Price;
import dev.bourse.schemas.billing.SpanJson;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Computes the bill of a cluster from change points alone: the nodes it held, the pool's clearing
 * prices and its declared ceilings. Pure, so that anybody with the change points computes the same
 * micro-dollar.
 */
public final class Usage {
  /** The granularity of billing: one line for each cluster and UTC hour. */
  public static final long HOUR_MILLIS = 3_600_000;

  private Usage() {}

  /**
   * A node that a cluster held.
   *
   * @param gpus its GPUs, at least 1
   * @param fromMillis when its grant was complete and the node active
   * @param toMillis when its reclaim began; null while it is held
   * @param lock the price lock of its protection; null if its price is not locked
   * @param allocationId the allocation, for credits; empty where no credits are computed
   */
  public record Held(
      int gpus,
      long fromMillis,
      @Nullable Long toMillis,
      @Nullable Lock lock,
      String allocationId) {
    /** Creates a holding without the allocation, where no credits are computed. */
    public Held(int gpus, long fromMillis, @Nullable Long toMillis, @Nullable Lock lock) {
      this(gpus, fromMillis, toMillis, lock, "");
    }

    /** Creates a holding without an allocation and a price lock. */
    public Held(int gpus, long fromMillis, @Nullable Long toMillis) {
      this(gpus, fromMillis, toMillis, null);
    }

    public Held {
      if (gpus < 1) {
        throw new IllegalArgumentException("a node has at least 1 GPU, not %d".formatted(gpus));
      }
    }
  }

  /**
   * The price ceiling of a protected node.
   *
   * @param cents cents per GPU-hour, the organization's price at the grant
   * @param untilMillis end of its protection
   */
  public record Lock(long cents, long untilMillis) {}

  /**
   * A change point of a price.
   *
   * @param atMillis when the price begins
   * @param cents cents per GPU-hour; null for no price
   */
  public record ChangePoint(long atMillis, @Nullable Long cents) {
    public ChangePoint {
      if (cents != null && cents < 0) {
        throw new IllegalArgumentException(
            "price of %d cents from %d on: must not be negative".formatted(cents, atMillis));
      }
    }
  }

  /**
   * The inputs of a cluster's bill.
   *
   * @param held every node it held at some time of the span
   * @param prices change points of its organization's price, including the one in force at the
   *     start of the span; of several at one moment the last counts
   * @param ceilings change points of the ceiling in force, likewise
   */
  public record Timeline(
      String cluster, List<Held> held, List<ChangePoint> prices, List<ChangePoint> ceilings) {
    public Timeline {
      held = List.copyOf(held);
      prices = sorted(prices);
      ceilings = sorted(ceilings);
    }

    private static List<ChangePoint> sorted(List<ChangePoint> points) {
      // The sort is stable, so that of changes at one moment the one stored later stays later.
      return points.stream().sorted(Comparator.comparingLong(ChangePoint::atMillis)).toList();
    }
  }

  /**
   * A stretch of time without changes.
   *
   * @param gpus GPUs held with the same price lock
   * @param clearingCents the organization's price
   * @param ceilingCents the ceiling in force
   * @param lockCents the price lock of protected nodes; null for other nodes
   */
  public record Span(
      long fromMillis,
      long toMillis,
      long gpus,
      long clearingCents,
      long ceilingCents,
      @Nullable Long lockCents) {
    public Span {
      if (fromMillis >= toMillis || gpus < 1) {
        throw new IllegalArgumentException(
            "%d GPUs from %d to %d: GPUs and duration must be positive"
                .formatted(gpus, fromMillis, toMillis));
      }
    }

    /** Returns the rate, cents per GPU-hour: the lowest of the three. */
    public long rateCents() {
      long most = Math.min(clearingCents, ceilingCents);
      return lockCents == null ? most : Math.min(most, lockCents);
    }

    /** Returns the GPU-milliseconds. */
    public long gpuMillis() {
      return Math.multiplyExact(gpus, toMillis - fromMillis);
    }

    /** Returns rate x GPU-milliseconds. */
    public long centGpuMillis() {
      return Math.multiplyExact(rateCents(), gpuMillis());
    }

    SpanJson toJson() {
      return new SpanJson(
          fromMillis,
          toMillis,
          gpus,
          Price.toUsd(clearingCents),
          Price.toUsd(ceilingCents),
          Price.toUsdOrNull(lockCents),
          Price.toUsd(rateCents()),
          gpuMillis(),
          centGpuMillis());
    }
  }

  /**
   * The bill of a cluster for one UTC hour.
   *
   * @param hourMillis start of the hour
   * @param gpuMillis GPU-milliseconds billed
   * @param centGpuMillis the sum of rate x GPU-milliseconds over the hour
   */
  public record Line(String cluster, long hourMillis, long gpuMillis, long centGpuMillis) {
    public Line {
      if (hourMillis % HOUR_MILLIS != 0 || gpuMillis < 0 || centGpuMillis < 0) {
        throw new IllegalArgumentException(
            "line of %s at %d for %d GPU-ms and %d cent GPU-ms: must begin on the hour"
                .formatted(cluster, hourMillis, gpuMillis, centGpuMillis));
      }
    }

    /** Returns the amount in micro-dollars, rounded down: once for each line and nowhere else. */
    public long amountMicros() {
      return centGpuMillis / Price.CENT_GPU_MILLIS_PER_MICRO;
    }
  }

  /** Returns the start of the hour of a moment. */
  public static long hourOf(long millis) {
    return Math.floorDiv(millis, HOUR_MILLIS) * HOUR_MILLIS;
  }

  /**
   * Returns the spans billed in an interval, in order, none across a full hour. Nodes with
   * different price locks have a span each for the same time. Time without a price in force is not
   * billed.
   *
   * @throws ArithmeticException when an hour costs more than 25 billion dollars
   */
  public static List<Span> spans(Timeline timeline, long fromMillis, long toMillis) {
    TreeMap<Long, Map<Long, Long>> changes = new TreeMap<>();
    for (Held held : timeline.held()) {
      long begin = Math.max(fromMillis, held.fromMillis());
      long end = held.toMillis() == null ? toMillis : Math.min(toMillis, held.toMillis());
      Lock lock = held.lock();
      long unlocked = lock == null ? begin : Math.min(end, Math.max(begin, lock.untilMillis()));
      if (lock != null) {
        hold(changes, lock.cents(), held.gpus(), begin, unlocked);
      }
      hold(changes, NOT_LOCKED, held.gpus(), unlocked, end);
    }
    if (changes.isEmpty()) {
      return List.of();
    }
    long first = changes.firstKey();
    long last = changes.lastKey();
    for (long hour = hourOf(first) + HOUR_MILLIS; hour < last; hour += HOUR_MILLIS) {
      changes.putIfAbsent(hour, Map.of());
    }
    List<ChangePoint> points = new ArrayList<>(timeline.prices());
    points.addAll(timeline.ceilings());
    for (ChangePoint point : points) {
      if (first < point.atMillis() && point.atMillis() < last) {
        changes.putIfAbsent(point.atMillis(), Map.of());
      }
    }
    return sweep(timeline, changes);
  }

  /** The key of nodes without a price lock, higher than any price. */
  private static final long NOT_LOCKED = Long.MAX_VALUE;

  /** Adds a change of the number of GPUs that are locked at a price. */
  private static void hold(
      Map<Long, Map<Long, Long>> changes, long cents, long gpus, long begin, long end) {
    if (begin < end) {
      changes.computeIfAbsent(begin, at -> new TreeMap<>()).merge(cents, gpus, Long::sum);
      changes.computeIfAbsent(end, at -> new TreeMap<>()).merge(cents, -gpus, Long::sum);
    }
  }

  private static List<Span> sweep(Timeline timeline, SortedMap<Long, Map<Long, Long>> changes) {
    List<Span> spans = new ArrayList<>();
    Cursor price = new Cursor(timeline.prices());
    Cursor ceiling = new Cursor(timeline.ceilings());
    TreeMap<Long, Long> held = new TreeMap<>();
    long since = changes.firstKey();
    for (Map.Entry<Long, Map<Long, Long>> change : changes.entrySet()) {
      long at = change.getKey();
      Long clearing = price.at(since);
      Long most = ceiling.at(since);
      if (clearing != null && most != null) {
        for (Map.Entry<Long, Long> alike : held.entrySet()) {
          Long lock = alike.getKey() == NOT_LOCKED ? null : alike.getKey();
          spans.add(new Span(since, at, alike.getValue(), clearing, most, lock));
        }
      }
      change.getValue().forEach((cents, gpus) -> held.merge(cents, gpus, Usage::sumOrNone));
      since = at;
    }
    return spans;
  }

  private static @Nullable Long sumOrNone(long before, long change) {
    long sum = before + change;
    return sum == 0 ? null : sum;
  }

  /** Walks change points forward in time. */
  private static final class Cursor {
    private final List<ChangePoint> points;
    private int next;

    Cursor(List<ChangePoint> points) {
      this.points = points;
    }

    /**
     * Returns the value in force at a moment, which is no earlier than that of the previous call.
     */
    @Nullable Long at(long millis) {
      while (next < points.size() && points.get(next).atMillis() <= millis) {
        next++;
      }
      return next == 0 ? null : points.get(next - 1).cents();
    }
  }

  /** Returns the lines of a span of time, by hour; hours without billing have none. */
  public static List<Line> lines(Timeline timeline, long fromMillis, long toMillis) {
    TreeMap<Long, Line> byHour = new TreeMap<>();
    for (Span span : spans(timeline, fromMillis, toMillis)) {
      long hour = hourOf(span.fromMillis());
      byHour.merge(
          hour,
          new Line(timeline.cluster(), hour, span.gpuMillis(), span.centGpuMillis()),
          (a, b) ->
              new Line(
                  timeline.cluster(),
                  hour,
                  Math.addExact(a.gpuMillis(), b.gpuMillis()),
                  Math.addExact(a.centGpuMillis(), b.centGpuMillis())));
    }
    return List.copyOf(byHour.values());
  }
}
