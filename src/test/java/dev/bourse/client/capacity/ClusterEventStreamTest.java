package dev.bourse.client.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.Credential;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.testing.AnswerLosingProxy;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Watching a cluster on a command line. */
@OneEngine("the command line does not depend on the store")
class ClusterEventStreamTest {
  private static RunningBourse bourse;

  private final List<ClusterEventStream.Event> events = new CopyOnWriteArrayList<>();
  private final List<String> losses = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(2, "market.tick=200ms", "capacity.write-cadence=0");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static ClusterEventStream stream(String url, TestMarket market, String cluster) {
    CommandEnvironment environment =
        new CommandEnvironment(
            Map.of(),
            false,
            Clock.systemUTC(),
            new Random(1),
            over -> TimeUnit.MILLISECONDS.sleep(Math.min(50, over.toMillis())),
            Optional::empty,
            Optional.empty());
    Service service =
        new Service(url, Credential.of(bourse.secret(market.red(), "orgwide"), "none other"));
    return new ClusterEventStream(service, environment, "/api/vm/events?cluster=" + cluster);
  }

  private Thread follow(ClusterEventStream stream) {
    Thread thread =
        new Thread(
            () -> {
              try {
                stream.follow(events::add, losses::add);
              } catch (RefusedException refused) {
                losses.add("refused: " + refused.getMessage());
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private boolean happened(String kind) {
    return events.stream().anyMatch(event -> event.kind().equals(kind));
  }

  @Test
  void whatHappensIsToldAndALostConnectionIsTakenUpAgain() throws Exception {
    TestMarket market = bourse.market();
    ClusterClient cluster = market.redA();
    cluster.addKey();
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(bourse.service().baseUrl(), "GET")) {
      Thread following = follow(stream(proxy.url(), market, cluster.cluster()));
      RunningBourse.until("the state is printed", () -> happened("capacity"));
      cluster.declare(1, 2);
      RunningBourse.until("the grant is printed", () -> happened("grant"));
      cluster.declare(0, 2);
      RunningBourse.until("the reclaim is printed", () -> happened("reclaim"));
      proxy.cut();
      cluster.declare(1, 2);
      RunningBourse.until(
          "the second grant is printed",
          () -> events.stream().filter(event -> event.kind().equals("grant")).count() == 2);
      assertEquals(List.of("the connection was lost"), losses);
      following.interrupt();
    }
    String first = StatusText.describe(events.get(0));
    assertTrue(first.startsWith("capacity          version 0, 0 nodes held"), first);
  }

  @Test
  void aRefusalEndsIt() {
    TestMarket market = bourse.market();
    RefusedException refused =
        assertThrows(
            RefusedException.class,
            () ->
                stream(bourse.service().baseUrl(), market, "nowhere")
                    .follow(events::add, losses::add));
    assertTrue(refused.getMessage().startsWith("not-found: "), refused.getMessage());
    assertEquals(List.of(), events);
  }
}
