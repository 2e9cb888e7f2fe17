package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.bid;
import static dev.bourse.testing.McpClient.confirm;
import static dev.bourse.testing.McpClient.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A model proceeds by itself: keys, swaps, and refusals that name the tool that helps. */
@ReplayedOnPostgres
class McpActingApiTest extends McpApiFixture {
  private static ClusterClient globex() {
    return new ClusterClient(bourse.as("globex", "orgwide"), "globex", "globex-main");
  }

  private static JsonObject key(String line) {
    return new JsonObject()
        .put("action", "add")
        .put("phase", "preview")
        .put("name", "agent")
        .put("public_key", line);
  }

  private static JsonObject removal(String keyId) {
    return new JsonObject().put("action", "remove").put("phase", "preview").put("key_id", keyId);
  }

  private static JsonObject swap(String node) {
    return new JsonObject()
        .put("kind", "vm")
        .put("action", "swap")
        .put("phase", "preview")
        .put("cluster", "globex-main")
        .put("node", node);
  }

  private static JsonArray keys(McpClient member, String org) {
    return member
        .ok("grid_api", read("/api/vm/orgs/" + org + "/ssh-keys"))
        .getJsonObject("answer")
        .getJsonArray("keys");
  }

  /** The remedy beside a refusal. */
  private static String remedy(McpClient member, String tool, JsonObject arguments) {
    JsonObject result = member.call(tool, arguments);
    assertTrue(result.getBoolean("isError"), result.encode());
    JsonArray content = result.getJsonArray("content");
    assertEquals(2, content.size(), content.encode());
    return content.getJsonObject(1).getString("text");
  }

  @Test
  void aModelThatMeetsNoSshKeysRegistersOneAndBids() {
    McpClient carol = McpClient.of(bourse, "openlab", "carol");
    JsonObject wish = bid("openlab-main", 8, 2);
    carol.refused("bid_write", wish, ErrorCode.NO_SSH_KEYS);
    assertTrue(remedy(carol, "bid_write", wish).contains("ssh_key_write with action=add"));
    String line = RunningBourse.keyLine();
    JsonObject preview = carol.ok("ssh_key_write", key(line));
    assertEquals(false, preview.getBoolean("is_registered"));
    assertFalse(preview.getJsonObject("ssh_key").containsKey("key_id"));
    assertEquals(0, keys(carol, "openlab").size(), "a preview registers nothing");
    JsonObject added = carol.ok("ssh_key_write", confirm(key(line), preview));
    assertEquals(new JsonArray().add(added.getJsonObject("ssh_key")), keys(carol, "openlab"));
    assertEquals("member:carol", added.getJsonObject("ssh_key").getString("created_by"));
    JsonObject previewed = carol.ok("bid_write", wish);
    carol.ok("bid_write", confirm(wish, previewed));
  }

  @Test
  void aKeyThatIsThereIsNotRegisteredAgain() {
    String line = RunningBourse.keyLine();
    JsonObject first = alice.ok("ssh_key_write", key(line));
    JsonObject second = alice.ok("ssh_key_write", key(line));
    String keyId =
        alice
            .ok("ssh_key_write", confirm(key(line), first))
            .getJsonObject("ssh_key")
            .getString("key_id");
    assertEquals(
        "confirm-altered",
        alice
            .refused("ssh_key_write", confirm(removal(keyId), first), ErrorCode.CONFLICT)
            .getString("reason"),
        "a token of another action is refused");
    assertEquals(
        keyId,
        alice
            .ok("ssh_key_write", confirm(key(line), second))
            .getJsonObject("ssh_key")
            .getString("key_id"));
    JsonObject again = alice.ok("ssh_key_write", key(line));
    assertEquals(true, again.getBoolean("is_registered"));
    assertEquals(keyId, again.getJsonObject("ssh_key").getString("key_id"));
    assertNull(again.getString("confirm_token"));
  }

  @Test
  void aKeyIsRemovedInTwoPhases() {
    String line = RunningBourse.keyLine();
    JsonObject added =
        alice.ok("ssh_key_write", confirm(key(line), alice.ok("ssh_key_write", key(line))));
    JsonObject registered = added.getJsonObject("ssh_key");
    JsonObject removal = removal(registered.getString("key_id"));
    JsonObject preview = alice.ok("ssh_key_write", removal);
    assertEquals(registered, preview.getJsonObject("ssh_key"));
    assertTrue(keys(alice, "acme").contains(registered), "a preview removes nothing");
    JsonObject removed = alice.ok("ssh_key_write", confirm(removal, preview));
    assertTrue(removed.containsKey("revoked_at"));
    assertFalse(keys(alice, "acme").contains(registered));
    alice.refused("ssh_key_write", removal, ErrorCode.NOT_FOUND);
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    dave.refused("ssh_key_write", removal, ErrorCode.NOT_FOUND);
  }

  @Test
  void ofTheArgumentsOfAKeyOnlyThoseOfItsActionAreTaken() {
    alice.refused(
        "ssh_key_write", key(RunningBourse.keyLine()).put("key_id", "x"), ErrorCode.BAD_REQUEST);
    alice.refused("ssh_key_write", removal("x").put("name", "n"), ErrorCode.BAD_REQUEST);
    JsonObject nameless = key(RunningBourse.keyLine());
    nameless.remove("name");
    alice.refused("ssh_key_write", nameless, ErrorCode.BAD_REQUEST);
    alice.refused(
        "ssh_key_write", key("-----BEGIN OPENSSH PRIVATE KEY-----"), ErrorCode.BAD_REQUEST);
    alice.refused(
        "ssh_key_write",
        key(RunningBourse.keyLine()).put("cluster", "globex-main"),
        ErrorCode.NOT_FOUND);
    alice.refused(
        "ssh_key_write",
        key(RunningBourse.keyLine()).put("phase", "confirm"),
        ErrorCode.BAD_REQUEST);
  }

