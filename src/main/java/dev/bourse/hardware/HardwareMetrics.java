package dev.bourse.hardware;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import dev.bourse.access.NodeAgent;
import dev.bourse.access.Principal;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.schemas.vm.MetricSeriesJson;
import dev.bourse.schemas.vm.NodeMetricsJson;
import dev.bourse.schemas.vm.NodeMetricsListJson;
import dev.bourse.signals.Signals;
import java.time.Clock;
import java.time.Duration;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The measurements that this process received within the last hour, by allocation. Only open
 * allocations are read and written; those of ended ones expire.
 */
public final class HardwareMetrics {
  /** The part of the heap that series may take. */
  private static final int HEAP_PARTS = 8;

  private final Clusters clusters;
  private final ClusterAccess access;
  private final LongSupplier millis;
  private final Cache<String, NodeSeries> series;
  private final LongAdder displaced = new LongAdder();

  /**
   * @param nanos a monotonic clock
   */
  public HardwareMetrics(Clusters clusters, Clock clock, LongSupplier nanos) {
    this(clusters, clock::millis, nanos, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
  }

  /**
   * @param maxBytes the heap that all series together may take; beyond that some are dropped
   */
  HardwareMetrics(Clusters clusters, LongSupplier millis, LongSupplier nanos, long maxBytes) {
    this.clusters = clusters;
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.millis = millis;
    this.series =
        Caffeine.newBuilder()
            .maximumWeight(maxBytes)
            .weigher((String id, NodeSeries node) -> node.bytes())
            .expireAfterWrite(
                Duration.ofSeconds((long) NodeSeries.STEP_SECONDS * NodeSeries.INTERVALS))
            .ticker(nanos::getAsLong)
            .evictionListener(
                (@Nullable String id, @Nullable NodeSeries node, RemovalCause cause) -> {
                  if (cause == RemovalCause.SIZE) {
                    displaced.increment();
                  }
                })
            .executor(Runnable::run)
            .build();
  }

  /** Registers the metrics of reports. */
  public void registerMetrics(Signals signals) {
    signals.gauge(
        "bourse_reporting_nodes",
        "Nodes whose agents reported to this process within the last hour.",
        this::nodes);
    signals.counter(
        "bourse_node_series_displaced_total",
        "Series of nodes that were dropped because all series together took too much memory.",
        displaced::sum);
  }

  /** Returns the number of nodes that reported within the last hour. */
  long nodes() {
    series.cleanUp();
    return series.estimatedSize();
  }

  /**
   * Records a report of a node.
   *
   * @return the time of its arrival
   */
  long report(NodeAgent agent, List<GpuMetricsJson> gpus) {
    int expected =
        clusters
            .findHolder(agent.allocationId())
            .map(view -> view.pool().gpusPerNode())
            .orElseThrow(
                () -> ApiException.of(ErrorCode.UNAUTHORIZED, "the node's allocation has ended"));
    return report(agent.allocationId(), expected, gpus);
  }

  /**
   * Records a report of an allocation.
   *
   * @param expected the number of its node's GPUs
   */
  long report(String allocationId, int expected, List<GpuMetricsJson> gpus) {
    BitSet seen = new BitSet();
    for (GpuMetricsJson gpu : gpus) {
      if (gpu.index() >= expected) {
        throw ApiException.of(
            ErrorCode.BAD_REQUEST,
            "gpus: index %s is not below %s, the gpus_per_node of this node's pool",
            gpu.index(),
            expected);
      }
      if (seen.get(gpu.index())) {
        throw ApiException.of(
            ErrorCode.BAD_REQUEST, "gpus: index %s is repeated; send each GPU once", gpu.index());
      }
      seen.set(gpu.index());
    }
    long now = millis.getAsLong();
    NodeSeries known = find(allocationId);
    NodeSeries node = known == null || known.gpus() != expected ? new NodeSeries(expected) : known;
    // The time until a series expires begins at its last write. One that is written more often than
    // others displaces them when the room is full, so reports beyond one an interval do not count.
    if (node.record(gpus, now) || node != known) {
      series.put(allocationId, node);
    }
    return now;
  }

  /**
   * Returns a page of the latest measurements of a cluster's nodes by address, or one node with its
   * last hour.
   *
   * @param publicIp the node; empty for all
   * @param after the address before the page; empty for the first
   */
  NodeMetricsListJson read(
      Principal caller,
      Optional<String> cluster,
      Optional<String> publicIp,
      String after,
      int limit) {
    ClusterView view = access.resolve(caller, cluster);
    if (publicIp.isPresent()) {
      NodeReading reading = find(view, publicIp.get());
      return new NodeMetricsListJson(
          view.cluster().name(), List.of(toJson(reading, lastHour(view, reading))), false, null);
    }
    Page<NodeMetricsJson> page =
        Page.of(
            read(view, after).limit(limit + 1L).map(reading -> toJson(reading, null)).toList(),
            limit);
    return new NodeMetricsListJson(
        view.cluster().name(),
        page.items(),
        page.more(),
        page.more() ? page.last().publicIp() : null);
  }

  private static NodeMetricsJson toJson(NodeReading reading, @Nullable MetricSeriesJson hour) {
    return new NodeMetricsJson(reading.node(), reading.heardAtMillis(), reading.gpus(), hour);
  }

  /**
   * Returns the readings of a cluster's held nodes in the order of their names; a node without a
   * name on the cluster's surface has none. Each is read when the stream reaches it.
   *
   * @param after only nodes with later names; empty for all
   */
  public Stream<NodeReading> read(ClusterView view, String after) {
    Cluster cluster = view.cluster();
    return cluster.allocations().stream()
        .filter(Allocation::isOpen)
        .filter(held -> cluster.nameOf(held) != null && name(cluster, held).compareTo(after) > 0)
        .sorted(Comparator.comparing(held -> name(cluster, held)))
        .map(held -> read(view, held));
  }

  /**
   * Returns the reading of one node that a cluster holds.
   *
   * @param node its name on the cluster's surface
   */
  public NodeReading find(ClusterView view, String node) {
    return view.cluster().allocations().stream()
        .filter(held -> held.isOpen() && node.equals(view.cluster().nameOf(held)))
        .findFirst()
        .map(held -> read(view, held))
        .orElseThrow(() -> ApiException.notFound("node", node));
  }

  private static String name(Cluster cluster, Allocation held) {
    return Objects.requireNonNull(cluster.nameOf(held), held.allocationId());
  }

  private NodeReading read(ClusterView view, Allocation held) {
    NodeSeries node = find(held.allocationId());
    return new NodeReading(
        name(view.cluster(), held),
        held,
        node == null ? null : node.heardAtMillis(),
        node == null
            ? NodeSeries.unknown(view.pool().gpusPerNode())
            : node.latest(millis.getAsLong()));
  }

  /** Returns the last hour of a node. */
  public MetricSeriesJson lastHour(ClusterView view, NodeReading reading) {
    NodeSeries node = find(reading.held().allocationId());
    long now = millis.getAsLong();
    return node == null
        ? NodeSeries.unknownHour(view.pool().gpusPerNode(), now)
        : node.lastHour(now);
  }

  private @Nullable NodeSeries find(String allocationId) {
    return series.policy().getIfPresentQuietly(allocationId);
  }

  /**
   * Returns the mean utilization of a cluster's held GPUs, from 0 to 1; empty if no agent reported
   * any within the last two minutes.
   */
  public OptionalDouble utilisation(Cluster cluster) {
    long now = millis.getAsLong();
    OptionalDouble percent =
        cluster.allocations().stream()
            .filter(Allocation::isOpen)
            .map(held -> find(held.allocationId()))
            .filter(Objects::nonNull)
            .flatMap(node -> node.latest(now).stream())
            .map(GpuMetricsJson::utilizationPercent)
            .filter(Objects::nonNull)
            .mapToInt(Integer::intValue)
            .average();
    return percent.isPresent()
        ? OptionalDouble.of(Math.round(percent.getAsDouble() * 100) / 10_000.0)
        : percent;
  }
}
