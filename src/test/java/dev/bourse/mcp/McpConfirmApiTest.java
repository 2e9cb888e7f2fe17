package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.bid;
import static dev.bourse.testing.McpClient.confirm;
import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A model's write is previewed and confirmed. */
@ReplayedOnPostgres
class McpConfirmApiTest {
  private static RunningBourse bourse;
  private static McpClient alice;
  private static McpClient bob;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = McpClient.of(bourse, "acme", "alice");
    bob = McpClient.of(bourse, "acme", "bob");
    client("acme-train").addKey();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static ClusterClient client(String cluster) {
    return new ClusterClient(bourse.as("acme", "orgwide"), "acme", cluster);
  }

  /** A cluster that only this case of the class writes to, with a previewed order. */
  private record Previewed(String cluster, JsonObject arguments, JsonObject preview) {
    JsonObject confirm() {
      return McpClient.confirm(arguments, preview);
    }

    /** The confirm is refused for this reason, and writes nothing. */
    void refused(McpClient client, JsonObject confirm, String reason) {
      long version = client(cluster).version();
      JsonObject refusal = client.refused("bid_write", confirm, ErrorCode.CONFLICT);
      assertEquals(reason, refusal.getString("reason"), refusal.encode());
      assertEquals(version, client(cluster).version(), "nothing is written");
    }
  }

  private static Previewed previewed(String cluster) {
    JsonObject arguments = bid(cluster, 8, 2.5);
    return new Previewed(cluster, arguments, alice.ok("bid_write", arguments));
  }

  @Test
  void aConfirmedBidIsTheClustersDeclarationAndTheMembersDeed() {
    ClusterClient client = client("acme-train");
    long before = client.version();
    JsonObject arguments = bid("acme-train", 16, 3.5);
    JsonObject preview = alice.ok("bid_write", arguments);
    assertEquals(before, preview.getLong("version"));
    assertEquals(56.0, preview.getDouble("most_per_hour"));
    assertEquals(
        16, preview.getJsonObject("state").getJsonObject("declared").getInteger("max_gpus"));
    assertEquals(before, client.version(), "a preview writes nothing");
    JsonObject confirmed = alice.ok("bid_write", confirm(arguments, preview));
    assertEquals(before + 1, confirmed.getLong("version"));
    JsonObject declared = client.state().getJsonObject("declared");
    assertEquals(16, declared.getInteger("max_gpus"));
    assertEquals(3.5, declared.getDouble("max_price_per_gpu_hour"));
    assertEquals("member:alice", declared.getString("updated_by"));
    JsonObject newest =
        ClusterClient.objects(
                bourse.as("acme", "orgwide").get("/api/org/activity").ok().getJsonArray("entries"))
            .stream()
            .filter(entry -> entry.getString("subject").equals("acme-train"))
            .findFirst()
            .orElseThrow();
    assertEquals("member:alice", newest.getString("actor"));
    assertEquals("vm_capacity_put", newest.getString("action"));
  }

  @Test
  void aPreviewTellsWhatAShrinkWouldTakeAndFlagsWhatItDoesNotHold() {
    ClusterClient client =
        new ClusterClient(bourse.as("globex", "orgwide"), "globex", "globex-main");
    List<String> held = client.hold(2, 5);
    McpClient dave = McpClient.of(bourse, "globex", "dave");
    client.put(client.order(2, 5).put("release", new JsonArray().add(held.get(0)))).ok();
    JsonObject arguments =
        bid("globex-main", 8, 5).put("release", new JsonArray().add(held.get(1)));
    JsonObject preview = dave.ok("bid_write", arguments);
    assertEquals(new JsonArray().add(held.get(1)), preview.getJsonArray("releases"));
    assertEquals(new JsonArray().add(held.get(1)), preview.getJsonArray("nominations"));
    assertEquals(new JsonArray().add(held.get(0)), preview.getJsonArray("replaced_nominations"));
    assertEquals(new JsonArray(), preview.getJsonArray("unknown_nodes"));
    assertEquals(new JsonArray(), preview.getJsonArray("unprotected"), "the ceiling stays");
    assertEquals(
        held,
        ClusterClient.texts(
            dave.ok("bid_write", bid("globex-main", 16, 4)).getJsonArray("unprotected")));
    JsonObject flagged =
        dave.ok(
            "bid_write",
            bid("globex-main", 8, 5)
                .put("release", new JsonArray().add("192.0.2.1").add(held.get(1))));
    assertEquals(new JsonArray().add("192.0.2.1"), flagged.getJsonArray("unknown_nodes"));
    assertNull(flagged.getString("confirm_token"));
    assertEquals("unknown-node", flagged.getJsonObject("refusal").getString("error"));
    assertEquals(2, client.active().size(), "a preview takes nothing");
    dave.ok("bid_write", confirm(arguments, preview));
    assertEquals(List.of(held.get(0)), client.untilHeld(1));
  }

