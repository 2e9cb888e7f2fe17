package dev.bourse.app;

import static dev.bourse.testing.Polls.within;
import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.OperatorRequests;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two services on one PostgreSQL database act as one. */
@OneEngine("only PostgreSQL is shared by several services")
class ReplicasTest {
  private RunningBourse first;
  private RunningBourse second;

  @BeforeEach
  void startBoth() throws Exception {
    String url = "store.url=" + SharedPostgres.server().newStore();
    first = RunningBourse.demo(url, "market.lease=600ms");
    second = RunningBourse.demo(url, "market.lease=600ms");
  }

  @AfterEach
  void stopBoth() {
    first.close();
    second.close();
  }

  /** Acme's training cluster through one of the two. */
  private ClusterClient client(RunningBourse service) {
    return new ClusterClient(service.with(first.secret("acme", "bound")), "acme", "acme-train");
  }

  @Test
  void eventsAreFollowedThroughEitherAndGoOnThroughTheOther() {
    ClusterClient client = client(first);
    client.addKey();
    long seen;
    try (EventReader reader = follow(second, null)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      client.declare(1, 2.0);
      until("it is active", () -> client.active().size() == 1);
      until("the other process sends the grant", () -> reader.of("grant").size() == 1);
      until("and the state", () -> reader.state().equals(client.state()));
      seen = reader.latest().id();
    }
    client.declare(0, 2.0);
    client.untilHeld(0);
    for (RunningBourse service : List.of(first, second)) {
      until("it knows", () -> client(service).state().equals(client.state()));
      try (EventReader reader = follow(service, seen)) {
        until("the state came", () -> !reader.of("capacity").isEmpty());
        assertEquals(1, reader.of("reclaim").size());
        assertEquals(List.of(), reader.of("grant"), "sent before");
        assertEquals(List.of(), reader.of("gap"));
        client.untilAgrees(reader);
      }
    }
  }

  private EventReader follow(RunningBourse service, @Nullable Long lastEventId) {
    return new EventReader(
        service.service().baseUrl(), first.secret("acme", "bound"), "acme-train", lastEventId);
  }

  @Test
  void aPreviewThroughEitherGrantsTheMachineItSwappedAwayWhenThereIsNoOther() {
    ClusterClient client = client(first);
    client.addKey();
    client.declare(1, 2.0);
    String old = client.untilHeld(1).get(0);
    client.swap(old).ok();
    until(
        "it has another", () -> client.allocations().size() == 1 && !client.active().contains(old));
    // No other machine is free; each process learns of the other's change.
    for (RunningBourse service : List.of(first, second)) {
      await(
          service
              .database()
              .commit(
                  List.of(Statement.of("UPDATE node SET cordoned = 1 WHERE public_ip <> ?", old)),
                  List.of(new Change("nodes", "demo-h100"))));
    }
    for (RunningBourse service : List.of(first, second)) {
      until("it is granted the machine", () -> winsAtOnce(client(service)));
    }
  }

  private static boolean winsAtOnce(ClusterClient client) {
    JsonObject preview =
        client.caller().post("/api/vm/capacity/preview", client.order(2, 2.0)).ok();
    return Integer.valueOf(1).equals(preview.getInteger("nodes_won"))
        && Integer.valueOf(1).equals(preview.getInteger("nodes_granted"));
  }

  @Test
  void aWriteUponTheLatestVersionIsAcceptedThoughTheOtherHasNotHeardOfIt() {
    client(first).addKey();
    client(first).declare(1, 2.0);
    for (int version = 1; version < 40; version++) {
      JsonObject order =
          client(first).order(1, (200 + version) / 100.0).put("expected_version", version);
      assertEquals(200, client(version % 2 == 0 ? first : second).put(order).status());
    }
  }

  @Test
  void racingWritersOfBothWinEachVersionOnce() throws Exception {
    int writes = 60;
    client(first).addKey();
    ExecutorService writers = Executors.newFixedThreadPool(2);
    try {
      CyclicBarrier start = new CyclicBarrier(2);
      List<Future<Integer>> races = new ArrayList<>();
      for (RunningBourse service : List.of(first, second)) {
        races.add(writers.submit(() -> race(client(service), writes, start)));
      }
      int won = 0;
      for (Future<Integer> race : races) {
        won += race.get(5, TimeUnit.MINUTES);
      }
      assertEquals(writes, won);
      until("both are at the last version", () -> client(first).version() == writes);
      until("both are at the last version", () -> client(second).version() == writes);
      assertEquals(
          writes,
          first.audit("acme", false).stream()
              .filter(row -> row.action().equals("vm_capacity_put"))
              .count());
    } finally {
      writers.shutdownNow();
    }
  }

