package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A process that is killed repeatedly under load, on one data folder, loses no acknowledged write
 * and leaves none half-done.
 */
@EachEngine
class CrashTest {
  /** Each takes seconds; {@code scripts/smoke faults} kills by the hundred. */
  private static final int CRASHES = 2;

  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "market.tick=20ms",
          "market.protection=50ms",
          "market.notice=0",
          // Leases of a process killed on PostgreSQL expire after this time instead of ten seconds.
          "market.lease=2s",
          "capacity.write-cadence=0",
          "nodes.simulated.provision-delay=10ms",
          "nodes.simulated.reclaim-delay=10ms",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0");

  private static final Map<String, String> CLUSTERS =
      Map.of(
          "acme-train", "acme",
          "acme-batch", "acme",
          "globex-main", "globex",
          "openlab-main", "openlab");

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Audit details of every acknowledged write, by cluster. */
  private final Map<String, List<String>> acknowledged = new ConcurrentHashMap<>();

  private final Set<String> acknowledgedKeys = ConcurrentHashMap.newKeySet();

  @Test
  @Slow("each crash starts a JVM and loads it until it is killed")
  void nothingAcknowledgedIsLostAndNothingIsLeftHalfDone() throws Exception {
    Path data = RunningBourse.newFolder();
    for (int crash = 0; crash < CRASHES; crash++) {
      crashUnderLoad(data);
    }
    try (RunningBourse bourse = RunningBourse.over(data, SETTINGS.toArray(String[]::new))) {
      assertEverythingAcknowledgedIsThere(bourse);
      assertNothingIsStuck(bourse);
      assertNoNodeWasHeldTwice(bourse);
    }
  }

