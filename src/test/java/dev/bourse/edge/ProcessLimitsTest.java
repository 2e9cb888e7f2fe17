package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.ProcessLimits;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The limits of connections, by the process's memory and by client address. */
class ProcessLimitsTest {
  private static final long MIB = 1 << 20;

  private static EdgeFixture serve(int connections, int ofAddress, String... proxies) {
    return new EdgeFixture(
        new EdgeConfig(
            "127.0.0.1",
            0,
            "",
            0,
            0,
            0,
            Set.of(proxies),
            EdgeLimits.in(ProcessLimits.ofProcess().withConnections(connections, ofAddress))));
  }

  private static List<RawClient> open(EdgeFixture fixture, int count) throws IOException {
    List<RawClient> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(new RawClient(fixture.port()).send("GET /none HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
    return clients;
  }

  private static void close(List<RawClient> clients) throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
  }

  @Test
  void theLaunchersHeapCarriesFourThousandConnections() {
    ProcessLimits room = ProcessLimits.of(192 * MIB, 64 * MIB, 1 << 20);
    assertEquals(new ProcessLimits(4_096, 1_024, 16 * MIB, 4 * MIB, 48 * MIB, 12 * MIB), room);
    assertEquals(
        512, ProcessLimits.of(192 * MIB, 64 * MIB, 1_024).connections(), "half of the files");
    assertEquals(
        12 * MIB, ProcessLimits.of(96 * MIB, 64 * MIB, 1 << 20).unreadBytes(), "by the heap");
  }

  @Test
  void anAddressHasNoMoreConnectionsThanItMay() throws IOException {
    try (EdgeFixture fixture = serve(100, 10)) {
      List<RawClient> first = open(fixture, 10);
      for (RawClient client : first) {
        client.until("}");
      }
      try (RawClient more = new RawClient(fixture.port())) {
        assertTrue(more.isClosedSoon(60_000));
      }
      first.get(0).close();
      boolean isTaken = false;
      while (!isTaken) {
        try (RawClient again = new RawClient(fixture.port())) {
          isTaken = !again.isClosedSoon(200);
        }
      }
      close(first);
    }
  }

  @Test
  void aTrustedProxyMayHaveThemAllAndTheOneThatWaitedLongestMakesRoom() throws IOException {
    try (EdgeFixture fixture = serve(20, 5, "127.0.0.1")) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        RawClient client = open(fixture, 1).get(0);
        assertTrue(client.until("}").startsWith("HTTP/1.1 404"));
        clients.add(client);
      }
      assertTrue(clients.get(0).isClosedSoon(60_000));
      assertFalse(clients.get(39).isClosedSoon(100));
      until(
          "no more are left than it may have", () -> fixture.edge.occupancy().connections() <= 20);
      close(clients);
    }
  }

  @Test
  void whoWaitsAtOneEventLoopMakesRoomForWhoIsDealtToAnother() throws IOException {
    try (EdgeFixture fixture = serve(1, 1, "127.0.0.1")) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        // Dealt to the two loops in turn.
        RawClient client = open(fixture, 1).get(0);
        assertTrue(client.until("}").startsWith("HTTP/1.1 404"));
        clients.add(client);
        if (i > 0) {
          assertTrue(clients.get(i - 1).isClosedSoon(60_000));
        }
      }
      until("one is left", () -> fixture.edge.occupancy().connections() == 1);
      assertEquals(5, fixture.edge.occupancy().rejected());
      close(clients);
    }
  }

  @Test
  void whereNoEventLoopHasAnybodyWhoWaitsANewcomerIsTurnedAway() throws IOException {
    try (EdgeFixture fixture = serve(1, 1, "127.0.0.1")) {
      Promise<Answer> answered = Promise.promise();
      AtomicInteger served = new AtomicInteger();
      fixture.behave(
          call -> {
            served.incrementAndGet();
            return answered.future();
          });
      String read = "GET /api/vm/capacity HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n";
      RawClient busy = new RawClient(fixture.port()).send(read);
      until("it is being answered", () -> served.get() == 1);
      // Spread over both loops; a rejected connection was not served.
      for (int i = 0; i < 4; i++) {
        assertEquals("", new RawClient(fixture.port()).send(read).untilClosed());
      }
      until("it alone is left", () -> fixture.edge.occupancy().connections() == 1);
      assertEquals(1, served.get());
      answered.complete(Answer.ok(new JsonObject()));
      assertTrue(busy.until("}").startsWith("HTTP/1.1 200"));
      busy.close();
    }
  }

  @Test
  void whatAnAddressHoldsIsGivenBackWithItsRequest() throws IOException {
    try (EdgeFixture fixture = serve(100, 100)) {
      try (RawClient client = new RawClient(fixture.port())) {
        client.send("GET /none HTTP/1.1\r\nHost: a\r\nX-A: ");
        untilHeld(fixture, true);
        client.send("b\r\n\r\n");
        client.until("}");
        untilHeld(fixture, false);
        client.send("GET /none HTTP/1.1\r\n");
        untilHeld(fixture, true);
      }
      untilHeld(fixture, false);
    }
  }

  private static void untilHeld(EdgeFixture fixture, boolean some) {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (fixture.edge.occupancy().unreadBytes() > 0 != some) {
      assertTrue(System.nanoTime() < deadline, "held: " + fixture.edge.occupancy().unreadBytes());
      LockSupport.parkNanos(1_000_000);
    }
  }
}
