package dev.bourse.mcp;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Scrape;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A model waits for a change of a cluster instead of polling. */
@ReplayedOnPostgres
class McpWaitApiTest extends McpApiFixture {
  private static JsonObject waiting(String cluster) {
    return new JsonObject().put("action", "wait").put("cluster", cluster);
  }

  private static ClusterClient train() {
    return new ClusterClient(token, "acme", "acme-train");
  }

  private static int running() {
    return running(bourse);
  }

  /** The number of waits in the metrics. */
  private static int running(RunningBourse service) {
    return (int) Scrape.of(service.service().signals()).sum("bourse_waits_running");
  }

  private static CompletableFuture<JsonObject> begun(McpClient member, JsonObject arguments) {
    int before = running();
    CompletableFuture<JsonObject> wait =
        CompletableFuture.supplyAsync(() -> member.ok("capacity_read", arguments));
    until("it waits", () -> running() > before || wait.isDone());
    return wait;
  }

  @Test
  void aWaitIsOverWithTheChange() {
    CompletableFuture<JsonObject> wait = begun(alice, waiting("acme-train"));
    assertFalse(wait.isDone(), "nothing has happened yet");
    JsonObject declared = train().declare(0, 2);
    JsonObject received = wait.join();
    assertEquals(true, received.getBoolean("changed"));
    if (received.getLong("version") < declared.getLong("version")) {
      // The row of a write can be read a moment before its state is in force.
      received =
          alice.ok(
              "capacity_read", waiting("acme-train").put("cursor", received.getString("cursor")));
    }
    assertEquals(declared.getLong("version"), received.getLong("version"));
    assertEquals(
        ClusterClient.withoutPrices(declared),
        ClusterClient.withoutPrices(received.getJsonObject("state")));
  }

  @Test
  void whatHasChangedAlreadyIsAnsweredAtOnce() {
    ClusterClient client = train();
    long version = client.version();
    JsonObject unchanged =
        alice.ok("capacity_read", waiting("acme-train").put("version", version).put("wait_s", 1));
    assertEquals(false, unchanged.getBoolean("changed"));
    client.declare(0, 2.5);
    JsonObject byVersion = alice.ok("capacity_read", waiting("acme-train").put("version", version));
    assertEquals(true, byVersion.getBoolean("changed"));
    JsonObject byCursor =
        alice.ok(
            "capacity_read", waiting("acme-train").put("cursor", unchanged.getString("cursor")));
    assertEquals(true, byCursor.getBoolean("changed"));
    assertEquals(version + 1, byCursor.getLong("version"));
    assertEquals(
        false,
        alice
            .ok(
                "capacity_read",
                waiting("acme-train").put("cursor", byCursor.getString("cursor")).put("wait_s", 1))
            .getBoolean("changed"),
        "told once");
  }

  @Test
  void aWaitTellsTheNodesThatCame() {
    ClusterClient client =
        new ClusterClient(bourse.as("globex", "orgwide"), "globex", "globex-main");
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    String cursor =
        dave.ok("capacity_read", waiting("globex-main").put("wait_s", 1)).getString("cursor");
    client.hold(1, 5);
    JsonObject received = dave.ok("capacity_read", waiting("globex-main").put("cursor", cursor));
    List<String> notes =
        ClusterClient.objects(received.getJsonArray("activity")).stream()
            .map(entry -> entry.getString("note"))
            .toList();
    assertTrue(
        notes.stream().anyMatch(note -> note.contains(client.active().get(0))), notes.toString());
  }

  @Test
  void aCursorWhoseEntryIsGoneIsAGap() {
    JsonObject received =
        alice.ok(
            "capacity_read", waiting("acme-train").put("cursor", "999999999999-0123456789abcdef"));
    assertEquals(true, received.getBoolean("gap"));
    assertEquals(true, received.getBoolean("changed"));
  }

