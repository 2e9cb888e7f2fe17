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
 * What happens to clusters by this process, counted by pool and told in the log: grants, reclaims,
 * notices and holds. Pools are few; a cluster is no label.
 */
final class ClusterSignals {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterSignals.class);

  /**
   * A seat or a new node given up. It has no activity entry of its own, so it is counted directly.
   */
  private static final String GAVE_UP = "gave-up";

  private record PoolAnd(String pool, String what) {}

  /** Guarded by itself. */
  private final EventTally untold = new EventTally();

  private final Map<PoolAnd, LongAdder> events = new ConcurrentHashMap<>();
  private final Map<PoolAnd, LongAdder> reclaims = new ConcurrentHashMap<>();

  /**
   * A change of a cluster is stored. What a request did is told at once, as the request's; what the
   * market did is told with the rest of its tick.
   *
   * @return whether {@link #tell} is to be called in a while, which nobody was asked to do yet
   */
  boolean stored(Transition change) {
    Cluster cluster = change.next();
    if (change.hasGivenUp()) {
      count(events, cluster.pool(), GAVE_UP);
      LOG.info(
          "organization {} gave up seats or fresh nodes of cluster {} and ranks last in pool {} for"
              + " {} s",
          cluster.orgId(),
          cluster.name(),
          cluster.pool(),
          Standing.LAST_MILLIS / 1_000);
    }
    EventTally asked = new EventTally();
    boolean isAsked = RequestContext.current() != null;
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
      if (isAsked) {
        asked.add(cluster.pool(), cluster.name(), event);
      } else {
        isFirst |= gather(cluster, event);
      }
    }
    asked.take().forEach(LOG::info);
    return isFirst;
  }

  private boolean gather(Cluster cluster, ClusterEvent event) {
    synchronized (untold) {
      boolean wasEmpty = untold.isEmpty();
      untold.add(cluster.pool(), cluster.name(), event);
      return wasEmpty && !untold.isEmpty();
    }
  }

  /** Tells what the market did since the last time. */
  void tell() {
    List<String> lines;
    synchronized (untold) {
      lines = untold.take();
    }
    lines.forEach(LOG::info);
  }

  private static void count(Map<PoolAnd, LongAdder> in, String pool, String what) {
    in.computeIfAbsent(new PoolAnd(pool, what), first -> new LongAdder()).increment();
  }

  /** Shows what was counted, and what clusters hold and want by now. */
  void registerMetrics(Signals signals, Clusters clusters) {
    signals.counters(
        "bourse_cluster_events_total",
        """
        What happened to clusters by this process, in the words of their activity: `granted`, \
        `released`, `notice`, `notice-withdrawn`, `unwound`, `declared` and so on.\
        """,
        List.of(Label.POOL, Label.KIND),
        readings -> put(events, readings));
    signals.counters(
        "bourse_reclaims_total",
        "Nodes that this process began to take back, by why.",
        List.of(Label.POOL, Label.REASON),
        readings -> put(reclaims, readings));
    signals.gauges(
        "bourse_allocations",
        "Nodes that clusters hold, or are being taken back from them, by their state.",
        List.of(Label.POOL, Label.STATE),
        readings -> clusters.pools().forEach(pool -> putAllocations(clusters, pool, readings)));
    signals.gauges(
        "bourse_pending_nodes",
        "Nodes that clusters declared and do not hold.",
        List.of(Label.POOL),
        readings ->
            clusters.pools().forEach(pool -> readings.put(pending(clusters, pool), pool.name())));
    signals.gauges(
        "bourse_billing_holds",
        "Organizations with clusters under a billing hold, by its stage.",
        List.of(Label.STATE),
        readings ->
            heldOrganizations(clusters)
                .forEach((stage, orgs) -> readings.put(orgs.size(), stage.label())));
  }

  private static void put(Map<PoolAnd, LongAdder> counted, Signals.Readings readings) {
    counted.forEach((key, count) -> readings.put(count.sum(), key.pool(), key.what()));
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
