package dev.bourse.capacity;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The clusters of one pool, and which of them its market has to look at. One that declares nothing
 * and holds nothing changes no auction: all a tick owes it is the verdict of those who lack
 * nothing, and most have it. So that they cost a tick nothing, each change of a cluster tells where
 * it belongs. Written by one thread at a time, read by any.
 */
final class PoolClusters {
  private static final Verdict UNDETECTED = Verdict.of(false, null);
  private static final Verdict DETECTED = Verdict.of(false, false);

  private final NavigableMap<String, ClusterView> all = new ConcurrentSkipListMap<>();

  /** Clusters with a declaration, nodes, an end to reach, a rank of last, or a verdict. */
  private final NavigableMap<String, ClusterView> stirring = new ConcurrentSkipListMap<>();

  /** The others, as a pool without an armed detector judges them. */
  private final NavigableMap<String, ClusterView> idleUndetected = new ConcurrentSkipListMap<>();

  /** The others, as one with an armed detector does. */
  private final NavigableMap<String, ClusterView> idleDetected = new ConcurrentSkipListMap<>();

  void put(ClusterView view) {
    String name = view.cluster().name();
    ClusterView before = all.put(name, view);
    Map<String, ClusterView> place = place(view.cluster());
    place.put(name, view);
    // Last, so that a reader may meet a cluster twice but does not miss one that stirs.
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

  @SuppressWarnings("ReferenceEquality") // Maps are equal by what they hold; this is about which.
  private static boolean isSame(Map<String, ClusterView> one, Map<String, ClusterView> other) {
    return one == other;
  }

  private NavigableMap<String, ClusterView> place(Cluster cluster) {
    Declaration declared = cluster.declared();
    // One with an end has to be looked at when that comes.
    boolean isIdle =
        (declared == null || (declared.maxGpus() == 0 && declared.untilMillis() == null))
            && cluster.standing().awaitedSlots() == 0
            && cluster.standing().gaveUpAtMillis() == null
            && cluster.allocations().isEmpty();
    if (isIdle && cluster.verdict().equals(UNDETECTED)) {
      return idleUndetected;
    }
    return isIdle && cluster.verdict().equals(DETECTED) ? idleDetected : stirring;
  }

  NavigableMap<String, ClusterView> all() {
    return Collections.unmodifiableNavigableMap(all);
  }

  /** Those that may hold a machine. */
  Collection<ClusterView> stirring() {
    return Collections.unmodifiableCollection(stirring.values());
  }

  /** Those that a tick could change, or that change what it comes to. */
  List<ClusterView> ofTick(boolean detectorArmed) {
    Map<String, ClusterView> idle = detectorArmed ? idleUndetected : idleDetected;
    if (idle.isEmpty()) {
      return List.copyOf(stirring.values());
    }
    // The idle ones first: of one that begins to bid meanwhile the later state counts.
    Map<String, ClusterView> views = new LinkedHashMap<>(idle);
    views.putAll(stirring);
    return List.copyOf(views.values());
  }
}
