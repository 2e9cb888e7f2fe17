package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Files in an object store. */
@ReplayedOnPostgres
class ObjectStoreApiTest {
  private static final byte[] BYTES = bytes(17_500_000, 3);

  private static S3Server objects;
  private static String bucket;
  private static RunningBourse bourse;
  private static ApiClient alice;
  private static ApiClient anybody;

  @BeforeAll
  static void start() {
    objects = S3Server.s3proxy();
    bucket = objects.newBucket();
    bourse =
        RunningBourse.demo(
            objects.settings(
                bucket, "checkpoints.sweep-interval=50ms", "checkpoints.deletion-delay=0"));
    alice = bourse.asMember("acme", "alice");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer send(ApiClient caller, String session, int from, int until) {
    return caller.sendBytes(
        "PUT",
        session,
        Arrays.copyOfRange(BYTES, from, until),
        "Content-Range",
        "bytes " + from + "-" + (until - 1) + "/" + BYTES.length);
  }

  /** Sends and reads parts of 16 MiB. */
  @Test
  void aFileOfSeveralPartsIsPublishedReadInRangesAndDeleted() {
    JsonObject announced =
        announce(alice, publication(freshName(), BYTES, "org").put("upload", "resumable"));
    String session = path(announced.getString("session_url"));
    String id = announced.getString("id");
    assertEquals(308, send(anybody, session, 0, 300_000).status());
    assertEquals("bytes=0-299999", send(anybody, session, 5, 100).header("range"));
    send(anybody, session, 300_000, BYTES.length).ok();
    JsonObject item =
        alice.post(item(id) + "/commit", new JsonObject().put("bytes", BYTES.length)).ok();
    assertEquals(sha256(BYTES), item.getString("sha256"));
    assertArrayEquals(BYTES, alice.fetch("GET", content(id)).body());
    assertArrayEquals(
        Arrays.copyOfRange(BYTES, 16_777_000, 16_778_000),
        alice.fetch("GET", content(id), "Range", "bytes=16777000-16777999").body());
    assertEquals(200, alice.fetch("HEAD", content(id)).statusCode());
    alice.delete(item(id)).ok();
    until("its objects are gone", () -> objects.objects(bucket).stream().noneMatch(isOf(id)));
  }

  private static Predicate<String> isOf(String id) {
    return object -> object.contains(id);
  }

  @Test
  void aDirectUploadIsOneObject() {
    byte[] small = bytes(40_000, 4);
    String id = publish(alice, publication(freshName(), small, "org"), small).getString("id");
    assertArrayEquals(small, alice.fetch("GET", content(id)).body());
    assertEquals(1, objects.objects(bucket).stream().filter(isOf(id)).count());
  }
}
