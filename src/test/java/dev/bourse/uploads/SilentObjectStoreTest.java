package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** An object store that takes connections and says nothing. */
@OneEngine("the database is not what is silent")
class SilentObjectStoreTest {
  private static final byte[] BYTES = bytes(200_000, 5);

  @Test
  void requestsForBytesAreRefusedInTimeAndNothingElseNotices() throws Exception {
    S3Server server = S3Server.s3proxy();
    String bucket = server.newBucket();
    try (S3Faults network = new S3Faults(server.port())) {
      RunningBourse patient = RunningBourse.demo(settings(server, bucket, network, 60));
      String before =
          publish(patient.asMember("acme", "alice"), freshName(), BYTES, "org").getString("id");
      try (RunningBourse bourse = patient.restartedWith(settings(server, bucket, network, 2))) {
        refusesInTime(bourse, network, before);
      }
    }
  }

  /**
   * @param before what was published when the store answered
   */
  private static void refusesInTime(RunningBourse bourse, S3Faults network, String before) {
    ApiClient alice = bourse.asMember("acme", "alice");
    ClusterClient cluster = new ClusterClient(bourse.as("acme", "bound"), "acme", "acme-train");
    JsonObject meanwhile =
        announce(alice, publication(freshName(), BYTES, "org").put("upload", "resumable"));
    String session = path(meanwhile.getString("session_url"));

    network.all(Fault.SILENT);
    List<CompletableFuture<HttpResponse<byte[]>>> refused =
        List.of(
            inBackground(() -> alice.fetch("GET", content(before))),
            inBackground(() -> put(bourse, session)));
    // The market grants what is declared while those wait.
    cluster.hold(1, 4.0);
    for (CompletableFuture<HttpResponse<byte[]>> one : refused) {
      assertEquals(
          503,
          one.join().statusCode(),
          () -> new String(one.join().body(), StandardCharsets.UTF_8));
      assertFalse(one.join().headers().firstValue("Retry-After").isEmpty());
    }

    network.thaw();
    until("bytes are taken again", () -> put(bourse, session).statusCode() == 200);
    until(
        "bytes are given again",
        () -> Arrays.equals(BYTES, alice.fetch("GET", content(before)).body()));
  }

  /**
   * @param seconds what the store is waited for
   */
  private static String[] settings(S3Server server, String bucket, S3Faults network, int seconds) {
    String[] settings = server.settings(bucket);
    settings[0] =
        "checkpoints.store=" + S3Server.store(bucket, network.port()) + "&timeout=" + seconds;
    return settings;
  }

  /** Waits longer than other tests' clients: the store is tried for the bytes and for a piece. */
  private static HttpResponse<byte[]> put(RunningBourse bourse, String session) {
    try {
      return HttpClient.newHttpClient()
          .send(
              HttpRequest.newBuilder(URI.create(bourse.service().baseUrl() + session))
                  .timeout(Duration.ofMinutes(2))
                  .PUT(HttpRequest.BodyPublishers.ofByteArray(BYTES))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static <T> CompletableFuture<T> inBackground(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work);
  }
}
