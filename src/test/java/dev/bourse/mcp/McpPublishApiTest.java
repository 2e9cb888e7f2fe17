package dev.bourse.mcp;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.McpClient.confirm;
import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A model publishes a file by an address to which its bytes are sent without a token. */
@ReplayedOnPostgres
class McpPublishApiTest extends McpApiFixture {
  private static final byte[] BYTES = bytes(200_000, 5);

  private static JsonObject publication(String name) {
    return FilesFixture.publication(name, BYTES, "org")
        .put("action", "publish")
        .put("phase", "preview");
  }

  /** Previewed and confirmed. */
  private static JsonObject announced(McpClient member, JsonObject publication) {
    return member.ok(
        "checkpoint_write", confirm(publication, member.ok("checkpoint_write", publication)));
  }

  /** Bytes sent by somebody who has nothing but the address. */
  private static HttpAnswer send(JsonObject announced, byte[] bytes, String... headers) {
    return bourse
        .with(null)
        .sendBytes("PUT", path(announced.getString("upload_url")), bytes, headers);
  }

  private static JsonObject item(String id) {
    return alice
        .ok("checkpoint_read", new JsonObject().put("action", "get").put("id", id))
        .getJsonObject("checkpoint");
  }

  @Test
  void whoHasTheAddressPublishesTheFileOnce() {
    JsonObject publication = publication(freshName());
    JsonObject preview = alice.ok("checkpoint_write", publication);
    assertEquals(false, preview.getBoolean("replaced"));
    assertFalse(preview.containsKey("upload_url"));
    JsonObject announced = alice.ok("checkpoint_write", confirm(publication, preview));
    String id = announced.getString("id");
    assertEquals("pending", item(id).getString("status"));
    JsonObject done = send(announced, BYTES, "Content-Type", "application/octet-stream").ok();
    assertEquals("ready", done.getString("status"));
    assertEquals(sha256(BYTES), item(id).getString("sha256"));
    assertArrayEquals(
        BYTES, bourse.asMember("acme", "alice").fetch("GET", FilesFixture.content(id)).body());
    send(announced, BYTES, "Content-Type", "application/octet-stream").refused(ErrorCode.GONE);
    assertEquals(
        List.of("member:alice checkpoint_create", "member:alice checkpoint_publish"),
        bourse.audit("acme", false).stream()
            .filter(row -> row.detail().contains(id) || row.subject().equals(id))
            .map(row -> row.actor() + ' ' + row.action())
            .sorted()
            .toList());
    assertEquals(
        "confirm-used",
        alice
            .refused("checkpoint_write", confirm(publication, preview), ErrorCode.CONFLICT)
            .getString("reason"));
  }

  @Test
  void theBytesMayComeInPieces() {
    JsonObject announced = announced(alice, publication(freshName()));
    byte[] first = java.util.Arrays.copyOf(BYTES, 150_000);
    byte[] rest = java.util.Arrays.copyOfRange(BYTES, 150_000, BYTES.length);
    assertEquals(308, send(announced, first, "Content-Range", "bytes 0-149999/200000").status());
    assertEquals("pending", item(announced.getString("id")).getString("status"));
    send(announced, rest, "Content-Range", "bytes 150000-199999/200000").ok();
    assertEquals(sha256(BYTES), item(announced.getString("id")).getString("sha256"));
  }

  @Test
  void theAddressIsForThoseBytesAlone() {
    JsonObject publication = publication(freshName()).put("sha256", sha256(bytes(200_000, 6)));
    JsonObject announced = announced(alice, publication);
    conflict("size-mismatch", send(announced, bytes(100, 1), "Content-Range", "bytes 0-99/100"));
    conflict("sha-mismatch", send(announced, BYTES));
    assertEquals("pending", item(announced.getString("id")).getString("status"));
    send(announced, bytes(200_000, 6)).ok();
  }

  @Test
  void theAddressIsASecretOfWhichOnlyTheDigestIsStored() {
    JsonObject announced = announced(alice, publication(freshName()));
    String secret = announced.getString("upload_url").replaceAll(".*/", "");
    assertEquals("once-".length() + 43, secret.length());
    assertFalse(
        await(
            bourse
                .database()
                .exists(
                    "SELECT 1 FROM checkpoint_revision WHERE session_sha256 = ?",
                    List.of(secret))));
    long lives =
        Duration.between(Instant.now(), Instant.parse(announced.getString("upload_expires_at")))
            .toMinutes();
    assertTrue(lives >= 55 && lives <= 60, lives + " minutes");
  }