  @Test
  void aPreviewTellsWhatTheNextTickWouldBringAndNodesByAddressAlone() {
    ClusterClient client =
        new ClusterClient(bourse.as("openlab", "orgwide"), "openlab", "openlab-main");
    client.addKey();
    JsonObject order = client.order(2, 4);
    JsonObject outlook =
        McpClient.of(bourse, "openlab", "carol")
            .ok("bid_write", order.copy().put("kind", "vm").put("phase", "preview"));
    JsonObject same = client.caller().post("/api/vm/capacity/preview", order).ok();
    for (String figure :
        List.of(
            "nodes_won",
            "nodes_granted",
            "nodes_unfilled",
            "clearing_price_per_gpu_hour",
            "cost_per_hour")) {
      assertEquals(same.getValue(figure), outlook.getValue(figure), figure);
    }
    assertEquals(2, outlook.getInteger("nodes_won"));
    assertEquals(
        16.0, outlook.getDouble("cost_per_hour"), "2 nodes of 8 GPUs at the reserve price");
    assertFalse(outlook.encode().contains("demo-h100-"), "no node's name");
  }

  @Test
  void aReplayedConfirmIsRefused() {
    Previewed once = previewed("acme-train");
    alice.ok("bid_write", once.confirm());
    once.refused(alice, once.confirm(), "confirm-used");
  }

  @Test
  void ofTwoConfirmsAtOnceOneWrites() {
    Previewed once = previewed("acme-train");
    long version = client("acme-train").version();
    List<Boolean> refused =
        Stream.of(alice, McpClient.of(bourse, "acme", "alice"))
            .parallel()
            .map(client -> client.call("bid_write", once.confirm()).getBoolean("isError"))
            .sorted()
            .toList();
    assertEquals(List.of(false, true), refused);
    assertEquals(version + 1, client("acme-train").version());
  }

  @Test
  void anAlteredConfirmIsRefused() {
    Previewed once = previewed("acme-train");
    once.refused(alice, once.confirm().put("max_gpus", 16), "confirm-altered");
    once.refused(alice, once.confirm().put("max_price_per_gpu_hour", 2.51), "confirm-altered");
    once.refused(alice, once.confirm().put("cluster", "acme-batch"), "confirm-altered");
    once.refused(alice, once.confirm().put("release", new JsonArray()), "confirm-altered");
    String token = once.confirm().getString("confirm_token");
    for (int at : new int[] {0, 3, token.indexOf('.', 3) + 1, token.length() - 2}) {
      char other = token.charAt(at) == 'A' ? 'B' : 'A';
      String altered = token.substring(0, at) + other + token.substring(at + 1);
      once.refused(alice, once.confirm().put("confirm_token", altered), "confirm-altered");
    }
    alice.ok("bid_write", once.confirm());
  }

  @Test
  void equalArgumentsWrittenOtherwiseAreNotAltered() {
    Previewed once = previewed("acme-train");
    alice.ok(
        "bid_write",
        once.confirm().put("max_price_per_gpu_hour", new java.math.BigDecimal("2.50")));
  }

  @Test
  void anotherMembersConfirmIsRefused() {
    Previewed once = previewed("acme-train");
    once.refused(bob, once.confirm(), "confirm-altered");
    alice.ok("bid_write", once.confirm());
  }

  @Test
  void aConfirmOfAnotherToolIsRefused() {
    Previewed once = previewed("acme-train");
    JsonObject refusal =
        alice.refused(
            "checkpoint_write",
            new JsonObject()
                .put("action", "delete")
                .put("id", "ckp_1")
                .put("phase", "confirm")
                .put("confirm_token", once.preview().getString("confirm_token")),
            ErrorCode.CONFLICT);
    assertEquals("confirm-altered", refusal.getString("reason"));
  }

