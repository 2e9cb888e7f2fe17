package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.confirm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A model bids for a Kubernetes cluster: previewed and confirmed, as for a VM cluster. */
@ReplayedOnPostgres
class McpK8sApiTest extends McpApiFixture {
  private static final String CLUSTER = "acme-k8s";

  private static JsonObject bid(double price) {
    return new JsonObject()
        .put("kind", "k8s")
        .put("phase", "preview")
        .put("cluster", CLUSTER)
        .put("max_price_per_gpu_hour", price);
  }

  private static JsonObject bid(int nodes, double price) {
    return bid(price).put("max_gpus", nodes * ClusterClient.NODE);
  }

  private static JsonObject standing() {
    return token.get("/api/k8s/bid").ok();
  }

  private static long version() {
    return standing().getLong("version");
  }

  private static JsonObject write(JsonObject arguments) {
    return alice.ok("bid_write", confirm(arguments, alice.ok("bid_write", arguments)));
  }

  private static JsonObject cluster() {
    return token.get("/api/k8s/clusters/" + CLUSTER).ok();
  }

  /** The names of the nodes, once this many are active and none is being released. */
  private static List<String> untilActive(int nodes) {
    RunningBourse.until(
        "so many are active",
        () -> {
          List<JsonObject> held = ClusterClient.objects(cluster().getJsonArray("nodes"));
          return held.size() == nodes
              && held.stream().allMatch(node -> node.getString("state").equals("active"));
        });
    return ClusterClient.objects(cluster().getJsonArray("nodes")).stream()
        .map(node -> node.getString("name"))
        .toList();
  }

  private static void refused(McpClient client, JsonObject confirm, String reason) {
    long version = version();
    JsonObject refusal = client.refused("bid_write", confirm, ErrorCode.CONFLICT);
    assertEquals(reason, refusal.getString("reason"), refusal.encode());
    assertEquals(version, version(), "nothing is written");
  }