  @Test
  void noOtherSessionPublishesByItsLastBytes() {
    ApiClient member = bourse.asMember("acme", "alice");
    JsonObject announced =
        FilesFixture.announce(
            member, FilesFixture.publication(freshName(), BYTES, "org").put("upload", "resumable"));
    String session = path(announced.getString("session_url"));
    bourse
        .with(null)
        .sendBytes("PUT", session.replace("/upload/", "/upload/once-"), BYTES)
        .refused(ErrorCode.GONE);
    assertEquals(
        "pending", bourse.with(null).sendBytes("PUT", session, BYTES).ok().getString("status"));
    assertEquals("pending", item(announced.getString("id")).getString("status"));
  }

  @Test
  void anAddressIsGoodForAWhile() {
    try (RunningBourse brief = RunningBourse.demo("checkpoints.session-lifetime=1m")) {
      JsonObject announced =
          announced(McpClient.of(brief, "acme", "alice"), publication(freshName()));
      Instant expires = Instant.parse(announced.getString("upload_expires_at"));
      assertTrue(expires.isBefore(Instant.now().plusSeconds(61)), expires.toString());
    }
  }

  @Test
  void aCredentialIsNotPublished() {
    String text = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAA".repeat(9);
    byte[] secret = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    JsonObject announced = announced(alice, publication(freshName()).put("bytes", secret.length));
    send(announced, secret).refused(ErrorCode.SECRET_DETECTED);
    send(announced, secret).refused(ErrorCode.GONE);
  }

  @Test
  void whatReplacesAnItemIsConfirmedForThatItemAsItWas() {
    String name = freshName();
    JsonObject publication = publication(name);
    JsonObject stale = alice.ok("checkpoint_write", publication);
    String id =
        FilesFixture.publish(bourse.asMember("acme", "alice"), name, bytes(10, 1), "org")
            .getString("id");
    alice.refused("checkpoint_write", confirm(publication, stale), ErrorCode.VERSION_MISMATCH);
    JsonObject preview = alice.ok("checkpoint_write", publication);
    assertEquals(true, preview.getBoolean("replaced"));
    assertEquals(id, preview.getString("id"));
    JsonObject announced = alice.ok("checkpoint_write", confirm(publication, preview));
    assertEquals(id, announced.getString("id"));
    assertEquals(2, announced.getInteger("revision"));
    send(announced, BYTES).ok();
    assertEquals(2, item(id).getInteger("revision"));
    refusedFor(alice, publication.copy().put("replace", false), "exists");
    refusedFor(McpClient.of(bourse, "acme", "bob"), publication, "exists");
  }

  private static void refusedFor(McpClient member, JsonObject publication, String reason) {
    assertEquals(
        reason,
        member.refused("checkpoint_write", publication, ErrorCode.CONFLICT).getString("reason"));
  }

  @Test
  void aPublicFileGoesToAReviewAndIsRefusedWhereTheFeedIsClosed() {
    JsonObject publication = publication(freshName()).put("visibility", "public");
    JsonObject announced = announced(McpClient.of(bourse, "openlab", "carol"), publication);
    assertEquals("required", announced.getString("review"));
    assertEquals("review", send(announced, BYTES).ok().getString("status"));
    assertEquals(
        "public-restricted",
        McpClient.of(bourse, "globex", "dave")
            .refused("checkpoint_write", publication, ErrorCode.FORBIDDEN)
            .getString("reason"));
  }

  @Test
  void publishingNeedsItsScopeAndItsArguments() {
    McpClient.needing(
        bourse, Scope.CHECKPOINTS_WRITE, "checkpoint_write", publication(freshName()));
    for (String field : List.of("title", "filename", "content_type", "bytes", "visibility")) {
      JsonObject lacking = publication(freshName());
      lacking.remove(field);
      assertTrue(
          alice
              .refused("checkpoint_write", lacking, ErrorCode.BAD_REQUEST)
              .getString("detail")
              .startsWith(field + " is missing"),
          field);
    }
    alice.refused(
        "checkpoint_write", publication(freshName()).put("id", "x"), ErrorCode.BAD_REQUEST);
    alice.refused("checkpoint_write", publication("a/b"), ErrorCode.BAD_REQUEST);
    alice.refused(
        "checkpoint_write",
        new JsonObject().put("action", "delete").put("phase", "preview"),
        ErrorCode.BAD_REQUEST);
  }
}