  @Test
  void aConfirmOfAStaleVersionIsRefused() {
    Previewed once = previewed("acme-train");
    client("acme-train").declare(1, 2.25);
    long version = client("acme-train").version();
    alice.refused("bid_write", once.confirm(), ErrorCode.VERSION_MISMATCH);
    assertEquals(version, client("acme-train").version());
  }

  @Test
  void anExpiredConfirmIsRefused() {
    JsonObject arguments = bid("acme-batch", 8, 2.5);
    Previewed current = new Previewed("acme-batch", arguments, alice.ok("bid_write", arguments));
    byte[] secret = await(new ServiceSecrets(bourse.database(), new Random(1)).get("mcp-confirm"));
    Principal principal =
        new Principal(
            new Organization("acme", "Acme", "standard"),
            "member:alice",
            "",
            EnumSet.allOf(Scope.class),
            null,
            null,
            "alice",
            "acme/alice/1",
            Principal.CredentialKind.MCP_TOKEN);
    long version = client("acme-batch").version();
    for (boolean expired : new boolean[] {true, false}) {
      Duration age = Duration.ofMillis(PastConfirms.validMillis() + (expired ? 1_000 : -60_000));
      String token =
          new PastConfirms(
                  secret, bourse.database(), Clock.offset(Clock.systemUTC(), age.negated()))
              .issue(principal, "bid_write", arguments, "acme-batch", version);
      JsonObject confirm = current.confirm().put("confirm_token", token);
      if (expired) {
        current.refused(alice, confirm, "confirm-expired");
      } else {
        assertEquals(version + 1, alice.ok("bid_write", confirm).getLong("version"));
      }
    }
  }

  @Test
  void aConfirmWithoutATokenIsRefused() {
    alice.refused(
        "bid_write", bid("acme-train", 8, 2.5).put("phase", "confirm"), ErrorCode.BAD_REQUEST);
  }

  @Test
  void aRefusedConfirmUsesItsTokenNotUp() {
    SteppingClock clock = SteppingClock.midMonth();
    try (RunningBourse slow = RunningBourse.demo(clock, "capacity.write-cadence=1m")) {
      McpClient carol = McpClient.of(slow, "openlab", "carol");
      new ClusterClient(slow.as("openlab", "orgwide"), "openlab", "openlab-main").addKey();
      JsonObject arguments = bid("openlab-main", 8, 2);
      carol.ok("bid_write", confirm(arguments, carol.ok("bid_write", arguments)));
      JsonObject tooEarly = confirm(arguments, carol.ok("bid_write", arguments));
      JsonObject refusal = carol.refused("bid_write", tooEarly, ErrorCode.RATE_LIMITED);
      assertTrue(refusal.getInteger("retry_after_s") >= 1);
      clock.step(60_000);
      carol.ok("bid_write", tooEarly);
    }
  }

  @Test
  void aCheckpointIsRemovedInTwoPhases() {
    ApiClient publisher = bourse.asMember("acme", "alice");
    byte[] bytes = FilesFixture.bytes(1_000, 1);
    String name = FilesFixture.freshName();
    String id = FilesFixture.publish(publisher, name, bytes, "org").getString("id");
    JsonObject arguments =
        new JsonObject().put("action", "delete").put("id", id).put("phase", "preview");
    bob.refused("checkpoint_write", arguments, ErrorCode.GONE);
    JsonObject stale = alice.ok("checkpoint_write", arguments);
    assertEquals(name, stale.getJsonObject("checkpoint").getString("filename"));
    FilesFixture.publish(publisher, name, FilesFixture.bytes(1_000, 2), "org");
    alice.refused("checkpoint_write", confirm(arguments, stale), ErrorCode.VERSION_MISMATCH);
    JsonObject preview = alice.ok("checkpoint_write", arguments);
    JsonObject gone = alice.ok("checkpoint_write", confirm(arguments, preview));
    assertTrue(gone.containsKey("deleted_at"));
    publisher.get(FilesFixture.item(id)).refused(ErrorCode.GONE);
    assertEquals(
        "confirm-used",
        alice
            .refused("checkpoint_write", confirm(arguments, preview), ErrorCode.CONFLICT)
            .getString("reason"));
    AuditRow row =
        bourse.audit("acme", false).stream()
            .filter(one -> one.action().equals("checkpoint_delete"))
            .findFirst()
            .orElseThrow();
    assertEquals("member:alice", row.actor());
  }
}