  @Test
  void aConfirmedBidIsTheClustersBidAndTheMembersDeed() {
    long before = version();
    JsonObject arguments = bid(2, 3.5);
    JsonObject preview = alice.ok("bid_write", arguments);
    assertEquals("k8s", preview.getString("kind"));
    assertEquals(before, preview.getLong("version"));
    assertEquals(56.0, preview.getDouble("most_per_hour"));
    JsonObject would = preview.getJsonObject("state");
    assertEquals(before + 1, would.getLong("version"));
    assertEquals(16, would.getJsonObject("bid").getInteger("max_gpus"));
    assertEquals(before, version(), "a preview writes nothing");
    JsonObject confirmed = alice.ok("bid_write", confirm(arguments, preview));
    assertEquals(before + 1, confirmed.getLong("version"));
    JsonObject bid = standing().getJsonObject("bid");
    assertEquals(16, bid.getInteger("max_gpus"));
    assertEquals(3.5, bid.getDouble("limit_price_per_gpu_hour"));
    assertEquals("member:alice", bid.getString("updated_by"));
    assertTrue(
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("k8s_bid_put"))
            .filter(row -> row.detail().endsWith("version=" + (before + 1)))
            .map(AuditRow::actor)
            .anyMatch("member:alice"::equals));
  }

  @Test
  void aSizeLeftOutStays() {
    write(bid(1, 2));
    JsonObject arguments = bid(3.25);
    JsonObject preview = alice.ok("bid_write", arguments);
    assertEquals(26.0, preview.getDouble("most_per_hour"), "of the 8 GPUs that stand");
    JsonObject after = alice.ok("bid_write", confirm(arguments, preview));
    assertEquals(26.0, after.getDouble("most_per_hour"));
    assertEquals(8, standing().getJsonObject("bid").getInteger("max_gpus"));
    assertEquals(3.25, standing().getJsonObject("bid").getDouble("limit_price_per_gpu_hour"));
  }

  @Test
  void aPreviewTellsWhatTheNextTickWouldBringAndNodesByName() {
    write(bid(2, 4));
    List<String> held = untilActive(2);
    JsonObject raise = alice.ok("bid_write", bid(3, 4));
    assertEquals(1, raise.getInteger("nodes_won"));
    assertEquals(0, raise.getInteger("nodes_unfilled"));
    assertEquals(1.0, raise.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(24.0, raise.getDouble("cost_per_hour"), "3 nodes of 8 GPUs at the reserve price");
    assertEquals(new JsonArray(), raise.getJsonArray("releases"));
    JsonObject shrink = alice.ok("bid_write", bid(1, 4));
    assertEquals(0, shrink.getInteger("nodes_won"));
    assertEquals(1, shrink.getJsonArray("releases").size());
    assertTrue(held.contains(shrink.getJsonArray("releases").getString(0)), shrink.encode());
    assertEquals(new JsonArray(), shrink.getJsonArray("unprotected"), "the limit price stays");
    JsonObject cheaper = alice.ok("bid_write", bid(2, 3));
    List<String> unprotected = ClusterClient.texts(cheaper.getJsonArray("unprotected"));
    assertFalse(unprotected.isEmpty(), "the limit price is under that of a grant");
    assertTrue(held.containsAll(unprotected), cheaper.encode());
    assertFalse(shrink.encode().contains("198.18."), "no address");
    assertEquals(held, untilActive(2), "a preview takes nothing");
  }

  @Test
  void aSwapAndAReleaseNameNodesByTheirNames() {
    write(bid(2, 4));
    List<String> held = untilActive(2);
    JsonObject release = bid(2, 4).put("release", new JsonArray(List.of(held.get(1), "no-node")));
    JsonObject preview = alice.ok("bid_write", release);
    assertEquals(new JsonArray(List.of(held.get(1))), preview.getJsonArray("nominations"));
    assertEquals(new JsonArray(List.of("no-node")), preview.getJsonArray("unknown_nodes"));
    assertEquals("unknown-node", preview.getJsonObject("refusal").getString("error"));
    assertNull(preview.getString("confirm_token"));
    JsonObject swap =
        new JsonObject()
            .put("kind", "k8s")
            .put("action", "swap")
            .put("phase", "preview")
            .put("cluster", CLUSTER)
            .put("node", held.get(0));
    alice.refused("bid_write", swap.copy().put("node", "no-node"), ErrorCode.UNKNOWN_NODE);
    alice.refused("bid_write", swap.copy().put("kind", "vm"), ErrorCode.NOT_FOUND);
    JsonObject confirmed = alice.ok("bid_write", confirm(swap, alice.ok("bid_write", swap)));
    assertEquals(held.get(0), confirmed.getString("node"));
    RunningBourse.until("the node is replaced", () -> !untilActive(2).contains(held.get(0)));
  }

  @Test
  void aPreviewTellsWhatCannotBeFilled() {
    JsonObject preview = alice.ok("bid_write", bid(1_000, 4));
    assertTrue(preview.getInteger("nodes_unfilled") > 900, preview.encode());
  }

  @Test
  void anAlteredConfirmAndAnotherMembersAreRefused() {
    JsonObject arguments = bid(1, 2);
    JsonObject confirm = confirm(arguments, alice.ok("bid_write", arguments));
    refused(alice, confirm.copy().put("max_gpus", 16), "confirm-altered");
    refused(alice, confirm.copy().put("max_price_per_gpu_hour", 2.01), "confirm-altered");
    refused(alice, confirm.copy().put("kind", "vm"), "confirm-altered");
    refused(McpClient.of(bourse, "acme", "bob"), confirm, "confirm-altered");
    JsonObject sizeless = confirm.copy();
    sizeless.remove("max_gpus");
    refused(alice, sizeless, "confirm-altered");
    alice.ok("bid_write", confirm);
  }

  /** The same bid over HTTP and over MCP is refused with the same words. */
  private static void assertBidRefused(ErrorCode code, JsonObject arguments) {
    JsonObject order = arguments.copy();
    order.remove("kind");
    order.remove("phase");
    order.put("limit_price_per_gpu_hour", order.remove("max_price_per_gpu_hour"));
    HttpAnswer refused = token.put("/api/k8s/bid", order);
    refused.refused(code);
    assertEquals(refused.json(), alice.refused("bid_write", arguments, code));
  }

  @Test
  void aBidIsRefusedAsTheHttpInterfaceRefusesIt() {
    JsonObject good = bid(1, 2).put("expected_version", version());
    assertBidRefused(ErrorCode.BAD_REQUEST, good.copy().put("max_gpus", 7));
    assertBidRefused(ErrorCode.BAD_REQUEST, good.copy().put("max_gpus", -1));
    assertBidRefused(ErrorCode.PRICE_PRECISION, good.copy().put("max_price_per_gpu_hour", 2.005));
    assertBidRefused(
        ErrorCode.PRICE_ABOVE_MAXIMUM, good.copy().put("max_price_per_gpu_hour", 10.01));
    assertBidRefused(ErrorCode.BID_TOO_LOW, good.copy().put("max_price_per_gpu_hour", 0.5));
    assertBidRefused(ErrorCode.VERSION_MISMATCH, good.copy().put("expected_version", 999));
    assertBidRefused(ErrorCode.NOT_FOUND, good.copy().put("cluster", "acme-train"));
    assertBidRefused(ErrorCode.NOT_FOUND, good.copy().put("cluster", "globex-main"));
  }

  @Test
  void aDeclarationOfAVmClusterNeedsASize() {
    JsonObject sizeless =
        alice.refused(
            "bid_write",
            bid(2).put("kind", "vm").put("cluster", "acme-train"),
            ErrorCode.BAD_REQUEST);
    assertEquals("max_gpus is missing; kind vm needs it", sizeless.getString("detail"));
  }

  @Test
  void eachKindNeedsItsOwnScope() {
    lacks(Scope.BID_WRITE, "bid_write", bid(1, 2));
    lacks(Scope.CAPACITY_WRITE, "bid_write", McpClient.bid("acme-train", 8, 2));
    lacks(Scope.BID_READ, "capacity_read", new JsonObject().put("kind", "k8s"));
    lacks(Scope.CAPACITY_READ, "capacity_read", new JsonObject().put("cluster", "acme-train"));
  }

  /** A token with the scope alone reaches the tool. */
  private static void lacks(Scope scope, String tool, JsonObject arguments) {
    McpClient.needing(bourse, scope, tool, arguments).call(tool, arguments);
  }

  @Test
  void capacityReadOfAKubernetesClusterIsTheClusterAndNotRecorded() {
    JsonObject arguments = new JsonObject().put("kind", "k8s");
    write(bid(1, 2));
    untilActive(1);
    RunningBourse.until(
        "both read between the same two ticks",
        () ->
            cluster().equals(alice.ok("capacity_read", arguments.copy().put("cluster", CLUSTER))));
    assertEquals(CLUSTER, alice.ok("capacity_read", arguments).getString("cluster"));
    assertTrue(bourse.audit("acme", true).stream().noneMatch(row -> row.subject().equals(CLUSTER)));
    for (String cluster : List.of("acme-train", "nobody")) {
      assertEquals(
          token.get("/api/k8s/bid?cluster=" + cluster).refused(ErrorCode.NOT_FOUND),
          alice.refused(
              "capacity_read", arguments.copy().put("cluster", cluster), ErrorCode.NOT_FOUND));
    }
    alice.refused("capacity_read", new JsonObject().put("cluster", CLUSTER), ErrorCode.NOT_FOUND);
  }
}
