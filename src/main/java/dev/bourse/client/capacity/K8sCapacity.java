package dev.bourse.client.capacity;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** Shows a Kubernetes cluster in the form of a VM cluster's capacity. Pure. */
final class K8sCapacity {
  private K8sCapacity() {}

  /** Returns true for the answer about a Kubernetes cluster, also in the form of a capacity. */
  static boolean isK8s(JsonObject state) {
    return state.containsKey("bid");
  }

  /** Returns a state in the form of a capacity, with the names of a Kubernetes cluster's nodes. */
  static JsonObject of(JsonObject state) {
    if (!isK8s(state)) {
      return state;
    }
    JsonObject bid = state.getJsonObject("bid");
    JsonArray nodes = new JsonArray();
    for (Object node : state.getJsonArray("nodes")) {
      nodes.add(((JsonObject) node).copy().put("slot", nodes.size()));
    }
    return state
        .copy()
        .put("writes_armed", true)
        .put("pending", state.getInteger("nodes_pending"))
        .put("allocations", nodes)
        .put(
            "declared",
            bid == null
                ? null
                : bid.copy()
                    .put("max_price_per_gpu_hour", bid.getValue("limit_price_per_gpu_hour")));
  }
}
