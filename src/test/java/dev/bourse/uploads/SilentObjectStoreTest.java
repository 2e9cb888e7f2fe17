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
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.Slow;
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

/** An object store that accepts connections and never answers. */
@OneEngine("the database is not involved")
class SilentObjectStoreTest {
  private static final byte[] BYTES = bytes(200_000, 5);

  @Test
  @Slow("waits 2 s for each of three tries: a busy machine may keep a store silent for one")
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
   * @param before content published while the store answered
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
    // The market grants declarations while those requests wait.
    cluster.hold(1, 4.0);
    for (CompletableFuture<HttpResponse<byte[]>> one : refused) {
      assertEquals(
          503,
          one.join().statusCode(),
          () -> new String(one.join().body(), StandardCharsets.UTF_8));
      assertFalse(one.join().headers().firstValue("Retry-After").isEmpty());
    }

    until("the call is counted", () -> calls(bourse, "put", "unanswered").endsWith(" 1"));
    assertEquals(
        List.of(),
        network.seen().stream().filter(request -> request.contains("/pieces/")).toList(),
        "a store that did not take the bytes is not waited for once more to keep them");

    network.thaw();
    until("bytes are taken again", () -> put(bourse, session).statusCode() == 200);
    assertTrue(calls(bourse, "put", "done").endsWith(" 1"));
    until(
        "bytes are given again",
        () -> Arrays.equals(BYTES, alice.fetch("GET", content(before)).body()));
  }

  /**
   * @param seconds time-out of requests to the store
   */
  private static String[] settings(S3Server server, String bucket, S3Faults network, int seconds) {
    String[] settings = server.settings(bucket);
    settings[0] =
        "checkpoints.store=" + S3Server.store(bucket, network.port()) + "&timeout=" + seconds;
    return settings;
  }

  /** Returns the number of calls of a kind in the metrics. */
  private static String calls(RunningBourse bourse, String operation, String outcome) {
    String name =
        "bourse_object_store_seconds_count{operation=\"%s\",outcome=\"%s\"}"
            .formatted(operation, outcome);
    ApiClient monitor =
        new ApiClient("http://127.0.0.1:" + bourse.service().managementPort(), null);
    return new String(monitor.fetch("GET", "/metrics").body(), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(name))
        .findFirst()
        .orElse(name + " is missing");
  }

  /** Waits longer than other tests' clients, because the store is tried three times. */
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
