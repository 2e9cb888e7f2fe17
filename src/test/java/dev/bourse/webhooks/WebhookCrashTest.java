package dev.bourse.webhooks;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.Receiver.Received;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A service that is killed loses no event. */
@OneEngine("its counterpart, of two processes on one PostgreSQL, is WebhookReplicaTest")
class WebhookCrashTest {
  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "event-loops=2",
          "market.tick=20ms",
          "market.protection=0",
          "market.notice=0",
          "capacity.write-cadence=0",
          "nodes.simulated.provision-delay=10ms",
          "nodes.simulated.reclaim-delay=10ms",
          "limits.requests-per-minute=0",
          "secret.key=" + WebhookFixture.SECRET_KEY,
          "webhooks.private-hosts=localhost");

  private final Path data = RunningBourse.newFolder();

  @AfterEach
  void delete() throws IOException {
    TestStore.delete(data);
  }

  private ClusterClient cluster(ChildBourse child) throws IOException {
    String token = told().getJsonObject("tokens").getString("orgwide");
    return new ClusterClient(new ApiClient(child.baseUrl(), token), "acme", "acme-train");
  }

  private ApiClient member(ChildBourse child) throws IOException {
    return new ApiClient(
        child.baseUrl(),
        told().getJsonObject("members").getJsonObject("alice").getString("member_token"));
  }

  private JsonObject told() throws IOException {
    return new JsonObject(Files.readString(data.resolve("demo.json")))
        .getJsonObject("orgs")
        .getJsonObject("acme");
  }

  private static List<String> types(List<Received> messages) {
    return messages.stream().map(Received::type).toList();
  }

  @Test
  void whatIsCommittedWhenTheServiceIsKilledIsDeliveredByTheNext() throws IOException {
    int port;
    try (Receiver gone = new Receiver()) {
      port = gone.port();
    }
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      HttpAnswer made =
          member(child)
              .post(
                  WebhookFixture.ROOT,
                  WebhookFixture.order("http://localhost:" + port, "grant", "reclaim"));
      assertEquals(201, made.status(), made.toString());
      ClusterClient cluster = cluster(child);
      cluster.hold(2, 3);
      cluster.declare(0, 3);
      child.kill();
    }
    try (Receiver receiver = new Receiver(port, message -> 204);
        ChildBourse next = new ChildBourse(data, SETTINGS)) {
      receiver.await(4);
      assertEquals(List.of("grant", "grant", "reclaim", "reclaim"), types(receiver.taken()));
      assertEquals(4, receiver.received().stream().map(Received::id).distinct().count());
      assertTrue(next.baseUrl().startsWith("http"));
    }
  }

  @Test
  void aServiceThatIsKilledWhileItDeliversIsFollowedByOneThatDeliversTheSame() throws IOException {
    AtomicReference<ChildBourse> running = new AtomicReference<>();
    try (Receiver receiver =
            new Receiver(
                message -> {
                  ChildBourse first = running.getAndSet(null);
                  if (first != null) {
                    first.kill();
                    return 503;
                  }
                  return 204;
                });
        ChildBourse child = new ChildBourse(data, SETTINGS)) {
      member(child).post(WebhookFixture.ROOT, WebhookFixture.order(receiver.url(), "grant"));
      running.set(child);
      ClusterClient cluster = cluster(child);
      assertEquals(201, cluster.addKey().status());
      assertEquals(200, cluster.put(cluster.order(2, 3)).status());
      until("it is killed", () -> running.get() == null);
      try (ChildBourse next = new ChildBourse(data, SETTINGS)) {
        cluster(next).untilHeld(2);
        receiver.await(2);
      }
      List<Received> all = receiver.received();
      assertEquals(all.get(0).id(), all.get(1).id());
      assertEquals(2, all.stream().map(Received::id).distinct().count());
    }
  }
}
