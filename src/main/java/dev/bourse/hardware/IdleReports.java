package dev.bourse.hardware;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.access.NodeAgent;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.NodeIdleness;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.schemas.vm.GpuMetricsJson;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which reports of idle and busy nodes are recorded ({@link NodeIdleness}): nothing for
 * clusters that keep idle nodes, one record a minute while a node has been idle for long enough,
 * and one when it stops being idle. A node that works writes nothing.
 */
public final class IdleReports {
  /** A GPU under this utilization is idle: drivers and monitoring take the rest. */
  private static final int BUSY_PERCENT = 2;

  /** Two records within the time for which one counts. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * After this idle time, a record of an earlier beginning has expired, with a minute for its way
   * to the store.
   */
  private static final long BROKEN_MILLIS = NodeIdleness.FRESH_MILLIS + 60_000;

  /** The nodes whose last records are remembered; for others, a report may be recorded again. */
  private static final int MOST_NODES = 100_000;

  private final Clusters clusters;
  private final NodeIdleness records;
  private final ConfirmedTime time;
  private final LongSupplier nanos;
  private final Cache<String, Recorded> recorded;

  /**
   * What this process recorded of a node.
   *
   * @param isIdle whether it was idle
   * @param untilNanos until when a report of the same kind needs no record
   */
  private record Recorded(boolean isIdle, long untilNanos) {}

  /**
   * @param nanos a monotonic clock
   */
  public IdleReports(
      Clusters clusters, NodeIdleness records, ConfirmedTime time, LongSupplier nanos) {
    this.clusters = clusters;
    this.records = records;
    this.time = time;
    this.nanos = nanos;
    this.recorded =
        Caffeine.newBuilder()
            .maximumSize(MOST_NODES)
            .expireAfterWrite(Duration.ofHours(1))
            .ticker(nanos::getAsLong)
            .executor(Runnable::run)
            .build();
  }

  /**
   * Takes a report of a node.
   *
   * @param gpus those that it has, each once
   * @param idleSeconds the node's idle time by its agent; null if the agent does not know it
   * @return completes when a record is stored, or at once if none is needed
   */
  Future<Void> note(NodeAgent agent, List<GpuMetricsJson> gpus, @Nullable Integer idleSeconds) {
    String allocationId = agent.allocationId();
    ClusterView view = clusters.findHolder(allocationId).orElse(null);
    Conditions.IdleRelease release =
        view == null ? null : Lapse.idleRelease(view.cluster()).orElse(null);
    OptionalLong now = time.undoubtedMillis();
    if (view == null || release == null || now.isEmpty()) {
      return Future.succeededFuture();
    }
    int expected = view.pool().gpusPerNode();
    boolean isIdle = gpus.size() == expected && gpus.stream().allMatch(IdleReports::isIdle);
    long idleMillis = isIdle && idleSeconds != null ? idleSeconds * 1_000L : 0;
    boolean isLong = idleMillis >= release.afterMillis();
    if (!isLong && idleMillis >= BROKEN_MILLIS) {
      return Future.succeededFuture();
    }
    long monotonic = nanos.getAsLong();
    Recorded last = recorded.getIfPresent(allocationId);
    boolean isKnown = last != null && last.isIdle == isLong && monotonic < last.untilNanos;
    if (isKnown && isLong) {
      return Future.succeededFuture();
    }
    long since = now.getAsLong() - idleMillis;
    // Until then no process can hear of an idle time that is long enough, so nothing can be voided.
    long harmlessNanos =
        TimeUnit.MILLISECONDS.toNanos(Conditions.IdleRelease.LEAST_MILLIS - idleMillis);
    recorded.put(
        allocationId, new Recorded(isLong, monotonic + (isLong ? REFRESH_NANOS : harmlessNanos)));
    return isKnown
        ? Future.succeededFuture()
        : (isLong
                ? records.recordIdle(allocationId, since, now.getAsLong())
                : records.recordBroken(allocationId, since))
            .onFailure(lost -> recorded.invalidate(allocationId));
  }

  private static boolean isIdle(GpuMetricsJson gpu) {
    Integer percent = gpu.utilizationPercent();
    return percent != null && percent < BUSY_PERCENT;
  }
}
