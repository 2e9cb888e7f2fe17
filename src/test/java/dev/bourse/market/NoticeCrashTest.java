package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplicaPair;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A process that dies while a notice runs, and another that takes its market over. */
@EachEngine
class NoticeCrashTest {
  /** Time for the next process to start, unless the machine is very busy. */
  private static final String NOTICE = "market.notice=12s";

  /** The demo world's nodes but for those of its operator-managed cluster. */
  private static final int NODES = 14;

  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "market.tick=50ms",
          "market.protection=0",
          NOTICE,
          "capacity.write-cadence=0",
          "nodes.simulated.provision-delay=10ms",
          "nodes.simulated.reclaim-delay=10ms",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0");

  @Test
  void aProcessThatIsKilledLeavesTheNoticeAsItWasTold() throws IOException {
    Path data = RunningBourse.newFolder();
    JsonObject told;
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      told =
          outbid(
              client(data, child, "acme", "acme-train"),
              client(data, child, "globex", "globex-main"));
      child.kill();
    }
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      runsOut(client(data, child, "acme", "acme-train"), told);
    }
    TestStore.delete(data);
  }

  @Test
  @OneEngine("only PostgreSQL is shared by several processes")
  void whoTakesTheMarketOverKeepsTheNoticeAsItWasTold() throws Exception {
    try (ReplicaPair replicas = new ReplicaPair(NOTICE, "market.lease=2s", "market.tick=50ms")) {
      replicas.addKeys();
      for (String cluster : ReplicaPair.CLUSTERS.keySet()) {
        ClusterClient client = replicas.client(replicas.first(), cluster);
        client.declare(0, 2);
      }
      JsonObject told =
          outbid(
              replicas.client(replicas.first(), "acme-train"),
              replicas.client(replicas.first(), "globex-main"));
      replicas.first().kill();
      runsOut(replicas.client(replicas.second(), "acme-train"), told);
      assertEquals(2, replicas.number("SELECT MAX(epoch) FROM lease"));
    }
  }

  private static ClusterClient client(Path data, ChildBourse child, String org, String cluster)
      throws IOException {
    String token =
        new JsonObject(Files.readString(data.resolve("demo.json")))
            .getJsonObject("orgs")
            .getJsonObject(org)
            .getJsonObject("tokens")
            .getString("orgwide");
    return new ClusterClient(new ApiClient(child.baseUrl(), token), org, cluster);
  }

  /** The allocation that is given notice because of a rival. */
  private static JsonObject outbid(ClusterClient holder, ClusterClient rival) {
    holder.hold(NODES, 2);
    rival.addKey();
    rival.declare(1, 5);
    until("it is given notice", () -> noticed(holder).isPresent());
    return noticed(holder).orElseThrow();
  }

  private static void runsOut(ClusterClient holder, JsonObject told) {
    noticed(holder).ifPresent(still -> assertEquals(told, still));
    holder.untilHeld(NODES - 1);
    JsonObject gone =
        holder.activity().stream()
            .filter(e -> String.valueOf(e.getString("note")).startsWith("released"))
            .findFirst()
            .orElseThrow();
    assertEquals("released " + told.getString("public_ip"), gone.getString("note"));
    Instant due = Instant.parse(told.getString("reclaim_at"));
    assertFalse(Instant.parse(gone.getString("ts")).isBefore(due));
  }

  private static Optional<JsonObject> noticed(ClusterClient client) {
    return client.allocations().stream().filter(a -> a.getString("reclaim_at") != null).findFirst();
  }
}