  @Test
  void aWaitForAKubernetesClusterNamesItsNodes() {
    JsonObject wait = waiting("acme-k8s").put("kind", "k8s");
    CompletableFuture<JsonObject> first = begun(alice, wait);
    token
        .put(
            "/api/k8s/bid",
            new JsonObject()
                .put("cluster", "acme-k8s")
                .put("limit_price_per_gpu_hour", 2)
                .put("max_gpus", ClusterClient.NODE)
                .put("expected_version", 0))
        .ok();
    List<String> notes = new ArrayList<>();
    JsonObject received = first.join();
    while (notes.isEmpty()) {
      received = alice.ok("capacity_read", wait.copy().put("cursor", received.getString("cursor")));
      ClusterClient.objects(received.getJsonArray("activity"))
          .forEach(entry -> notes.add(entry.getString("note")));
    }
    assertTrue(notes.get(0).startsWith("granted demo-h100-000"), notes.toString());
    assertEquals("acme-k8s", received.getJsonObject("state").getString("cluster"));
  }

  @Test
  void aWaitTakesOnlyWhatIsItsOwn() {
    JsonObject wait = waiting("acme-train");
    alice.refused("capacity_read", wait.copy().put("wait_s", 26), ErrorCode.BAD_REQUEST);
    alice.refused("capacity_read", wait.copy().put("cursor", "x"), ErrorCode.BAD_REQUEST);
    alice.refused(
        "capacity_read", wait.copy().put("action", "read").put("wait_s", 1), ErrorCode.BAD_REQUEST);
    alice.refused("capacity_read", wait.copy().put("kind", "k8s"), ErrorCode.NOT_FOUND);
    alice.refused("capacity_read", waiting("globex-main"), ErrorCode.NOT_FOUND);
    McpClient.needing(bourse, Scope.CAPACITY_READ, "capacity_read", wait);
  }

  @Test
  void aMemberHasSoManyWaitsAndNoMore() {
    McpClient bob = McpClient.of(bourse, "acme", "bob", EnumSet.of(Scope.CAPACITY_READ));
    ClusterClient legacy = new ClusterClient(token, "acme", "acme-legacy");
    List<CompletableFuture<JsonObject>> waits = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waits.add(begun(bob, waiting("acme-legacy")));
    }
    bob.refused("capacity_read", waiting("acme-legacy"), ErrorCode.OVERLOADED);
    JsonObject declared = legacy.state().getJsonObject("declared");
    legacy
        .put(
            new JsonObject()
                .put("cluster", "acme-legacy")
                .put("max_gpus", declared == null ? 0 : declared.getInteger("max_gpus"))
                .put("max_price_per_gpu_hour", 3.21)
                .put("expected_version", legacy.version()))
        .ok();
    waits.forEach(wait -> assertEquals(true, wait.join().getBoolean("changed")));
    until("all places are free", () -> running() == 0);
  }

  @Test
  void aClientThatLeftIsForgotten() throws IOException {
    URI service = URI.create(bourse.service().baseUrl());
    String secret = McpClient.token(bourse, "acme", "alice", EnumSet.of(Scope.CAPACITY_READ));
    String body =
        McpClient.request(
                "tools/call",
                new JsonObject()
                    .put("name", "capacity_read")
                    .put("arguments", waiting("acme-batch"))
                    .put("_meta", McpClient.meta()))
            .encode();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.getPort())) {
      socket
          .getOutputStream()
          .write(
              """
              POST /mcp HTTP/1.1\r
              Host: localhost:%d\r
              Authorization: Bearer %s\r
              Content-Type: application/json\r
              MCP-Protocol-Version: 2026-07-28\r
              Mcp-Method: tools/call\r
              Mcp-Name: capacity_read\r
              Content-Length: %d\r
              \r
              %s"""
                  .formatted(service.getPort(), secret, body.length(), body)
                  .getBytes(StandardCharsets.UTF_8));
      until("it waits", () -> running() == 1);
    }
    until("it is forgotten", () -> running() == 0);
  }

  @Test
  void aServiceThatStopsAnswersThoseWhoWait() {
    try (RunningBourse stopping = RunningBourse.demo("drain-delay=1s")) {
      McpClient carol = McpClient.of(stopping, "openlab", "carol");
      CompletableFuture<JsonObject> wait =
          CompletableFuture.supplyAsync(() -> carol.ok("capacity_read", waiting("openlab-main")));
      until("it waits", () -> running(stopping) == 1);
      long began = System.nanoTime();
      // The close also replays the statements on PostgreSQL, which may take as long as the wait.
      stopping.stop();
      assertEquals(false, wait.join().getBoolean("changed"));
      assertTrue(
          Duration.ofNanos(System.nanoTime() - began).toSeconds() < 20, "not only at its deadline");
    }
  }
}
