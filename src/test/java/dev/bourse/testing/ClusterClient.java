package dev.bourse.testing;

import static dev.bourse.testing.RunningBourse.until;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** A cluster as its organization works with it. */
public record ClusterClient(ApiClient caller, String orgId, String cluster) {
  /** GPUs of one node in the worlds of these tests. */
  public static final int NODE = 8;

  public JsonObject state() {
    return caller.get("/api/vm/capacity?cluster=" + cluster).ok();
  }

  /** The state but for its pool's prices: a tick moves those at any moment, whoever writes. */
  public JsonObject withoutPrices() {
    return withoutPrices(state());
  }

  public static JsonObject withoutPrices(JsonObject state) {
    JsonObject rest = state.copy();
    rest.remove("pool");
    return rest;
  }

  /**
   * Waits until a stream's newest state is the one that is served. A tick that moves the pool's
   * prices reaches a reader and a stream at slightly different times.
   */
  public void untilAgrees(EventReader reader) {
    until("the stream tells the state", () -> reader.state().equals(state()));
  }

  public long version() {
    return state().getLong("version");
  }

  /** A declaration upon the version in force. */
  public JsonObject order(int nodes, double price) {
    return new JsonObject()
        .put("cluster", cluster)
        .put("max_gpus", nodes * NODE)
        .put("max_price_per_gpu_hour", price)
        .put("expected_version", version());
  }

  public HttpAnswer put(JsonObject order) {
    return caller.put("/api/vm/capacity", order);
  }

  /** Declares, which must succeed; the new state. */
  public JsonObject declare(int nodes, double price) {
    return put(order(nodes, price)).ok();
  }

  public HttpAnswer swap(String node) {
    return caller.post(
        "/api/vm/capacity/swap", new JsonObject().put("cluster", cluster).put("node", node));
  }

  public HttpAnswer drill() {
    return caller.post("/api/vm/capacity/drill", new JsonObject().put("cluster", cluster));
  }

  public HttpAnswer addKey() {
    return caller.post(
        "/api/vm/orgs/" + orgId + "/ssh-keys",
        new JsonObject().put("name", "laptop").put("public_key", RunningBourse.keyLine()));
  }

  /** Registers a key, declares and waits until the market has granted it all. */
  public List<String> hold(int nodes, double price) {
    addKey();
    declare(nodes, price);
    return untilHeld(nodes);
  }

  /** Waits until so many nodes are active and nothing is under way; their addresses by slot. */
  public List<String> untilHeld(int nodes) {
    until(
        cluster + " holds " + nodes,
        () -> active().size() == nodes && allocations().size() == nodes);
    return active();
  }

  /** Addresses of active nodes, by slot. */
  public List<String> active() {
    return allocations().stream()
        .filter(a -> a.getString("state").equals("active"))
        .map(a -> a.getString("public_ip"))
        .toList();
  }

  public List<JsonObject> allocations() {
    return objects(state().getJsonArray("allocations"));
  }

  public JsonObject allocation(String ip) {
    return allocations().stream()
        .filter(a -> a.getString("public_ip").equals(ip))
        .findFirst()
        .orElseThrow(() -> new AssertionError(cluster + " has no " + ip));
  }

  /** The newest page of this cluster's activity. */
  public List<JsonObject> activity() {
    return objects(caller.get("/api/vm/activity?cluster=" + cluster).ok().getJsonArray("entries"));
  }

  public static List<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast).toList();
  }

  public static List<String> texts(JsonArray array) {
    return array.stream().map(String.class::cast).toList();
  }
}
