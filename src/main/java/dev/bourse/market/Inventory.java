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
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool's nodes as the holder of its lease knows them. The holder writes the result of its work on
 * a node; operators, on any process, also write whether the node may be granted. The holder reads
 * the rows again when it hears of a change, without losing its own writes in progress. Used on one
 * context.
 */
final class Inventory {
  private static final Logger LOG = LoggerFactory.getLogger(Inventory.class);

  private final NodeStore store;
  private final Lease lease;
  private final Map<String, Node> nodes = new TreeMap<>();

  /** The number of writes in progress, by node. */
  private final Map<String, Integer> writing = new HashMap<>();

  /** Nodes whose rows may differ from this inventory because a write may have failed. */
  private final Set<String> unstored = new HashSet<>();

  /**
   * Nodes with a write in progress at any time since the current reading began; null between
   * readings.
   */
  private @Nullable Set<String> writtenMeanwhile;

  Inventory(NodeStore store, Lease lease) {
    this.store = store;
    this.lease = lease;
  }

  /**
   * The result of a reading.
   *
   * @param added machines that are new or have changed
   * @param removed nodes that left the pool
   * @param retried nodes whose work an operator restarted
   * @param isWhole false if some rows were being written, so that another reading is needed
   */
  record Reading(List<String> added, List<String> removed, List<String> retried, boolean isWhole) {}

  /** Reads the rows again. One reading runs at a time. */
  Future<Reading> read() {
    Set<String> written = new HashSet<>(writing.keySet());
    writtenMeanwhile = written;
    return store
        .list(lease.pool())
        .map(
            list -> {
              writtenMeanwhile = null;
              List<String> added = new ArrayList<>();
              List<String> retried = new ArrayList<>();
              Set<String> removed = new TreeSet<>(nodes.keySet());
              for (Node node : list) {
                removed.remove(node.nodeId());
                if (written.contains(node.nodeId())) {
                  continue;
                }
                Node known = nodes.put(node.nodeId(), node);
                unstored.remove(node.nodeId());
                if (!node.isSameMachineAs(known)) {
                  added.add(node.nodeId());
                }
                if (known != null && known.retries() != node.retries()) {
                  retried.add(node.nodeId());
                }
              }
              removed.removeAll(written);
              nodes.keySet().removeAll(removed);
              unstored.removeAll(removed);
              return new Reading(added, List.copyOf(removed), retried, written.isEmpty());
            });
  }

  /** Returns the name of the pool. */
  String pool() {
    return lease.pool();
  }

  /** Returns every node, by id. */
  List<Node> all() {
    return List.copyOf(nodes.values());
  }

  @Nullable Node get(String nodeId) {
    return nodes.get(nodeId);
  }

  /**
   * Returns the machine of a node.
   *
   * @throws IllegalStateException if the pool has no such node
   */
  Machine machine(String nodeId) {
    Node node = nodes.get(nodeId);
    if (node == null) {
      throw new IllegalStateException("no node " + nodeId + " in pool " + lease.pool());
    }
    return node.machine();
  }

  /** Replaces a node with the state that another commit has stored. */
  void replace(Node stored) {
    nodes.put(stored.nodeId(), stored);
    unstored.remove(stored.nodeId());
    if (writtenMeanwhile != null) {
      writtenMeanwhile.add(stored.nodeId());
    }
  }

  /**
   * Changes a node at once and stores it unless it is stored already. If the write fails, the
   * caller notes the same state again.
   */
  Future<Void> note(Node changed) {
    String nodeId = changed.nodeId();
    Node before = nodes.put(nodeId, changed);
    if (changed.equals(before) && !unstored.contains(nodeId)) {
      return Future.succeededFuture();
    }
    if (before != null
        && before.quarantinedAtMillis() == null
        && changed.quarantinedAtMillis() != null) {
      LOG.warn(
          "pool {}: node {} quarantined: {}", lease.pool(), nodeId, changed.quarantineReason());
    } else if (before != null
        && before.quarantinedAtMillis() != null
        && changed.quarantinedAtMillis() == null) {
      LOG.info("pool {}: node {} is clean; quarantine ended", lease.pool(), nodeId);
    }
    unstored.add(nodeId);
    writing.merge(nodeId, 1, Integer::sum);
    if (writtenMeanwhile != null) {
      writtenMeanwhile.add(nodeId);
    }
    return store
        .update(changed, lease)
        .onSuccess(
            stored -> {
              if (changed.equals(nodes.get(nodeId))) {
                unstored.remove(nodeId);
              }
            })
        .onComplete(done -> writing.compute(nodeId, (id, n) -> n == null || n == 1 ? null : n - 1));
  }
}
