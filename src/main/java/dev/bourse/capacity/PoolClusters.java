package dev.bourse.capacity;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The clusters of one pool, with an index of those that its market must read. A cluster that
 * declares nothing and holds nothing is idle: it does not affect the auction, and a tick would only
 * give it the verdict that it has already. Ticks skip idle clusters. One thread writes at a time;
 * any thread reads.
 */
final class PoolClusters {
  private static final Verdict UNDETECTED = Verdict.of(false, null);
  private static final Verdict DETECTED = Verdict.of(false, false);

  private final NavigableMap<String, ClusterView> all = new ConcurrentSkipListMap<>();

  /**
   * Clusters with a declaration, nodes, an end to reach, a rank of last, a refused node, or a
   * verdict.
   */
  private final NavigableMap<String, ClusterView> stirring = new ConcurrentSkipListMap<>();

  /** Idle clusters with the verdict of a pool whose detector is off. */
  private final NavigableMap<String, ClusterView> idleUndetected = new ConcurrentSkipListMap<>();

  /** Idle clusters with the verdict of a pool whose detector is armed. */
  private final NavigableMap<String, ClusterView> idleDetected = new ConcurrentSkipListMap<>();

  void put(ClusterView view) {
    String name = view.cluster().name();
    ClusterView before = all.put(name, view);
    Map<String, ClusterView> place = place(view.cluster());
    place.put(name, view);
    // Removed last: a reader may see a cluster twice but never misses one that is not idle.
    if (before != null && !isSame(place(before.cluster()), place)) {
      place(before.cluster()).remove(name);
    }
  }

  void remove(String name) {
    ClusterView before = all.remove(name);
    if (before != null) {
      place(before.cluster()).remove(name);
    }
  }

  @SuppressWarnings("ReferenceEquality") // Compares the maps' identity, not their contents.
  private static boolean isSame(Map<String, ClusterView> one, Map<String, ClusterView> other) {
    return one == other;
  }

  private NavigableMap<String, ClusterView> place(Cluster cluster) {
    Declaration declared = cluster.declared();
    // A declaration with an end is not idle, because a tick must carry out its lapse.
    boolean isIdle =
        (declared == null || (declared.maxGpus() == 0 && declared.untilMillis() == null))
            && cluster.standing().awaitedSlots() == 0
            && cluster.standing().gaveUpAtMillis() == null
            // It limits the organization's other clusters.
            && cluster.setbacks().joinRefusedAtMillis() == null
            && cluster.allocations().isEmpty();
    if (isIdle && cluster.verdict().equals(UNDETECTED)) {
      return idleUndetected;
    }
    return isIdle && cluster.verdict().equals(DETECTED) ? idleDetected : stirring;
  }

  NavigableMap<String, ClusterView> all() {
    return Collections.unmodifiableNavigableMap(all);
  }

  /** Returns the clusters that are not idle, which may hold nodes. */
  Collection<ClusterView> stirring() {
    return Collections.unmodifiableCollection(stirring.values());
  }

  /** Returns the clusters that a tick must read: all others have no effect and stay unchanged. */
  List<ClusterView> ofTick(boolean detectorArmed) {
    Map<String, ClusterView> idle = detectorArmed ? idleUndetected : idleDetected;
    if (idle.isEmpty()) {
      return List.copyOf(stirring.values());
    }
    // Idle clusters first, so that the later state wins for one that starts to bid meanwhile.
    Map<String, ClusterView> views = new LinkedHashMap<>(idle);
    views.putAll(stirring);
    return List.copyOf(views.values());
  }
}
