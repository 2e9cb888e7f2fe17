package dev.bourse.client.capacity;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** Shows the answers and bodies of the Kubernetes surface in the form of the VM surface. Pure. */
final class K8sCapacity {
  private static final String LIMIT = "limit_price_per_gpu_hour";
  private static final String CEILING = "max_price_per_gpu_hour";
  private static final String GPUS = "max_gpus";
  private static final String STATE = "state";

  private K8sCapacity() {}

  /** Returns true for the answer about a Kubernetes cluster, also in the form of a capacity. */
  static boolean isK8s(JsonObject state) {
    return state.containsKey("bid");
  }

  /**
   * Returns a state in the form of a capacity, with the names of a Kubernetes cluster's nodes. The
   * state of a bid has no nodes.
   */
  static JsonObject of(JsonObject state) {
    if (!isK8s(state)) {
      return state;
    }
    JsonObject bid = state.getJsonObject("bid");
    JsonArray nodes = new JsonArray();
    for (Object node : state.getJsonArray("nodes", new JsonArray())) {
      nodes.add(((JsonObject) node).copy().put("slot", nodes.size()));
    }
    return state
        .copy()
        .put("writes_armed", true)
        .put("pending", state.getInteger("nodes_pending", 0))
        .put("allocations", nodes)
        .put("declared", bid == null ? null : bid.copy().put(CEILING, bid.getValue(LIMIT)));
  }

  /** Returns the body of a bid in the form of a declaration; other bodies as they are. */
  static JsonObject declaration(JsonObject body, JsonObject state) {
    if (!body.containsKey(LIMIT)) {
      return body;
    }
    JsonObject declared = state.getJsonObject("declared");
    int standing = declared == null ? 0 : declared.getInteger(GPUS);
    return body.copy()
        .put(CEILING, body.getValue(LIMIT))
        .put(GPUS, body.getInteger(GPUS, standing));
  }

  /** Returns a preview with its state in the form of a capacity. */
  static JsonObject preview(JsonObject preview) {
    JsonObject state = preview.getJsonObject(STATE);
    return state == null ? preview : preview.copy().put(STATE, of(state));
  }
}
