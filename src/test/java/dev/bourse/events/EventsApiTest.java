package dev.bourse.events;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The stream of a cluster's events. */
@ReplayedOnPostgres
class EventsApiTest {
  private static RunningBourse bourse;

  /** A service without protection of grants. */
  private static RunningBourse brief;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(11);
    brief = RunningBourse.withMarkets(3, "market.protection=0");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    brief.close();
  }

  private static EventReader follow(ClusterClient client, @Nullable Long lastEventId) {
    return follow(bourse, client, lastEventId);
  }

  private static EventReader follow(
      RunningBourse service, ClusterClient client, @Nullable Long lastEventId) {
    return new EventReader(
        service.service().baseUrl(),
        service.secret(client.orgId(), "orgwide"),
        client.cluster(),
        lastEventId);
  }

  private static List<String> addresses(EventReader reader, String name) {
    return reader.of(name).stream().map(e -> e.data().getString("public_ip")).sorted().toList();
  }

  @Test
  void firstOfAllComesTheState() {
    ClusterClient client = bourse.market().redA();
    JsonObject state = client.state();
    try (EventReader reader = follow(client, null)) {
      until("the state came", () -> !reader.all().isEmpty());
      assertEquals("capacity", reader.all().get(0).name());
      assertEquals(
          ClusterClient.withoutPrices(state),
          ClusterClient.withoutPrices(reader.all().get(0).data()));
    }
    until(
        "it is recorded as a read",
        () ->
            bourse.audit(client.orgId(), true).stream()
                .anyMatch(
                    row ->
                        row.action().equals("vm_capacity_get") && row.detail().equals("events")));
  }

  @Test
  void grantsAndReclaimsAreEachToldOnceAndStatesFollow() {
    ClusterClient client = bourse.market().redA();
    try (EventReader reader = follow(client, null)) {
      until("the state came", () -> !reader.all().isEmpty());
      List<String> held = client.hold(3, 2);
      until("all are active", () -> reader.state().equals(client.state()));
      assertEquals(held.stream().sorted().toList(), addresses(reader, "grant"));
      client.declare(1, 2);
      until("two were taken", () -> reader.of("reclaim").size() == 2);
      for (EventReader.Event reclaim : reader.of("reclaim")) {
        assertEquals("scale-down", reclaim.data().getString("reason"));
        assertTrue(held.contains(reclaim.data().getString("public_ip")));
      }
      until("the state followed", () -> reader.state().equals(client.state()));
      long last = 0;
      for (EventReader.Event event : reader.all()) {
        assertTrue(event.id() >= last, "ids never fall");
        last = event.id();
      }
      assertEquals(3, reader.of("grant").size());
    }
  }

  @Test
  void aPriceThatMovesIsToldThoughTheClusterHasNotChangedSinceTheStreamBegan() {
    TestMarket market = bourse.market();
    ClusterClient quiet = market.redA();
    try (EventReader reader = follow(quiet, null)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      JsonObject before = reader.state().getJsonObject("pool");
      market.blueA().hold(TestMarket.NODES, 5);
      until("the price moved", () -> !quiet.state().getJsonObject("pool").equals(before));
      quiet.untilAgrees(reader);
    }
  }

  /** Starts two services. */
  @Test
  void whoComesBackIsToldWhatItMissedEvenAfterARestart() {
    try (RunningBourse first = RunningBourse.withMarkets(1)) {
      ClusterClient client = first.market().redA();
      long seen;
      try (EventReader reader = follow(first, client, null)) {
        client.hold(1, 2);
        until("it is active", () -> reader.state().equals(client.state()));
        seen = reader.latest().id();
      }
      client.declare(2, 2);
      client.untilHeld(2);
      client.declare(0, 2);
      client.untilHeld(0);
      try (EventReader reader = follow(first, client, seen)) {
        until("the state came", () -> !reader.of("capacity").isEmpty());
        assertEquals(1, reader.of("grant").size());
        assertEquals(2, reader.of("reclaim").size());
        assertEquals(List.of(), reader.of("gap"));
        assertEquals("capacity", reader.all().get(3).name(), "the state comes after them");
        client.untilAgrees(reader);
      }
      RunningBourse second = first.restarted();
      try {
        ClusterClient again =
            new ClusterClient(
                second.with(first.secret(client.orgId(), "orgwide")),
                client.orgId(),
                client.cluster());
        try (EventReader reader =
            new EventReader(
                second.service().baseUrl(),
                first.secret(client.orgId(), "orgwide"),
                client.cluster(),
                seen)) {
          until("the state came", () -> !reader.of("capacity").isEmpty());
          assertEquals(1, reader.of("grant").size());
          assertEquals(2, reader.of("reclaim").size());
          again.untilAgrees(reader);
        }
      } finally {
        second.stop();
      }
    }
  }

  @Test
  void anIdThatIsUnknownIsAGap() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    try (EventReader reader = follow(client, 999_999_999L)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      assertEquals("gap", reader.all().get(0).name());
      assertEquals(List.of(), reader.of("grant"));
      client.untilAgrees(reader);
    }
  }

  @Test
  void moreThanFourHundredMissedAreAGap() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    long seen;
    try (EventReader reader = follow(client, null)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      seen = reader.all().get(0).id();
    }
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i < 401; i++) {
      rows.add(
          Statement.of(
              "INSERT INTO activity (ts, cluster, kind, actor, who, note, reason) VALUES"
                  + " (?, ?, 'action', 'system:market', 'system', ?, 'outbid')",
              System.currentTimeMillis(),
              client.cluster(),
              "released 192.0.2.1"));
    }
    RunningBourse.await(bourse.database().commit(rows));
    try (EventReader reader = follow(client, seen)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      assertEquals(1, reader.of("gap").size());
      assertEquals(List.of(), reader.of("reclaim"));
    }
    try (EventReader reader = follow(client, 0L)) {
      until("the state came", () -> !reader.of("capacity").isEmpty());
      assertEquals(1, reader.of("gap").size(), "from the beginning it is too many, too");
    }
  }

  @Test
  void whatIsNoIdIsRefused() {
    ClusterClient client = bourse.market().redA();
    String detail =
        client
            .caller()
            .get("/api/vm/events?cluster=" + client.cluster(), "Last-Event-ID", "latest")
            .refused(ErrorCode.BAD_REQUEST)
            .getString("detail");
    assertTrue(detail.startsWith("Last-Event-ID"), detail);
  }

  @Test
  void aRivalInAStepWithinFivePerCentIsWarnedOfOnceUntilItIsOver() {
    TestMarket market = brief.market();
    ClusterClient red = market.redA();
    ClusterClient blue = market.blueA();
    red.hold(2, 5);
    blue.hold(1, 4.54);
    try (EventReader reader = follow(brief, red, null)) {
      until("the state came", () -> !reader.all().isEmpty());
      blue.declare(1, 4.75);
      until("red is warned", () -> reader.of("warning").size() == 1);
      JsonObject warning = reader.of("warning").get(0).data();
      assertEquals(5.0, warning.getDouble("max_price_per_gpu_hour"));
      assertEquals(4.55, warning.getDouble("rival_price_per_gpu_hour"));
      assertEquals(2, warning.getInteger("nodes_unprotected"));
      blue.declare(1, 4.8);
      untilTicked(market);
      assertEquals(1, reader.of("warning").size(), "once");
      try (EventReader late = follow(brief, red, null)) {
        until("a late subscriber gets the warning, too", () -> late.of("warning").size() == 1);
      }
      blue.declare(1, 3);
      untilTicked(market);
      blue.declare(1, 4.9);
      until(
          "the warning is sent again after it was cleared", () -> reader.of("warning").size() == 2);
    }
  }

  @Test
  void noOtherClusterOfTheOrganizationIsARival() {
    TestMarket market = brief.market();
    market.redA().hold(1, 5);
    market.redB().declare(1, 5);
    try (EventReader reader = follow(brief, market.redA(), null)) {
      untilTicked(market);
      assertEquals(List.of(), reader.of("warning"));
    }
  }

  /** Waits until a clearing that began after this call is published. */
  private static void untilTicked(TestMarket market) {
    for (int tick = 0; tick < 3; tick++) {
      String before =
          market.red("bare").get("/api/market/depth?pool=" + market.name()).header("etag");
      until(
          "a tick",
          () ->
              !before.equals(
                  market
                      .red("bare")
                      .get("/api/market/depth?pool=" + market.name())
                      .header("etag")));
    }
  }

  @Test
  void aSwitchThatIsThrownShowsWithTheNextTick() {
    try (RunningBourse own = RunningBourse.withMarkets(1)) {
      ClusterClient client = own.market().redA();
      try (EventReader reader = follow(own, client, null)) {
        client.hold(1, 2);
        until("it is active", () -> reader.state().equals(client.state()));
        own.operator()
            .patch("/api/operator/switches", new JsonObject().put("capacity_writes_armed", false))
            .ok();
        until("writes are shown disarmed", () -> !reader.state().getBoolean("writes_armed"));
      }
    }
  }

  @Test
  void aRevokedTokensStreamEndsWithItsHeartbeat() {
    try (RunningBourse own = RunningBourse.withMarkets(1)) {
      ClusterClient client = own.market().redA();
      try (EventReader reader = follow(own, client, null)) {
        until("the state came", () -> !reader.all().isEmpty());
        client.caller().delete("/api/org/tokens/self").ok();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!reader.hasEnded() && System.nanoTime() < deadline) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
        assertTrue(reader.hasEnded());
      }
    }
  }

  @Test
  void stoppingTheServiceEndsTheStream() {
    RunningBourse own = RunningBourse.withMarkets(1);
    try (EventReader reader = follow(own, own.market().redA(), null)) {
      until("the state came", () -> !reader.all().isEmpty());
      assertFalse(reader.hasEnded());
      own.stop();
      until("its end came", reader::hasEnded);
    } finally {
      own.close();
    }
  }
}