  @Test
  void keysAndSwapsNeedTheScopeOfWritingCapacity() {
    McpClient.needing(bourse, Scope.CAPACITY_WRITE, "ssh_key_write", key(RunningBourse.keyLine()));
    McpClient.needing(bourse, Scope.CAPACITY_WRITE, "ssh_key_write", removal("key_1"));
    McpClient.needing(bourse, Scope.CAPACITY_WRITE, "bid_write", swap("192.0.2.1"));
  }

  @Test
  void aNodeIsSwappedInTwoPhases() {
    ClusterClient client = globex();
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    String node = client.hold(1, 5).get(0);
    long version = client.version();
    JsonObject stale = dave.ok("bid_write", swap(node));
    assertEquals(version, stale.getLong("version"));
    assertEquals(new JsonArray().add(node), stale.getJsonArray("releases"));
    assertFalse(client.allocation(node).getBoolean("swap"), "a preview swaps nothing");
    client.declare(1, 4.5);
    dave.refused("bid_write", confirm(swap(node), stale), ErrorCode.VERSION_MISMATCH);
    assertTrue(
        remedy(dave, "bid_write", confirm(swap(node), stale)).startsWith("capacity_read shows"));
    JsonObject preview = dave.ok("bid_write", swap(node));
    JsonObject swapped = dave.ok("bid_write", confirm(swap(node), preview));
    assertEquals(version + 2, swapped.getLong("version"));
    assertEquals(node, swapped.getString("node"));
    assertTrue(swapped.getString("lapses_at").compareTo(swapped.getString("requested_at")) > 0);
    RunningBourse.until(
        "another node is in its place",
        () -> client.active().size() == 1 && !client.active().contains(node));
    assertEquals(
        "confirm-used",
        dave.refused("bid_write", confirm(swap(node), preview), ErrorCode.CONFLICT)
            .getString("reason"));
  }

  @Test
  void aSwapIsRefusedAsTheHttpInterfaceRefusesIt() {
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    JsonObject overHttp = globex().swap("192.0.2.1").refused(ErrorCode.UNKNOWN_NODE);
    assertEquals(overHttp, dave.refused("bid_write", swap("192.0.2.1"), ErrorCode.UNKNOWN_NODE));
    assertTrue(remedy(dave, "bid_write", swap("192.0.2.1")).startsWith("capacity_read"));
    dave.refused("bid_write", swap("192.0.2.1").put("max_gpus", 8), ErrorCode.BAD_REQUEST);
    JsonObject nameless = swap("192.0.2.1");
    nameless.remove("node");
    dave.refused("bid_write", nameless, ErrorCode.BAD_REQUEST);
    JsonObject priceless = bid("globex-main", 8, 2);
    priceless.remove("max_price_per_gpu_hour");
    dave.refused("bid_write", priceless, ErrorCode.BAD_REQUEST);
  }

  @Test
  void aRefusalNamesTheToolThatHelps() {
    assertTrue(
        remedy(alice, "bid_write", bid("acme-legacy", 0, 2).put("expected_version", 99))
            .startsWith("capacity_read shows the current state"));
    JsonObject nameless = bid("x", 0, 2);
    nameless.remove("cluster");
    assertTrue(remedy(alice, "bid_write", nameless).startsWith("whoami names"));
    assertTrue(
        remedy(
                alice,
                "bid_write",
                bid("acme-batch", 0, 2).put("phase", "confirm").put("confirm_token", "c1.x.y"))
            .startsWith("bid_write with phase=preview"));
    assertTrue(
        remedy(alice, "checkpoint_read", new JsonObject().put("action", "get").put("id", "x"))
            .startsWith("checkpoint_read with action=list"));
    assertEquals(
        "the token lacks the scope capacity:write",
        McpClient.of(bourse, "acme", "alice", java.util.Set.of(Scope.CAPACITY_READ))
            .send(
                "tools/call",
                new JsonObject().put("name", "bid_write").put("arguments", bid("acme-batch", 8, 2)))
            .refused(ErrorCode.FORBIDDEN)
            .getString("detail"));
  }

  @Test
  void gridApiNamesWhatIsOfferedInstead() {
    for (List<String> elsewhere :
        List.of(
            List.of("/api/whoami", "the tool whoami"),
            List.of("/api/checkpoints/ckp_1", "the tool checkpoint_read"),
            List.of("/api/vm/events", "capacity_read, with action=wait"),
            List.of("/api/operator/orgs", "/api/vm/capacity, "),
            List.of("/api/vm/nothing", "/api/market/feed, "))) {
      String detail =
          alice
              .refused("grid_api", read(elsewhere.get(0)), ErrorCode.NOT_FOUND)
              .getString("detail");
      assertTrue(detail.startsWith(elsewhere.get(0) + " is not offered here; "), detail);
      assertTrue(detail.contains(elsewhere.get(1)), detail);
    }
  }

  @Test
  void theOperatorsContractIsNoResource() {
    List<String> names =
        ClusterClient.objects(alice.result("resources/list").getJsonArray("resources")).stream()
            .map(resource -> resource.getString("name"))
            .toList();
    assertTrue(names.contains("vm.openapi.json"), names.toString());
    assertFalse(names.contains("operator.openapi.json"), names.toString());
    alice.error(
        200,
        -32602,
        "resources/read",
        new JsonObject().put("uri", bourse.service().baseUrl() + "/api/operator/openapi.json"));
  }
}
