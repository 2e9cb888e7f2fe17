package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.bid;
import static dev.bourse.testing.McpClient.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import dev.bourse.contract.Contract;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The tools' answers, and their refusals, which match the HTTP API's. */
@ReplayedOnPostgres
class McpToolsApiTest extends McpApiFixture {
  @Test
  void toolsSayWhatTheyAre() {
    assertEquals(
        List.of(
            "whoami",
            "capacity_read",
            "bid_write",
            "ssh_key_write",
            "market_read",
            "billing_read",
            "hardware_read",
            "checkpoint_read",
            "checkpoint_write",
            "skill_read",
            "roadmap_read",
            "grid_api"),
        alice.toolNames());
    for (JsonObject tool : ClusterClient.objects(alice.tools())) {
      boolean writes = tool.getString("name").endsWith("_write");
      JsonObject annotations = tool.getJsonObject("annotations");
      assertEquals(!writes, annotations.getBoolean("readOnlyHint"), tool.getString("name"));
      assertEquals(writes, annotations.getBoolean("destructiveHint"), tool.getString("name"));
      for (String schema : List.of("inputSchema", "outputSchema")) {
        assertEquals("object", tool.getJsonObject(schema).getString("type"));
        assertFalse(tool.getJsonObject(schema).encode().contains("$ref"));
      }
    }
  }

  @Test
  void checkpointToolsAreAbsentWhileTheFamilyIsOff() {
    try (RunningBourse without = RunningBourse.demo("checkpoints.enabled=false")) {
      McpClient dave = McpClient.of(without, "globex", "dave");
      assertEquals(
          List.of(
              "whoami",
              "capacity_read",
              "bid_write",
              "ssh_key_write",
              "market_read",
              "billing_read",
              "hardware_read",
              "skill_read",
              "roadmap_read",
              "grid_api"),
          dave.toolNames());
      dave.error(200, -32602, "tools/call", new JsonObject().put("name", "checkpoint_read"));
      assertEquals(List.of("whoami"), dave.at("/mcp?toolsets=checkpoints").toolNames());
    }
  }

