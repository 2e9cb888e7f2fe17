package dev.bourse.client.capacity;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A held node with a name that people can type: its cluster and its slot, or the name of a
 * Kubernetes cluster's node. A slot keeps its number while its node is held.
 *
 * @param name such as {@code acme-train-0}
 * @param facts the node's entry in the capacity
 */
public record NamedNode(String name, JsonObject facts) {

  /** All nodes of a capacity, in the order of their slots. */
  public static List<NamedNode> all(JsonObject capacity) {
    String cluster = capacity.getString("cluster");
    List<NamedNode> nodes = new ArrayList<>();
    for (Object allocation : capacity.getJsonArray("allocations")) {
      JsonObject facts = (JsonObject) allocation;
      String given = facts.getString("name");
      nodes.add(
          new NamedNode(given == null ? cluster + '-' + facts.getInteger("slot") : given, facts));
    }
    nodes.sort((one, other) -> Integer.compare(one.slot(), other.slot()));
    return nodes;
  }

  /** The nodes in a state in which they can be reached. */
  public static List<NamedNode> active(JsonObject capacity) {
    return all(capacity).stream().filter(NamedNode::isActive).toList();
  }

  /**
   * Finds an active node by its name, slot or address; without any of these, the only one.
   *
   * @throws RefusedException when there is no such node, or several and none was named
   */
  public static NamedNode find(JsonObject capacity, @Nullable String typed)
      throws RefusedException {
    List<NamedNode> active = active(capacity);
    List<NamedNode> meant =
        active.stream().filter(node -> typed == null || node.isCalled(typed)).toList();
    if (meant.size() == 1) {
      return meant.get(0);
    }
    String names = String.join(", ", active.stream().map(NamedNode::name).toList());
    if (active.isEmpty()) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "cluster %s has no active node; bourse status shows what it waits for"
              .formatted(capacity.getString("cluster")));
    }
    throw new RefusedException(
        ExitCode.USAGE,
        typed == null
            ? "which node? there are " + names
            : "there is no active node '" + typed + "'; there are " + names);
  }

  private boolean isCalled(String typed) {
    return typed.equals(name)
        || typed.equals(String.valueOf(slot()))
        || typed.equals(facts.getString("public_ip"));
  }

  private boolean isActive() {
    return "active".equals(facts.getString("state")) && facts.getString("public_ip") != null;
  }

  private int slot() {
    return facts.getInteger("slot");
  }

  /** The node's address; null until it is known. */
  public @Nullable String address() {
    return facts.getString("public_ip");
  }
}
