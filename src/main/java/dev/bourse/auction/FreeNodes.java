package dev.bourse.auction;

import dev.bourse.auction.Supply.FreeNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes one run can still grant, in the order in which they are.
 *
 * <p>All takes together cost about one step per node: only the one organization that the first free
 * node excludes ever looks past it, and it goes on where its last search ended.
 */
final class FreeNodes {
  private final FreeNode[] nodes;
  private final boolean[] taken;
  private int remaining;

  /** No node before is free. */
  private int first;

  /** No node before is free for the organization; known for those that met an excluding node. */
  private final Map<String, Integer> firstByOrg = new HashMap<>();

  FreeNodes(List<FreeNode> free) {
    nodes = free.toArray(new FreeNode[0]);
    taken = new boolean[nodes.length];
    remaining = nodes.length;
  }

  boolean isEmpty() {
    return remaining == 0;
  }

  /**
   * Takes the first free node an organization may have.
   *
   * @return its id, or null when there is none
   */
  @Nullable String take(String org) {
    while (first < nodes.length && taken[first]) {
      first++;
    }
    int at = first;
    if (at < nodes.length && excludes(at, org)) {
      at = Math.max(at, firstByOrg.getOrDefault(org, 0));
      while (at < nodes.length && (taken[at] || excludes(at, org))) {
        at++;
      }
      firstByOrg.put(org, at);
    }
    if (at == nodes.length) {
      return null;
    }
    taken[at] = true;
    remaining--;
    return nodes[at].nodeId();
  }

  private boolean excludes(int node, String org) {
    return org.equals(nodes[node].excludedOrg());
  }
}
