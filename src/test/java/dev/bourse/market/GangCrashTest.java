package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A process that dies while a gang waits for its minimum, and another that takes it over. */
@EachEngine
class GangCrashTest {
  /** The demo world's nodes but for those of its operator-managed cluster. */
  private static final int NODES = 14;

  /** Longer than a process takes to start, unless the machine is very busy. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** How much of the patience has gone by when the process dies. */
  private static final Duration WAITED = Duration.ofSeconds(4);

  private static final String PATIENT = "market.gang-patience=" + PATIENCE.toSeconds() + "s";

  /** What another gives back comes late, so that a gang is ready in part. */
  private static final String SLOW_WIPE = "nodes.simulated.reclaim-delay=6s";

  private static final String QUICK = "nodes.simulated.provision-delay=10ms";
  private static final String NEVER_READY = "nodes.simulated.provision-delay=10m";

  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "market.tick=50ms",
          "market.protection=0",
          "market.notice=0",
          "capacity.write-cadence=0",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0");

  @Test
  void aGangOfWhichSomeWereReadyBecomesActiveAsAWholeAfterARestart() throws IOException {
    Path data = RunningBourse.newFolder();
    List<String> settings = with("market.gang-patience=10m", SLOW_WIPE, QUICK);
    try (ChildBourse child = new ChildBourse(data, settings)) {
      waitsForTheRest(
          client(data, child, "acme", "acme-train"), client(data, child, "globex", "globex-main"));
      child.kill();
    }
    try (ChildBourse child = new ChildBourse(data, settings)) {
      becomesActiveAtOnce(client(data, child, "globex", "globex-main"));
    }
    TestStore.delete(data);
  }

  @Test
  void itsPatienceGoesOnOverARestart() throws IOException {
    Path data = RunningBourse.newFolder();
    List<String> settings = with(PATIENT, "nodes.simulated.reclaim-delay=10ms", NEVER_READY);
    try (ChildBourse child = new ChildBourse(data, settings)) {
      isGranted(client(data, child, "acme", "acme-train"));
      child.kill();
    }
    Instant began = Instant.now();
    try (ChildBourse child = new ChildBourse(data, settings)) {
      isGivenUpInTime(client(data, child, "acme", "acme-train"), began);
    }
    TestStore.delete(data);
  }

  @Test
  @OneEngine("only PostgreSQL is shared by several processes")
  void whoTakesTheMarketOverGivesAGangUpByThePatienceFromItsGrant() throws Exception {
    try (ReplicaPair replicas =
        new ReplicaPair(PATIENT, "market.lease=2s", "market.tick=50ms", NEVER_READY)) {
      replicas.client(replicas.first(), "acme-train").addKey();
      isGranted(replicas.client(replicas.first(), "acme-train"));
      replicas.first().kill();
      isGivenUpInTime(replicas.client(replicas.second(), "acme-train"), Instant.now());
      assertEquals(2, replicas.number("SELECT MAX(epoch) FROM lease"));
      assertEquals(
          0,
          replicas.number(
              "SELECT COUNT(*) FROM allocation WHERE cluster = 'acme-train' AND active_at > 0"));
    }
  }

  @Test
  @OneEngine("only PostgreSQL is shared by several processes")
  void whoTakesTheMarketOverHasAGangBecomeActiveAsAWhole() throws Exception {
    try (ReplicaPair replicas =
        new ReplicaPair("market.lease=2s", "market.tick=50ms", SLOW_WIPE, QUICK)) {
      waitsForTheRest(
          replicas.client(replicas.first(), "acme-train"),
          replicas.client(replicas.first(), "globex-main"));
      replicas.first().kill();
      becomesActiveAtOnce(replicas.client(replicas.second(), "globex-main"));
      assertEquals(
          1,
          replicas.number(
              "SELECT COUNT(DISTINCT active_at) FROM allocation WHERE cluster = 'globex-main'"));
    }
  }

  private static List<String> with(String... more) {
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.addAll(List.of(more));
    return settings;
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

  private static JsonObject order(ClusterClient gang, int nodes) {
    return gang.order(nodes, 5).put("min_gpus", nodes * ClusterClient.NODE);
  }

  /** One node is free for a gang of all, which has to wait until the others come back. */
  private static void waitsForTheRest(ClusterClient holder, ClusterClient gang) {
    holder.hold(NODES - 1, 2);
    gang.addKey();
    gang.put(order(gang, NODES)).ok();
    until("one is granted", () -> !gang.allocations().isEmpty());
    assertEquals(List.of(), gang.active(), "less than its minimum");
  }

  private static void becomesActiveAtOnce(ClusterClient gang) {
    until(
        "all are active, and never some",
        () -> {
          int active = gang.active().size();
          assertTrue(active == 0 || active == NODES, active + " are active");
          return active == NODES;
        });
  }

  /** A gang is granted its minimum, and some of the patience with it has gone by. */
  private static void isGranted(ClusterClient gang) {
    gang.addKey();
    gang.put(order(gang, 2)).ok();
    until("it is granted", () -> gang.allocations().size() == 2);
    Instant granted = grantedAt(gang);
    until("some of the patience is over", () -> Instant.now().isAfter(granted.plus(WAITED)));
  }

  private static Instant grantedAt(ClusterClient gang) {
    return gang.allocations().stream()
        .map(a -> Instant.parse(a.getString("granted_at")))
        .min(Instant::compareTo)
        .orElseThrow();
  }

  /** By the patience from its grant, not from when the market went on. */
  private static void isGivenUpInTime(ClusterClient gang, Instant wentOn) {
    until("its grants are unwound", () -> !unwound(gang).isEmpty());
    List<Instant> granted =
        gang.activity().stream()
            .filter(e -> String.valueOf(e.getString("note")).startsWith("granted"))
            .map(e -> Instant.parse(e.getString("ts")))
            .toList();
    Set<Instant> unwound = unwound(gang).stream().collect(Collectors.toSet());
    assertEquals(1, unwound.size(), "all at one moment: " + unwound);
    Instant at = unwound.iterator().next();
    assertFalse(at.isBefore(granted.get(granted.size() - 1).plus(PATIENCE)), at + " " + granted);
    assertTrue(at.isBefore(wentOn.plus(PATIENCE)), at + ", the market went on at " + wentOn);
    assertEquals(List.of(), gang.active());
  }

  private static List<Instant> unwound(ClusterClient gang) {
    return gang.activity().stream()
        .filter(e -> String.valueOf(e.getString("note")).contains("min_gpus"))
        .map(e -> Instant.parse(e.getString("ts")))
        .toList();
  }
}
