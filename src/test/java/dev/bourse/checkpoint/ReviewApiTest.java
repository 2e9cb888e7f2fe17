package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.reject;
import static dev.bourse.testing.FilesFixture.review;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Decisions on files for the public feed. */
@ReplayedOnPostgres
class ReviewApiTest {
  private static final byte[] BYTES = bytes(70_000, 1);
  private static final byte[] OTHERS = bytes(50_000, 2);

  private static RunningBourse bourse;
  private static ApiClient carol;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    carol = bourse.asMember("openlab", "carol");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpResponse<byte[]> read(String reviewId, String... headers) {
    return bourse
        .operator()
        .fetch("GET", "/api/operator/reviews/" + reviewId + "/content", headers);
  }

  @Test
  void operatorsReadTheBytesTheyDecideOn() {
    String name = freshName();
    String id = publish(carol, name, BYTES, "public").getString("id");
    approve(bourse, id).ok();
    publish(carol, name, OTHERS, "public");
    String reviewId = review(bourse, id).getString("review_id");
    HttpResponse<byte[]> whole = read(reviewId);
    assertEquals(200, whole.statusCode());
    assertArrayEquals(OTHERS, whole.body(), "the revision under review, not the one on the feed");
    HttpResponse<byte[]> part = read(reviewId, "Range", "bytes=10-19");
    assertEquals(206, part.statusCode());
    assertArrayEquals(Arrays.copyOfRange(OTHERS, 10, 20), part.body());
    reject(bourse, id, "too odd").ok();
    assertArrayEquals(OTHERS, read(reviewId).body(), "also once it is decided");
    publish(carol, name, BYTES, "public");
    assertEquals(404, read(reviewId).statusCode(), "the review went with its revision");
  }

  @Test
  void whatBrowsersRunIsInASandboxForOperatorsToo() {
    byte[] page = "<html><script>alert(1)</script></html>".getBytes(StandardCharsets.US_ASCII);
    JsonObject publication = publication(freshName(), page, "public");
    publication.put("content_type", "text/html");
    String id = publish(carol, publication, page).getString("id");
    HttpResponse<byte[]> answer = read(review(bourse, id).getString("review_id"));
    assertTrue(
        answer.headers().firstValue("content-security-policy").orElse("").startsWith("sandbox;"));
    assertEquals(
        "nosniff", answer.headers().firstValue("x-content-type-options").orElse("missing"));
    assertEquals("", answer.headers().firstValue("access-control-allow-origin").orElse(""));
  }

  @Test
  void aFileIsReviewedBeforeEverybodyReadsIt() {
    ApiClient anybody = bourse.with(null);
    JsonObject landed = publish(carol, freshName(), BYTES, "public");
    String id = landed.getString("id");
    assertEquals("review", landed.getString("status"));
    assertNull(landed.getString("published_at"));
    assertArrayEquals(BYTES, carol.fetch("GET", content(id)).body());
    anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    assertEquals(sha256(BYTES), review(bourse, id).getJsonObject("checkpoint").getString("sha256"));
    approve(bourse, id).ok();
    assertEquals("ready", carol.get(item(id)).ok().getString("status"));
    assertEquals("ready", anybody.get(FEED + '/' + id).ok().getString("status"));
  }

  @Test
  void aRejectedFileStaysWithItsOrganizationAndTheReasonWithItsCreator() {
    JsonObject landed = publish(carol, freshName(), BYTES, "public");
    String id = landed.getString("id");
    String reviewId = review(bourse, id).getString("review_id");
    assertEquals("too odd", reject(bourse, id, "too odd").ok().getString("rejection_reason"));
    JsonObject rejected = carol.get(item(id)).ok();
    assertEquals("rejected", rejected.getString("status"));
    assertEquals("too odd", rejected.getString("rejection_reason"));
    JsonObject asToken = bourse.as("openlab", "bare").get(item(id)).ok();
    assertFalse(asToken.containsKey("rejection_reason"));
    bourse.with(null).get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    conflict(
        "wrong-status",
        bourse.operator().send("POST", "/api/operator/reviews/" + reviewId + "/approve", null));
  }

  @Test
  void whatIsOnTheFeedStaysUntilItsSuccessorIsApproved() {
    ApiClient anybody = bourse.with(null);
    String name = freshName();
    String id = publish(carol, name, BYTES, "public").getString("id");
    approve(bourse, id).ok();
    publish(carol, name, OTHERS, "public");
    assertEquals(2, carol.get(item(id)).ok().getInteger("revision"));
    assertEquals(1, anybody.get(FEED + '/' + id).ok().getInteger("revision"));
    assertArrayEquals(BYTES, anybody.fetch("GET", FEED + '/' + id + "/content").body());
    assertArrayEquals(OTHERS, carol.fetch("GET", content(id)).body());
    approve(bourse, id).ok();
    assertArrayEquals(OTHERS, anybody.fetch("GET", FEED + '/' + id + "/content").body());
  }

  @Test
  void aReviewEndsWhenItsRevisionIsReplaced() {
    String name = freshName();
    String id = publish(carol, name, BYTES, "public").getString("id");
    String seen = review(bourse, id).getString("review_id");
    publish(carol, name, OTHERS, "public");
    bourse
        .operator()
        .send("POST", "/api/operator/reviews/" + seen + "/approve", null)
        .refused(ErrorCode.NOT_FOUND);
    assertNotEquals(seen, review(bourse, id).getString("review_id"));
  }

  @Test
  void theAutomatedCheckTellsWhatItNoticed() {
    byte[] program = bytes(100, 3);
    System.arraycopy(new byte[] {0x7f, 'E', 'L', 'F'}, 0, program, 0, 4);
    String id = publish(carol, "tool-" + freshName(), program, "public").getString("id");
    String reviewId = review(bourse, id).getString("review_id");
    assertTrue(
        bourse
            .operator()
            .get("/api/operator/reviews/" + reviewId)
            .ok()
            .getJsonArray("findings")
            .getString(0)
            .startsWith("executable:"));
  }
}