  /** One attempt at each version; returns how many succeeded. */
  private static int race(ClusterClient client, int writes, CyclicBarrier start) throws Exception {
    int won = 0;
    for (int version = 0; version < writes; version++) {
      JsonObject order =
          new JsonObject()
              .put("cluster", client.cluster())
              .put("max_gpus", 0)
              .put("max_price_per_gpu_hour", (200 + version) / 100.0)
              .put("expected_version", version);
      start.await(60, TimeUnit.SECONDS);
      int status = client.put(order).status();
      assertTrue(status == 200 || status == 409, "status " + status);
      won += status == 200 ? 1 : 0;
    }
    return won;
  }

  @Test
  void aTokenMintedAndRevokedAtOneIsSoonTakenAndRefusedByTheOther() {
    ApiClient operator = first.operator();
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org("shared")).status());
    String tokens = "/api/operator/orgs/shared/tokens";
    JsonObject minted =
        operator.post(tokens, new JsonObject().put("name", "t").put("scopes", List.of())).json();
    ApiClient there = second.with(minted.getString("token"));
    until("the other knows it", () -> there.get("/api/whoami").status() == 200);
    operator.delete(tokens + "/" + minted.getString("token_id")).ok();
    within(1, "the other refuses it", () -> there.get("/api/whoami").status() == 401);
  }

  @Test
  void anOrganizationMadeAtOneIsKnownWhereItsTokenIsMinted() {
    for (int i = 0; i < 10; i++) {
      String orgId = "quick-" + i;
      assertEquals(
          201, first.operator().post("/api/operator/orgs", OrgApiFixture.org(orgId)).status());
      HttpAnswer minted =
          second
              .with(operatorOf(first))
              .post(
                  "/api/operator/orgs/" + orgId + "/tokens",
                  new JsonObject().put("name", "t").put("scopes", List.of()));
      assertEquals(201, minted.status());
      second.with(minted.json().getString("token")).get("/api/whoami").ok();
    }
  }

  private static String operatorOf(RunningBourse service) {
    try {
      return new JsonObject(Files.readString(service.data().resolve("operator.json")))
          .getString("operator_token");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whenTheServiceThatRunsTheMarketStopsTheOtherGoesOn() {
    client(first).addKey();
    until(
        "the other knows the key",
        () -> client(second).put(client(second).order(0, 2.0)).status() == 200);
    until("upkeep is divided between both", () -> processes() == 2);
    first.stop();
    assertEquals(1, processes(), "a service that stops leaves at once");
    client(second).declare(1, 2.5);
    client(second).untilHeld(1);
  }

  /** The number of processes that share the upkeep. */
  private long processes() {
    return await(
            second
                .database()
                .read(
                    "SELECT COUNT(*) AS n FROM upkeep_process", List.of(), row -> row.integer("n")))
        .get(0);
  }

  /** An operator at one of the two; the token is valid at both. */
  private ApiClient operator(RunningBourse service) throws IOException {
    return service.with(
        new JsonObject(Files.readString(first.data().resolve("operator.json")))
            .getString("operator_token"));
  }

  @Test
  void aPoolItsNodesAndAClusterMadeAtEitherAreGrantedAtBoth() throws Exception {
    for (RunningBourse maker : List.of(first, second)) {
      RunningBourse other = maker == first ? second : first;
      String name = maker == first ? "annex-1" : "annex-2";
      ApiClient operator = operator(maker);
      operator.post("/api/operator/pools", OperatorRequests.newPool(name));
      operator.post(
          "/api/operator/pools/" + name + "/nodes", new JsonObject().put("node_id", name + "-n"));
      operator.post(
          "/api/operator/clusters",
          new JsonObject().put("name", name).put("org", "acme").put("pool", name));
      String token = first.secret("acme", "orgwide");
      ClusterClient here = new ClusterClient(maker.with(token), "acme", name);
      ClusterClient there = new ClusterClient(other.with(token), "acme", name);
      here.addKey();
      until(
          "the other knows it",
          () ->
              there.caller().get("/api/vm/capacity?cluster=" + name).status() == 200
                  && there.put(there.order(1, 2)).status() == 200);
      there.untilHeld(1);
      until("the grant is sent", () -> here.active().size() == 1);
    }
  }
}
