package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Members who read large files are redirected to the object store. */
@OneEngine("the store's engine does not affect where a file is read from")
class RedirectApiTest {
  private static final int LEAST = 8 << 20;
  private static final byte[] LONG = bytes(LEAST, 5);

  private static RunningBourse bourse;
  private static ApiClient alice;
  private static String id;

  @BeforeAll
  static void start() {
    S3Server objects = S3Server.s3proxy();
    bourse = RunningBourse.demo(objects.settings(objects.newBucket(), "checkpoints.redirect=true"));
    alice = bourse.asMember("acme", "alice");
    id = published(LONG, "application/x-weights");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String published(byte[] bytes, String type) {
    JsonObject publication = publication(freshName(), bytes, "org").put("content_type", type);
    return publish(alice, publication, bytes).getString("id");
  }

  @Test
  void aLongFileIsReadAtTheObjectStore() throws Exception {
    HttpResponse<byte[]> led = alice.fetch("GET", content(id) + "?download=1");
    assertEquals(307, led.statusCode());
    assertEquals(0, led.body().length);
    assertEquals("no-store", led.headers().firstValue("cache-control").orElseThrow());
    URI there = URI.create(led.headers().firstValue("location").orElseThrow());
    assertTrue(there.getRawQuery().contains("X-Amz-Expires=60"), there.toString());
    HttpResponse<byte[]> read =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(there).build(), BodyHandlers.ofByteArray());
    assertArrayEquals(LONG, read.body());
    assertEquals("application/x-weights", read.headers().firstValue("content-type").orElseThrow());
    assertTrue(
        read.headers().firstValue("content-disposition").orElse("").startsWith("attachment"));
  }

  @Test
  void whatSendsNoBytesIsAnsweredHere() {
    HttpResponse<byte[]> head = alice.fetch("HEAD", content(id));
    assertEquals(200, head.statusCode());
    assertEquals(String.valueOf(LEAST), head.headers().firstValue("content-length").orElseThrow());
    String tag = '"' + sha256(LONG) + '"';
    assertEquals(304, alice.fetch("GET", content(id), "If-None-Match", tag).statusCode());
    assertEquals(416, alice.fetch("GET", content(id), "Range", "bytes=8388608-").statusCode());
  }

  @Test
  void aShorterFileIsSentFromHere() {
    byte[] shorter = bytes(LEAST - 1, 6);
    String item = published(shorter, "application/x-weights");
    assertArrayEquals(shorter, alice.fetch("GET", content(item)).body());
  }

  @Test
  void aPageIsSentFromHereWithItsSandbox() {
    HttpResponse<byte[]> page = alice.fetch("GET", content(published(LONG, "text/html")));
    assertEquals(200, page.statusCode());
    assertTrue(page.headers().firstValue("content-security-policy").isPresent());
  }

  @Test
  void thePublicFeedIsSentFromHere() {
    JsonObject document = publication(freshName(), LONG, "public");
    String item = publish(bourse.asMember("openlab", "carol"), document, LONG).getString("id");
    approve(bourse, item).ok();
    assertEquals(
        200,
        bourse
            .with(null)
            .fetch("GET", "/api/checkpoints/public/" + item + "/content")
            .statusCode());
  }
}
