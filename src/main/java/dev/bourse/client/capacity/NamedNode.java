package dev.bourse.client.capacity;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A held node with a name that people can type: its cluster's and its slot's. A slot keeps its
 * number for as long as its node is held.
 *
 * @param name such as {@code acme-train-0}
 * @param told what the capacity says of it
 */
public record NamedNode(String name, JsonObject told) {

  /** All nodes of a capacity, in the order of their slots. */
  public static List<NamedNode> all(JsonObject capacity) {
    String cluster = capacity.getString("cluster");
    List<NamedNode> nodes = new ArrayList<>();
    for (Object allocation : capacity.getJsonArray("allocations")) {
      JsonObject told = (JsonObject) allocation;
      nodes.add(new NamedNode(cluster + '-' + told.getInteger("slot"), told));
    }
    nodes.sort((one, other) -> Integer.compare(one.slot(), other.slot()));
    return nodes;
  }

  /** Those that can be reached, by the state they are in. */
  public static List<NamedNode> active(JsonObject capacity) {
    return all(capacity).stream().filter(NamedNode::isActive).toList();
  }

  /**
   * The active node meant: by its name, its slot or its address; without any, the only one.
   *
   * @throws Refused when there is no such node, or several and none was named
   */
  public static NamedNode meant(JsonObject capacity, @Nullable String typed) throws Refused {
    List<NamedNode> active = active(capacity);
    List<NamedNode> meant =
        active.stream().filter(node -> typed == null || node.isCalled(typed)).toList();
    if (meant.size() == 1) {
      return meant.get(0);
    }
    String names = String.join(", ", active.stream().map(NamedNode::name).toList());
    if (active.isEmpty()) {
      throw new Refused(
          ExitCode.REFUSED,
          "cluster %s has no active node; bourse status shows what it waits for"
              .formatted(capacity.getString("cluster")));
    }
    throw new Refused(
        ExitCode.USAGE,
        typed == null
            ? "which node? there are " + names
            : "there is no active node '" + typed + "'; there are " + names);
  }

  private boolean isCalled(String typed) {
    return typed.equals(name)
        || typed.equals(String.valueOf(slot()))
        || typed.equals(told.getString("public_ip"));
  }

  private boolean isActive() {
    return "active".equals(told.getString("state")) && told.getString("public_ip") != null;
  }

  private int slot() {
    return told.getInteger("slot");
  }

  /** Where it is reached; null while it is not known. */
  public @Nullable String address() {
    return told.getString("public_ip");
  }
}
