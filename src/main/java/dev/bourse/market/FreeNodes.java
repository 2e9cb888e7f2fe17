package dev.bourse.market;

import dev.bourse.market.Supply.FreeNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes one run can still grant, in the order in which they are.
 *
 * <p>All takes together cost about one step per node: taken nodes are skipped by links whose paths
 * are halved on the way (union-find), and what an organization may not have it passes only once.
 */
final class FreeNodes {
  private final FreeNode[] nodes;

  /** The node itself while it is free, else a node further on. */
  private final int[] next;

  /** Where an organization's search goes on: all before is taken or not for it. */
  private final Map<String, Integer> resume = new HashMap<>();

  private int remaining;

  FreeNodes(List<FreeNode> free) {
    nodes = free.toArray(new FreeNode[0]);
    remaining = nodes.length;
    next = new int[nodes.length + 1];
    for (int i = 0; i < next.length; i++) {
      next[i] = i;
    }
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
    int at = firstFree(resume.getOrDefault(org, 0));
    while (at < nodes.length && org.equals(nodes[at].excludedOrg())) {
      at = firstFree(at + 1);
      resume.put(org, at);
    }
    if (at == nodes.length) {
      return null;
    }
    next[at] = at + 1;
    remaining--;
    return nodes[at].nodeId();
  }

  private int firstFree(int from) {
    int at = from;
    while (next[at] != at) {
      next[at] = next[next[at]];
      at = next[at];
    }
    return at;
  }
}
