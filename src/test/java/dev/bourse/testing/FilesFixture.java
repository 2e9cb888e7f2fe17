package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Files that members publish, for the tests of checkpoints. */
public final class FilesFixture {
  public static final String FAMILY = "/api/checkpoints";
  public static final String FEED = FAMILY + "/public";
  public static final String TYPE = "application/octet-stream";

  private static final AtomicInteger NAMES = new AtomicInteger();

  private FilesFixture() {}

  /** A file name no other test has. */
  public static String freshName() {
    return "file-" + NAMES.incrementAndGet() + ".bin";
  }

  /** Bytes that look random, the same for the same seed. */
  public static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  public static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(Digests.sha256(bytes));
  }

  public static JsonObject publication(String name, byte[] bytes, String visibility) {
    return new JsonObject()
        .put("title", "About " + name)
        .put("filename", name)
        .put("content_type", TYPE)
        .put("bytes", bytes.length)
        .put("visibility", visibility);
  }

  /** The answer to an announcement that is accepted. */
  public static JsonObject announce(ApiClient member, JsonObject publication) {
    HttpAnswer answer = member.post(FAMILY, publication);
    assertEquals(201, answer.status(), String.valueOf(answer.body()));
    return answer.json();
  }

  /** Announces a file and sends it directly; gives the item. */
  public static JsonObject publish(ApiClient member, JsonObject publication, byte[] bytes) {
    String id = announce(member, publication.put("upload", "direct")).getString("id");
    return put(member, id, publication.getString("content_type"), bytes).ok();
  }

  public static JsonObject publish(ApiClient member, String name, byte[] bytes, String visibility) {
    return publish(member, publication(name, bytes, visibility), bytes);
  }

  public static HttpAnswer put(ApiClient member, String id, String type, byte[] bytes) {
    return member.sendBytes("PUT", content(id), bytes, "Content-Type", type);
  }

  public static String item(String id) {
    return FAMILY + '/' + id;
  }

  public static String content(String id) {
    return item(id) + "/content";
  }

  /** The path of an address of the service. */
  public static String path(String url) {
    return URI.create(url).getRawPath();
  }

  /** A conflict for this reason. */
  public static void conflict(String reason, HttpAnswer answer) {
    assertEquals(reason, answer.refused(ErrorCode.CONFLICT).getString("reason"));
  }

  /** The open review of an item. */
  public static JsonObject review(RunningBourse bourse, String id) {
    return ClusterClient.objects(
            bourse.operator().get("/api/operator/reviews?limit=500").ok().getJsonArray("reviews"))
        .stream()
        .filter(review -> review.getJsonObject("checkpoint").getString("id").equals(id))
        .findFirst()
        .orElseThrow();
  }

  public static HttpAnswer approve(RunningBourse bourse, String id) {
    return bourse
        .operator()
        .send(
            "POST",
            "/api/operator/reviews/" + review(bourse, id).getString("review_id") + "/approve",
            null);
  }

  public static HttpAnswer reject(RunningBourse bourse, String id, String reason) {
    return bourse
        .operator()
        .post(
            "/api/operator/reviews/" + review(bourse, id).getString("review_id") + "/reject",
            new JsonObject().put("reason", reason));
  }
}
