package dev.bourse.trailstream;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.audit.TrailProof;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.Receiver.Received;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A service that is killed while it sends a batch is followed by one that sends the same. */
@OneEngine("a shared store seals after a minute; its rows are guarded by the same statements")
class TrailStreamCrashTest {
  private static final String ROOT = "/api/console/trail-stream";

  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "event-loops=2",
          "limits.requests-per-minute=0",
          "audit.seal-interval=50ms",
          "secret.key=" + "ab".repeat(32),
          "webhooks.private-hosts=localhost");

  private final Path data = RunningBourse.newFolder();

  @AfterEach
  void delete() throws IOException {
    TestStore.delete(data);
  }

  private ApiClient member(ChildBourse child) throws IOException {
    return new ApiClient(
        child.baseUrl(),
        new JsonObject(Files.readString(data.resolve("demo.json")))
            .getJsonObject("orgs")
            .getJsonObject("acme")
            .getJsonObject("members")
            .getJsonObject("alice")
            .getString("member_token"));
  }

  private static void mint(ApiClient member) {
    assertEquals(
        201,
        member
            .post(
                "/api/console/tokens",
                new JsonObject().put("name", "n").put("scopes", new JsonArray()))
            .status());
  }

  private static long behind(ApiClient member) {
    return member.get(ROOT).ok().getJsonObject("writes").getLong("behind");
  }

  @Test
  void theNextProcessSendsTheSameBatchWithTheSameBytesAndThenTheOthers() throws Exception {
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
      ApiClient member = member(child);
      mint(member);
      JsonObject order = new JsonObject().put("destination", receiver.url()).put("enabled", false);
      assertEquals(200, member.put(ROOT, order).status());
      until("there are batches", () -> behind(member) > 1);
      running.set(child);
      member.put(ROOT, order.put("enabled", true));
      until("it was killed", () -> receiver.received().size() == 1);
      try (ChildBourse next = new ChildBourse(data, SETTINGS)) {
        ApiClient later = member(next);
        mint(later);
        until("all is taken", () -> behind(later) == 0 && receiver.taken().size() > 2);
        List<Received> all = receiver.received();
        assertEquals(all.get(0).id(), all.get(1).id());
        assertEquals(all.get(0).text(), all.get(1).text());
        TrailProof proof = new TrailProof();
        for (Received each : receiver.taken()) {
          List<String> lines = each.text().lines().toList();
          for (int i = 0; i < lines.size(); i++) {
            proof.line(each.id(), i + 1, lines.get(i));
          }
        }
        assertEquals(1, proof.chains().get(0).firstBatch());
        assertEquals(receiver.taken().size(), proof.chains().get(0).batches());
      }
    }
  }
}