  @Test
  void anAddressWithToolsetsOffersThoseToolsAlone() {
    McpClient few = alice.at("/mcp?toolsets=market,%20skills");
    assertEquals(List.of("whoami", "market_read", "skill_read"), few.toolNames());
    assertEquals(
        alice.ok("market_read", new JsonObject().put("action", "feed")).fieldNames(),
        few.ok("market_read", new JsonObject().put("action", "feed")).fieldNames());
    JsonObject bid = new JsonObject().put("name", "bid_write").put("arguments", new JsonObject());
    assertTrue(
        few.error(200, -32602, "tools/call", bid)
            .getString("message")
            .endsWith("there are whoami, market_read, skill_read"));
    String refusal =
        alice
            .at("/mcp?toolsets=market,shell")
            .send("tools/list", new JsonObject())
            .refused(ErrorCode.BAD_REQUEST)
            .getString("detail");
    String expected = "toolsets: shell is not acceptable; expected names of ";
    assertTrue(refusal.startsWith(expected), refusal);
    String described =
        Contract.load("mcp").piece("components", "parameters", "toolsets").getString("description");
    for (String group : refusal.substring(expected.length()).split(", ", -1)) {
      assertTrue(described.contains('`' + group + '`'), group);
    }
    alice.at("/mcp?toolsets=,").send("tools/list", new JsonObject()).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void skillReadGivesTheFileThatAnybodyMayFetch() {
    JsonObject listed =
        alice
            .ok("skill_read", new JsonObject().put("action", "list"))
            .getJsonArray("skills")
            .getJsonObject(0);
    JsonObject read =
        alice.ok("skill_read", new JsonObject().put("action", "get").put("name", "bourse"));
    assertEquals(listed, read.getJsonObject("skill"));
    byte[] file = bourse.with(null).fetch("GET", "/skills/bourse/SKILL.md").body();
    assertEquals(new String(file, StandardCharsets.UTF_8), read.getString("text"));
    assertEquals(file.length, listed.getInteger("size"));
    assertEquals(
        "sha256:" + HexFormat.of().formatHex(Digests.sha256(file)), listed.getString("digest"));
    alice.refused(
        "skill_read",
        new JsonObject().put("action", "get").put("name", "../bourse"),
        ErrorCode.NOT_FOUND);
  }

  private static JsonObject hardware(String action) {
    return new JsonObject().put("action", action).put("cluster", "acme-legacy");
  }

  @Test
  void hardwareReadGivesWhatTheNodesReported() {
    bourse
        .with(bourse.nodeCredential("acme-legacy"))
        .post(
            "/api/node/metrics",
            new JsonObject()
                .put(
                    "gpus",
                    new JsonArray()
                        .add(gpu(0).put("utilization_percent", 40).put("power_w", 642))
                        .add(gpu(5).put("utilization_percent", 97).put("ecc_corrected", 3))))
        .ok();
    JsonObject read = alice.ok("hardware_read", hardware("nodes"));
    List<JsonObject> nodes = ClusterClient.objects(read.getJsonArray("nodes"));
    assertEquals("acme-legacy", read.getString("cluster"));
    assertEquals(2, nodes.size());
    assertFalse(read.getBoolean("truncated"));
    JsonObject told =
        nodes.stream().filter(node -> node.getValue("heard_at") != null).findFirst().orElseThrow();
    JsonObject silent =
        nodes.stream().filter(node -> node.getValue("heard_at") == null).findFirst().orElseThrow();
    assertEquals(69, told.getInteger("mean_utilization_percent"));
    assertEquals(642, told.getInteger("power_w"));
    assertNull(told.getValue("highest_temperature_c"));
    assertNull(silent.getValue("power_w"));

    String ip = told.getString("node");
    assertEquals(
        token
            .get("/api/vm/metrics?cluster=acme-legacy&node=" + ip)
            .ok()
            .getJsonArray("nodes")
            .getJsonObject(0)
            .getJsonArray("gpus"),
        of(alice.ok("hardware_read", hardware("gpus")), ip).getJsonArray("gpus"));
    JsonObject health = of(alice.ok("hardware_read", hardware("health")), ip);
    assertEquals(3, health.getInteger("ecc_corrected"));
    assertNull(health.getValue("ecc_uncorrected"));

    JsonObject hour = alice.ok("hardware_read", hardware("history").put("node", ip));
    JsonArray series = of(hour, ip).getJsonArray("series");
    assertEquals(8, series.size(), "a node's GPUs fit into one answer");
    assertTrue(series.getJsonObject(5).getJsonArray("utilization_percent").contains(97));
    JsonObject rest =
        alice.ok("hardware_read", hardware("history").put("node", ip).put("after", "6"));
    assertEquals(1, of(rest, ip).getJsonArray("series").size());
    JsonObject later = alice.ok("hardware_read", hardware("gpus").put("after", ip));
    assertEquals(nodes.indexOf(told) == 0 ? 1 : 0, later.getJsonArray("nodes").size());
  }

  private static JsonObject gpu(int index) {
    return new JsonObject().put("index", index);
  }

  private static JsonObject of(JsonObject answer, String node) {
    return ClusterClient.objects(answer.getJsonArray("nodes")).stream()
        .filter(one -> node.equals(one.getString("node")))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void hardwareReadIsOfTheMembersOwnNodesAlone() {
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    dave.refused("hardware_read", hardware("nodes"), ErrorCode.NOT_FOUND);
    JsonObject elsewhere = hardware("history").put("cluster", "globex-main");
    String ip =
        alice
            .ok("hardware_read", hardware("nodes"))
            .getJsonArray("nodes")
            .getJsonObject(0)
            .getString("node");
    dave.refused("hardware_read", elsewhere.copy().put("node", ip), ErrorCode.NOT_FOUND);
    alice.refused("hardware_read", hardware("history"), ErrorCode.BAD_REQUEST);
    alice.refused("hardware_read", hardware("nodes").put("node", ip), ErrorCode.BAD_REQUEST);
    JsonObject crafted = hardware("history").put("node", ip).put("after", "1e9");
    alice.refused("hardware_read", crafted, ErrorCode.BAD_REQUEST);
    alice.refused("hardware_read", hardware("nodes").put("kind", "k8s"), ErrorCode.NOT_FOUND);
    McpClient.needing(bourse, Scope.CAPACITY_READ, "hardware_read", hardware("nodes"))
        .ok("hardware_read", hardware("nodes"));
    JsonObject k8s = new JsonObject().put("action", "gpus").put("kind", "k8s");
    McpClient.needing(bourse, Scope.BID_READ, "hardware_read", k8s).ok("hardware_read", k8s);
  }

  @Test
  void whoamiNamesTheMemberAndTheClusters() {
    JsonObject me = alice.ok("whoami", new JsonObject());
    assertEquals("acme", me.getString("org_id"));
    assertEquals("alice", me.getString("username"));
    assertEquals(
        List.of("acme-batch vm", "acme-k8s k8s", "acme-legacy vm", "acme-train vm"),
        ClusterClient.objects(me.getJsonArray("clusters")).stream()
            .map(cluster -> cluster.getString("name") + ' ' + cluster.getString("kind"))
            .sorted()
            .toList());
  }

  @Test
  void capacityReadIsTheCapacityStateAndRecorded() {
    JsonObject arguments = new JsonObject().put("cluster", "acme-legacy");
    assertEquals(
        token.get("/api/vm/capacity?cluster=acme-legacy").ok(),
        alice.ok("capacity_read", arguments));
    RunningBourse.until(
        "the read is recorded",
        () ->
            bourse.audit("acme", true).stream()
                .map(AuditRow::actor)
                .anyMatch("member:alice"::equals));
  }

  @Test
  void capacityReadForeseesTheLossesOfAClusterOfEitherKind() {
    for (String[] of :
        List.of(
            new String[] {"vm", "acme-legacy", "/api/vm/capacity/outlook"},
            new String[] {"k8s", "acme-k8s", "/api/k8s/bid/outlook"})) {
      JsonObject arguments =
          new JsonObject().put("action", "outlook").put("kind", of[0]).put("cluster", of[1]);
      assertEquals(
          token.get(of[2] + "?cluster=" + of[1]).ok().fieldNames(),
          alice.ok("capacity_read", arguments).fieldNames());
      alice.refused("capacity_read", arguments.copy().put("wait_s", 5), ErrorCode.BAD_REQUEST);
      alice.refused("capacity_read", arguments.copy().put("cluster", "x"), ErrorCode.NOT_FOUND);
    }
  }

  @Test
  void gridApiOffersTheReadsOfTheContracts() {
    String description =
        ClusterClient.objects(alice.tools()).stream()
            .filter(tool -> tool.getString("name").equals("grid_api"))
            .findFirst()
            .orElseThrow()
            .getString("description");
    for (String path :
        List.of(
            "/api/billing/balance",
            "/api/billing/ledger",
            "/api/billing/statements",
            "/api/billing/statements/{month}",
            "/api/billing/usage",
            "/api/billing/usage/working",
            "/api/k8s/activity",
            "/api/k8s/alerts",
            "/api/k8s/bid",
            "/api/k8s/bid/outlook",
            "/api/k8s/clusters",
            "/api/k8s/clusters/{name}",
            "/api/k8s/history",
            "/api/k8s/metrics",
            "/api/market/depth",
            "/api/market/feed",
            "/api/market/history",
            "/api/market/quote",
            "/api/org/activity",
            "/api/org/members",
            "/api/org/tokens",
            "/api/org/tokens/{token_id}/activity",
            "/api/roadmap",
            "/api/vm/activity",
            "/api/vm/alerts",
            "/api/vm/capacity",
            "/api/vm/capacity/host-keys",
            "/api/vm/capacity/outlook",
            "/api/vm/history",
            "/api/vm/nodes/{public_ip}/handover",
            "/api/vm/orgs/{org}/ssh-keys")) {
      assertTrue(description.contains("\n" + path + ": "), path);
    }
    assertEquals(
        32, description.lines().filter(line -> line.matches("/api/\\S+: .*")).count(), description);
  }

  @Test
  void gridApiAnswersAsTheHttpInterface() {
    String tokenId = token.actor().substring("token:".length());
    for (String path :
        List.of(
            "/api/org/members",
            "/api/org/tokens/" + tokenId + "/activity?limit=1",
            "/api/vm/activity?cluster=acme-legacy",
            "/api/vm/orgs/acme/ssh-keys")) {
      assertEquals(
          token.get(path).ok(), alice.ok("grid_api", read(path)).getJsonObject("answer"), path);
    }
    assertEquals(
        "acme",
        alice
            .ok("grid_api", read("/api/org/activity"))
            .getJsonObject("answer")
            .getString("org_id"));
    assertTrue(
        alice
                .ok("grid_api", read("/api/org/tokens"))
                .getJsonObject("answer")
                .getJsonArray("tokens")
                .size()
            > 3);
  }

  @Test
  void selfNamesNoTokenForAMember() {
    alice.refused("grid_api", read("/api/org/tokens/self/activity"), ErrorCode.NOT_FOUND);
  }

  @Test
  void gridApiReachesNothingElse() {
    for (String path :
        List.of(
            "/api/whoami",
            "/api/checkpoints",
            "/api/operator/orgs",
            "/api/vm/openapi.json",
            "/livez",
            "/api/vm/../operator/orgs",
            "//api/org/members",
            "http://127.0.0.1/api/org/members",
            "api/org/members")) {
      alice.refused("grid_api", read(path), ErrorCode.NOT_FOUND);
    }
  }

  @Test
  void gridApiRefusesAsTheHttpInterface() {
    for (String path :
        List.of(
            "/api/org/activity?limit=many",
            "/api/org/activity?before=0",
            "/api/org/activity?dance=1",
            "/api/org/tokens/unknown/activity",
            "/api/vm/capacity",
            "/api/vm/capacity?cluster=globex-main",
            "/api/vm/history?cluster=acme-legacy&hours=0",
            "/api/vm/orgs/globex/ssh-keys")) {
      assertParity(token.get(path), "grid_api", read(path));
    }
  }

  private static void assertParity(HttpAnswer refused, String tool, JsonObject arguments) {
    JsonObject result = alice.call(tool, arguments);
    assertEquals(true, result.getBoolean("isError"), result.encode());
    assertEquals(refused.json(), result.getJsonObject("structuredContent"));
  }

  private static JsonObject order(JsonObject arguments) {
    JsonObject order = arguments.copy();
    order.remove("kind");
    order.remove("phase");
    return order;
  }

  /** The same bid over HTTP and over MCP is refused with the same words. */
  private static void assertBidRefused(ErrorCode code, JsonObject arguments) {
    HttpAnswer refused = token.put("/api/vm/capacity", order(arguments));
    refused.refused(code);
    assertParity(refused, "bid_write", arguments);
  }

  @Test
  void aBidIsRefusedAsTheHttpInterfaceRefusesIt() {
    JsonObject good = bid("acme-batch", 8, 2).put("expected_version", 0);
    assertBidRefused(ErrorCode.NO_SSH_KEYS, good);
    assertBidRefused(ErrorCode.BAD_REQUEST, good.copy().put("max_gpus", 7));
    assertBidRefused(ErrorCode.BAD_REQUEST, good.copy().put("max_gpus", -1));
    assertBidRefused(ErrorCode.BAD_REQUEST, good.copy().put("max_gpus", "eight"));
    assertBidRefused(ErrorCode.PRICE_PRECISION, good.copy().put("max_price_per_gpu_hour", 2.005));
    assertBidRefused(
        ErrorCode.PRICE_ABOVE_MAXIMUM, good.copy().put("max_price_per_gpu_hour", 10.01));
    assertBidRefused(
        ErrorCode.BID_TOO_LOW, good.copy().put("max_gpus", 0).put("max_price_per_gpu_hour", 0.5));
    assertBidRefused(ErrorCode.VERSION_MISMATCH, good.copy().put("expected_version", 99));
    assertBidRefused(ErrorCode.NOT_FOUND, good.copy().put("cluster", "globex-main"));
    JsonObject nameless = good.copy();
    nameless.remove("cluster");
    assertBidRefused(ErrorCode.AMBIGUOUS_CLUSTER, nameless);
    long legacy = token.get("/api/vm/capacity?cluster=acme-legacy").ok().getLong("version");
    assertBidRefused(
        ErrorCode.STATIC_POSTURE, bid("acme-legacy", 64, 2).put("expected_version", legacy));
  }

  @Test
  void argumentsAToolDoesNotTakeAreRefused() {
    alice.refused("whoami", new JsonObject().put("dance", 1), ErrorCode.BAD_REQUEST);
    alice.refused("bid_write", bid("acme-batch", 8, 2).put("kind", "boat"), ErrorCode.BAD_REQUEST);
    alice.refused("bid_write", bid("acme-batch", 8, 2).put("phase", "now"), ErrorCode.BAD_REQUEST);
    alice.refused("grid_api", new JsonObject(), ErrorCode.BAD_REQUEST);
    alice.refused("checkpoint_read", new JsonObject().put("action", "get"), ErrorCode.BAD_REQUEST);
    alice.refused(
        "checkpoint_read", new JsonObject().put("action", "search"), ErrorCode.BAD_REQUEST);
    alice.refused(
        "checkpoint_write",
        new JsonObject().put("action", "delete").put("phase", "preview"),
        ErrorCode.BAD_REQUEST);
  }

  @Test
  void publishingIsNotAvailable() {
    JsonObject publication =
        FilesFixture.publication(FilesFixture.freshName(), FilesFixture.bytes(100, 3), "org");
    for (JsonObject arguments : List.of(publication, new JsonObject().put("id", "ckp_none"))) {
      assertTrue(
          alice
              .refused(
                  "checkpoint_write",
                  arguments.put("action", "publish").put("phase", "preview"),
                  ErrorCode.BAD_REQUEST)
              .getString("detail")
              .contains("action"));
    }
    JsonObject tool =
        ClusterClient.objects(alice.tools()).stream()
            .filter(one -> one.getString("name").equals("checkpoint_write"))
            .findFirst()
            .orElseThrow();
    assertEquals(
        new JsonArray().add("delete"),
        tool.getJsonObject("inputSchema")
            .getJsonObject("properties")
            .getJsonObject("action")
            .getJsonArray("enum"));
  }

  @Test
  void checkpointsAreListedSearchedAndRead() {
    ApiClient publisher = bourse.asMember("acme", "alice");
    String name = FilesFixture.freshName();
    String id =
        FilesFixture.publish(publisher, name, FilesFixture.bytes(100, 3), "org").getString("id");
    JsonObject item = publisher.get(FilesFixture.item(id)).ok();
    assertEquals(
        item,
        alice
            .ok("checkpoint_read", new JsonObject().put("action", "get").put("id", id))
            .getJsonObject("checkpoint"));
    JsonObject found =
        alice.ok("checkpoint_read", new JsonObject().put("action", "search").put("q", name));
    assertEquals(new JsonArray().add(item), found.getJsonArray("checkpoints"));
    JsonObject page =
        alice.ok("checkpoint_read", new JsonObject().put("action", "list").put("limit", 1));
    assertEquals(1, page.getJsonArray("checkpoints").size());
    HttpAnswer gone = publisher.get(FilesFixture.item("ckp_none"));
    gone.refused(ErrorCode.GONE);
    assertParity(
        gone, "checkpoint_read", new JsonObject().put("action", "get").put("id", "ckp_none"));
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    assertEquals(
        "",
        ClusterClient.objects(
                dave.ok("checkpoint_read", new JsonObject().put("action", "list"))
                    .getJsonArray("checkpoints"))
            .stream()
            .map(one -> one.getString("id"))
            .collect(Collectors.joining()));
    dave.refused(
        "checkpoint_read", new JsonObject().put("action", "get").put("id", id), ErrorCode.GONE);
  }
}