  private void crashUnderLoad(Path data) throws Exception {
    ExecutorService writers = Executors.newFixedThreadPool(CLUSTERS.size());
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      JsonObject orgs =
          new JsonObject(Files.readString(data.resolve("demo.json"))).getJsonObject("orgs");
      List<Future<?>> loads = new ArrayList<>();
      CLUSTERS.forEach(
          (cluster, org) -> {
            String token = orgs.getJsonObject(org).getJsonObject("tokens").getString("orgwide");
            ClusterClient client =
                new ClusterClient(new ApiClient(child.baseUrl(), token), org, cluster);
            Random choices = new Random(random.nextLong());
            loads.add(writers.submit(() -> load(client, choices)));
          });
      // Each crash hits a process that has stored something, even on a slow machine.
      int before = writes();
      until("some were stored", () -> writes() > before + 1);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(300)));
      child.kill();
      for (Future<?> load : loads) {
        load.get(60, TimeUnit.SECONDS);
      }
    } finally {
      writers.shutdownNow();
    }
  }

  /** Writes to one cluster until the process is gone. */
  private void load(ClusterClient client, Random choices) {
    try {
      JsonObject key =
          new JsonObject().put("name", "load").put("public_key", RunningBourse.keyLine());
      JsonObject added =
          exchange(client, "POST", "/api/vm/orgs/" + client.orgId() + "/ssh-keys", key).json();
      acknowledgedKeys.add(added.getString("key_id"));
      while (true) {
        JsonObject state =
            exchange(client, "GET", "/api/vm/capacity?cluster=" + client.cluster(), null).ok();
        assertTrue(state.getLong("version") >= noted(client).size(), "a version went back");
        List<String> planned = ClusterClient.texts(state.getJsonArray("planned_release"));
        if (!planned.isEmpty() && choices.nextInt(4) == 0) {
          swap(client, state.getLong("version"), planned.get(choices.nextInt(planned.size())));
        } else {
          declare(client, state.getLong("version"), choices);
        }
      }
    } catch (IOException killed) {
      // The process is gone, as expected.
    }
  }

  private void declare(ClusterClient client, long version, Random choices) throws IOException {
    int gpus = choices.nextInt(7) * ClusterClient.NODE;
    int price = 2 + choices.nextInt(8);
    JsonObject order =
        new JsonObject()
            .put("cluster", client.cluster())
            .put("max_gpus", gpus)
            .put("max_price_per_gpu_hour", price)
            .put("expected_version", version);
    HttpAnswer answer = exchange(client, "PUT", "/api/vm/capacity", order);
    noted(client)
        .add(
            "max_gpus="
                + gpus
                + " max_price_per_gpu_hour="
                + price
                + ".00 version="
                + answer.ok().getLong("version"));
  }

  private void swap(ClusterClient client, long version, String node) throws IOException {
    JsonObject order = new JsonObject().put("cluster", client.cluster()).put("node", node);
    HttpAnswer answer = exchange(client, "POST", "/api/vm/capacity/swap", order);
    // The market may have taken the node meanwhile; a repeated swap writes nothing.
    if (answer.status() != 200) {
      answer.refused(ErrorCode.UNKNOWN_NODE);
    } else if (answer.json().getLong("version") > version) {
      noted(client).add("node=" + node + " version=" + (version + 1));
    }
  }

  private List<String> noted(ClusterClient client) {
    return acknowledged.computeIfAbsent(
        client.cluster(), cluster -> Collections.synchronizedList(new ArrayList<>()));
  }

  private int writes() {
    return acknowledged.values().stream().mapToInt(List::size).sum();
  }

  private static HttpAnswer exchange(
      ClusterClient client, String method, String path, @Nullable JsonObject body)
      throws IOException {
    return body == null
        ? client.caller().exchange(method, path, null)
        : client.caller().exchange(method, path, body.encode(), "Content-Type", "application/json");
  }

  private void assertEverythingAcknowledgedIsThere(RunningBourse bourse) {
    acknowledged.forEach(
        (cluster, details) -> {
          String org = CLUSTERS.get(cluster);
          List<AuditRow> rows =
              bourse.audit(String.valueOf(org), false).stream()
                  .filter(row -> row.subject().equals(cluster))
                  .toList();
          List<String> recorded = rows.stream().map(AuditRow::detail).toList();
          Set<String> lost = new HashSet<>(details);
          lost.removeAll(recorded);
          assertEquals(Set.of(), lost, "seed " + seed);
          ClusterClient client =
              new ClusterClient(bourse.as(String.valueOf(org), "orgwide"), "", cluster);
          assertEquals(recorded.size(), client.version(), "one row for each version");
          // An unacknowledged write may have been stored, at most one for each crash.
          assertTrue(recorded.size() <= details.size() + CRASHES, "seed " + seed);
        });
    Set<String> lostKeys = new HashSet<>(acknowledgedKeys);
    for (String org : Set.copyOf(CLUSTERS.values())) {
      ClusterClient.objects(
              bourse
                  .as(org, "orgwide")
                  .get("/api/vm/orgs/" + org + "/ssh-keys")
                  .ok()
                  .getJsonArray("keys"))
          .forEach(key -> lostKeys.remove(key.getString("key_id")));
    }
    assertEquals(Set.of(), lostKeys, "seed " + seed);
  }

  /**
   * Every cluster can still be emptied: provisioning nodes become active, reclaiming ones
   * disappear.
   */
  private static void assertNothingIsStuck(RunningBourse bourse) {
    List<ClusterClient> desks = new ArrayList<>();
    CLUSTERS.forEach(
        (cluster, org) -> desks.add(new ClusterClient(bourse.as(org, "orgwide"), org, cluster)));
    for (ClusterClient client : desks) {
      client.declare(1, 5);
    }
    desks.forEach(client -> client.untilHeld(1));
    // A swap that the crash left may still wait for a node, and then moves one while this looks.
    until(
        "each holds an address of its own",
        () -> {
          Set<String> held = new HashSet<>();
          desks.forEach(client -> held.addAll(client.active()));
          return held.size() == desks.size();
        });
    until(
        "the static cluster has its two nodes",
        () ->
            new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-legacy").active().size()
                == 2);
    for (ClusterClient client : desks) {
      client.declare(0, 5);
    }
    desks.forEach(client -> client.untilHeld(0));
  }

  /** Each allocation of a node starts only after the previous one has ended. */
  private static void assertNoNodeWasHeldTwice(RunningBourse bourse) {
    record Held(String node, long from, long to) {}
    List<Held> all =
        await(
            bourse
                .database()
                .read(
                    "SELECT node_id, granted_at, gone_at FROM allocation"
                        + " ORDER BY granted_at, gone_at IS NULL, gone_at",
                    List.of(),
                    row -> {
                      Long gone = row.integerOrNull("gone_at");
                      return new Held(
                          row.text("node_id"),
                          row.integer("granted_at"),
                          gone == null ? Long.MAX_VALUE : gone);
                    }));
    Map<String, Long> freeFrom = new HashMap<>();
    for (Held held : all) {
      assertTrue(held.from() >= freeFrom.getOrDefault(held.node(), 0L), held + " overlaps another");
      freeFrom.put(held.node(), held.to());
    }
  }
}
