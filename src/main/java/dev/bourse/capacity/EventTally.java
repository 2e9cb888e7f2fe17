package dev.bourse.capacity;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Collects the events of clusters for one log line per pool. A tick may grant tens of thousands of
 * nodes; a line for each of them would hide all other lines.
 */
final class EventTally {
  /** The most clusters that a line names for one event. */
  private static final int NAMED = 5;

  /** The most different events of a line, because causes may differ from node to node. */
  private static final int KINDS = 12;

  private static final String OTHER = "other events";

  private static final class Count {
    private int events;
    private final Set<String> clusters = new LinkedHashSet<>();
    private boolean isMore;

    private void add(String cluster) {
      events++;
      if (clusters.size() < NAMED) {
        clusters.add(cluster);
      } else if (!clusters.contains(cluster)) {
        isMore = true;
      }
    }

    @Override
    public String toString() {
      return " × " + events + " (" + String.join(", ", clusters) + (isMore ? ", …)" : ")");
    }
  }

  private final Map<String, Map<String, Count>> pools = new TreeMap<>();

  boolean isEmpty() {
    return pools.isEmpty();
  }

  /** Counts an event, if operators need it in the log. */
  void add(String pool, String cluster, ClusterEvent event) {
    String what = text(event);
    if (what == null) {
      return;
    }
    Map<String, Count> counts = pools.computeIfAbsent(pool, first -> new LinkedHashMap<>());
    String kind = counts.size() < KINDS || counts.containsKey(what) ? what : OTHER;
    counts.computeIfAbsent(kind, first -> new Count()).add(cluster);
  }

  /** Returns the text of an event without the node's address, which is private to members. */
  private static @Nullable String text(ClusterEvent event) {
    if (event instanceof ClusterEvent.Granted) {
      return "node granted";
    } else if (event instanceof ClusterEvent.Released released) {
      return "node reclaimed, " + released.reason().label();
    } else if (event instanceof ClusterEvent.Unwound unwound) {
      return "grant unwound, " + unwound.cause();
    } else if (event instanceof ClusterEvent.HoldPlaced held) {
      return "billing hold " + held.stage().label() + ", " + held.cause();
    } else if (event instanceof ClusterEvent.HoldLifted) {
      return "billing hold lifted";
    }
    return null;
  }

  /** Returns a line for each pool and resets the counts. */
  List<String> take() {
    List<String> lines = new ArrayList<>();
    pools.forEach(
        (pool, counts) -> {
          List<String> parts = new ArrayList<>();
          counts.forEach((what, count) -> parts.add(what + count));
          lines.add("pool " + pool + ": " + String.join("; ", parts));
        });
    pools.clear();
    return lines;
  }
}
