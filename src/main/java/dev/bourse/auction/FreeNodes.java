package dev.bourse.auction;

import dev.bourse.auction.Supply.FreeNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that one run can still grant, in the order in which it grants them.
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

  /**
   * No earlier node is free for the organization; absent for organizations that have not met an
   * excluding node.
   */
  private final Map<String, Integer> firstByOrg = new HashMap<>();

  FreeNodes(List<FreeNode> free) {
    nodes = free.toArray(new FreeNode[0]);
    taken = new boolean[nodes.length];
    remaining = nodes.length;
  }

  int remaining() {
    return remaining;
  }

  /** Keeps all nodes that are left, so that nothing more is taken. */
  void keep() {
    first = nodes.length;
    remaining = 0;
  }

  /**
   * Takes the first node for a declared slot; a node that the organization swapped away only if no
   * other is left.
   *
   * @throws IllegalStateException if no node is left
   */
  String takeForSlot(String org) {
    int other = firstOther(org);
    int at = other < nodes.length ? other : firstFree();
    if (at == nodes.length) {
      throw new IllegalStateException("no node is left for organization " + org);
    }
    return take(at);
  }

  /**
   * Takes the first node for a swap that the organization did not swap away; null if there is none.
   */
  @Nullable String takeForSwap(String org) {
    int at = firstOther(org);
    return at == nodes.length ? null : take(at);
  }

  private int firstFree() {
    while (first < nodes.length && taken[first]) {
      first++;
    }
    return first;
  }

  private int firstOther(String org) {
    int at = firstFree();
    if (at < nodes.length && excludes(at, org)) {
      at = Math.max(at, firstByOrg.getOrDefault(org, 0));
      while (at < nodes.length && (taken[at] || excludes(at, org))) {
        at++;
      }
      firstByOrg.put(org, at);
    }
    return at;
  }

  private String take(int at) {
    taken[at] = true;
    remaining--;
    return nodes[at].nodeId();
  }

  private boolean excludes(int node, String org) {
    return org.equals(nodes[node].excludedOrg());
  }
}
