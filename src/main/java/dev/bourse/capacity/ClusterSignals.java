package dev.bourse.capacity;

import dev.bourse.logs.RequestContext;
import dev.bourse.pools.Pool;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs the events of clusters that this process causes: grants, reclaims, notices and
 * holds. Metrics are labelled by pool, because there are too many clusters for labels.
 */
final class ClusterSignals {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterSignals.class);

  /**
   * The kind for a seat or a new node given up. Activity has no such entry, so it is counted here.
   */
  private static final String GAVE_UP = "gave-up";

  private record PoolLabel(String pool, String value) {}

  /** Events that are not logged yet. Guarded by its own lock. */
  private final EventTally unlogged = new EventTally();

  private final Map<PoolLabel, LongAdder> events = new ConcurrentHashMap<>();
  private final Map<PoolLabel, LongAdder> reclaims = new ConcurrentHashMap<>();

  /**
   * Records a stored change of a cluster. Events of a request are logged at once, in its context;
   * events of the market are logged together with the others of its tick.
   *
   * @return true if the caller must schedule {@link #log}
   */
  boolean recordStored(Transition change) {
    Cluster cluster = change.next();
    if (change.hasGivenUp()) {
      count(events, cluster.pool(), GAVE_UP);
      LOG.info(
          "organization {} gave up seats or new nodes of cluster {}, or refused a node, and ranks"
              + " last in pool {} for {} s",
          cluster.orgId(),
          cluster.name(),
          cluster.pool(),
          Standing.LAST_MILLIS / 1_000);
    }
    EventTally ofRequest = new EventTally();
    boolean isRequest = RequestContext.current() != null;
    boolean isFirst = false;
    for (Activity entry : change.activity()) {
      ClusterEvent event = entry.event();
      String kind = event.kind();
      if (kind == null) {
        continue;
      }
      count(events, cluster.pool(), kind);
      if (event instanceof ClusterEvent.Released released) {
        count(reclaims, cluster.pool(), released.reason().label());
      }
      if (isRequest) {
        ofRequest.add(cluster.pool(), cluster.name(), event);
      } else {
        isFirst |= gather(cluster, event);
      }
    }
    ofRequest.take().forEach(LOG::info);
    return isFirst;
  }

  private boolean gather(Cluster cluster, ClusterEvent event) {
    synchronized (unlogged) {
      boolean wasEmpty = unlogged.isEmpty();
      unlogged.add(cluster.pool(), cluster.name(), event);
      return wasEmpty && !unlogged.isEmpty();
    }
  }

  /** Logs the events of the market since the last call. */
  void log() {
    List<String> lines;
    synchronized (unlogged) {
      lines = unlogged.take();
    }
    lines.forEach(LOG::info);
  }

  private static void count(Map<PoolLabel, LongAdder> in, String pool, String value) {
    in.computeIfAbsent(new PoolLabel(pool, value), first -> new LongAdder()).increment();
  }

  /** Registers the counters of events and the gauges of nodes and holds. */
  void registerMetrics(Signals signals, Clusters clusters) {
    signals.counters(
        "bourse_cluster_events_total",
        """
        Events of clusters that this process caused, by their kind in the activity: `granted`, \
        `released`, `notice`, `notice-withdrawn`, `unwound`, `declared` and so on.\
        """,
        List.of(Label.POOL, Label.KIND),
        readings -> put(events, readings));
    signals.counters(
        "bourse_reclaims_total",
        "Reclaims that this process began, by reason.",
        List.of(Label.POOL, Label.REASON),
        readings -> put(reclaims, readings));
    signals.gauges(
        "bourse_allocations",
        "Nodes that clusters hold or that are being reclaimed from them, by state.",
        List.of(Label.POOL, Label.STATE),
        readings -> clusters.pools().forEach(pool -> putAllocations(clusters, pool, readings)));
    signals.gauges(
        "bourse_pending_nodes",
        "Nodes that clusters declare but do not hold.",
        List.of(Label.POOL),
        readings ->
            clusters.pools().forEach(pool -> readings.put(pending(clusters, pool), pool.name())));
    signals.gauges(
        "bourse_billing_holds",
        "Organizations with clusters under a billing hold, by stage.",
        List.of(Label.STATE),
        readings ->
            heldOrganizations(clusters)
                .forEach((stage, orgs) -> readings.put(orgs.size(), stage.label())));
  }

  private static void put(Map<PoolLabel, LongAdder> counts, Signals.Readings readings) {
    counts.forEach((key, count) -> readings.put(count.sum(), key.pool(), key.value()));
  }

  private static void putAllocations(Clusters clusters, Pool pool, Signals.Readings readings) {
    Map<Allocation.State, Integer> byState = new EnumMap<>(Allocation.State.class);
    Arrays.stream(Allocation.State.values()).forEach(state -> byState.put(state, 0));
    for (ClusterView view : clusters.stirringIn(pool.name())) {
      view.cluster().allocations().forEach(a -> byState.merge(a.state(), 1, Integer::sum));
    }
    byState.forEach(
        (state, nodes) -> readings.put(nodes, pool.name(), state.name().toLowerCase(Locale.ROOT)));
  }

  private static long pending(Clusters clusters, Pool pool) {
    return clusters.stirringIn(pool.name()).stream()
        .mapToLong(view -> view.cluster().pending(pool.gpusPerNode()))
        .sum();
  }

  private static Map<Hold.Stage, Set<String>> heldOrganizations(Clusters clusters) {
    Map<Hold.Stage, Set<String>> held = new HashMap<>();
    Arrays.stream(Hold.Stage.values()).forEach(stage -> held.put(stage, new HashSet<>()));
    for (Pool pool : clusters.pools()) {
      for (ClusterView view : clusters.ofPool(pool.name())) {
        Hold hold = view.cluster().hold();
        if (hold != null) {
          held.computeIfAbsent(hold.stage(), first -> new HashSet<>()).add(view.cluster().orgId());
        }
      }
    }
    return held;
  }
}
