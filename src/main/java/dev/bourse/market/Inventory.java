package dev.bourse.market;

import dev.bourse.nodes.Machine;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A pool's nodes as whoever holds its lease knows them. What becomes of a node is written by the
 * holder, whether it may be granted also by operators, on any process; so the rows are read again
 * when word of that comes, without losing what is being written meanwhile. Used on one context.
 */
final class Inventory {
  private final MarketStore store;
  private final MarketStore.Lease lease;
  private final Map<String, Node> nodes = new TreeMap<>();

  /** Nodes whose rows are being written, and how often. */
  private final Map<String, Integer> writing = new HashMap<>();

  /** Nodes whose rows are or were being written since a reading began; null between readings. */
  private @Nullable Set<String> writtenMeanwhile;

  Inventory(MarketStore store, MarketStore.Lease lease) {
    this.store = store;
    this.lease = lease;
  }

  /**
   * What a reading found.
   *
   * @param added machines that were not known before
   * @param isWhole false when some rows were being written, which must be read once more
   */
  record Reading(List<Machine> added, boolean isWhole) {}

  /** Reads the rows anew. One reading at a time. */
  Future<Reading> read() {
    Set<String> written = new HashSet<>(writing.keySet());
    writtenMeanwhile = written;
    return store
        .listNodes(lease.pool())
        .map(
            list -> {
              writtenMeanwhile = null;
              List<Machine> added = new ArrayList<>();
              for (Node node : list) {
                boolean isNewer = !written.contains(node.nodeId());
                if (isNewer && nodes.put(node.nodeId(), node) == null) {
                  added.add(node.machine());
                }
              }
              return new Reading(added, written.isEmpty());
            });
  }

  /** Every node, by id. */
  List<Node> all() {
    return List.copyOf(nodes.values());
  }

  @Nullable Node get(String nodeId) {
    return nodes.get(nodeId);
  }

  /**
   * The machine of a node.
   *
   * @throws IllegalStateException when the pool has no such node
   */
  Machine machine(String nodeId) {
    Node node = nodes.get(nodeId);
    if (node == null) {
      throw new IllegalStateException("no node " + nodeId + " in pool " + lease.pool());
    }
    return node.machine();
  }

  /** Counts from now on, and is stored. */
  Future<Void> note(Node changed) {
    String nodeId = changed.nodeId();
    nodes.put(nodeId, changed);
    writing.merge(nodeId, 1, Integer::sum);
    if (writtenMeanwhile != null) {
      writtenMeanwhile.add(nodeId);
    }
    return store
        .update(changed, lease)
        .onComplete(done -> writing.compute(nodeId, (id, n) -> n == null || n == 1 ? null : n - 1));
  }
}
