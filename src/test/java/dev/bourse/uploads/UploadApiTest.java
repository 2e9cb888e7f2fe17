package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.put;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Uploads of single files. */
@EachEngine
class UploadApiTest {
  private static final byte[] BYTES = bytes(900_000, 1);

  private static RunningBourse bourse;
  private static ApiClient alice;
  private static ApiClient anybody;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** An announced resumable upload. */
  private record Session(String id, String path) {}

  private static Session begin(ApiClient member) {
    return begin(member, "org");
  }

  private static Session begin(ApiClient member, String visibility) {
    JsonObject announced =
        announce(member, publication(freshName(), BYTES, visibility).put("upload", "resumable"));
    return new Session(announced.getString("id"), path(announced.getString("session_url")));
  }

  private static HttpAnswer send(ApiClient caller, Session session, int from, int until) {
    return caller.sendBytes(
        "PUT",
        session.path,
        Arrays.copyOfRange(BYTES, from, until),
        "Content-Range",
        "bytes " + from + "-" + (until - 1) + "/" + BYTES.length);
  }

  private static HttpAnswer ask(ApiClient caller, Session session) {
    return caller.sendBytes("PUT", session.path, new byte[0], "Content-Range", "bytes */*");
  }

  private static void incomplete(long stored, HttpAnswer answer) {
    assertEquals(308, answer.status(), String.valueOf(answer.body()));
    assertEquals(stored == 0 ? "" : "bytes=0-" + (stored - 1), answer.header("range"));
  }

  private static HttpAnswer commit(ApiClient member, Session session) {
    return member.post(item(session.id) + "/commit", new JsonObject().put("bytes", BYTES.length));
  }

  @Test
  void aSessionTakesChunksWithoutCredentialsAndIsCommitted() {
    Session session = begin(alice);
    incomplete(0, ask(anybody, session));
    incomplete(300_000, send(anybody, session, 0, 300_000));
    incomplete(300_001, send(anybody, session, 300_000, 300_001));
    incomplete(300_001, ask(anybody, session));
    JsonObject all = send(anybody, session, 300_001, BYTES.length).ok();
    assertEquals(BYTES.length, all.getInteger("bytes"));
    ask(anybody, session).ok();
    JsonObject item = commit(alice, session).ok();
    assertEquals("ready", item.getString("status"));
    assertEquals(sha256(BYTES), item.getString("sha256"));
    assertArrayEquals(BYTES, alice.fetch("GET", content(session.id)).body());
    ask(anybody, session).refused(ErrorCode.GONE);
    conflict("not-pending", commit(alice, session));
  }

  @Test
  void theWholeFileMayComeInOneRequest() {
    Session session = begin(alice);
    anybody.sendBytes("PUT", session.path, BYTES).ok();
    commit(alice, session).ok();
    Session star = begin(alice);
    anybody.sendBytes("PUT", star.path, BYTES, "Content-Range", "bytes 0-*/*").ok();
    commit(alice, star).ok();
  }

  @Test
  void aGapIsNotTakenAndTheAnswerSaysWhereToGoOn() {
    Session session = begin(alice);
    incomplete(0, send(anybody, session, 5, 10));
    incomplete(1_000, send(anybody, session, 0, 1_000));
    incomplete(1_000, send(anybody, session, 1_001, 2_000));
    incomplete(2_000, send(anybody, session, 500, 2_000));
  }

  /** Starts two services. */
  @Test
  void anUploadGoesOnAfterARestart() {
    RunningBourse first = RunningBourse.demo();
    Session session = begin(first.asMember("acme", "alice"));
    incomplete(400_000, send(first.with(null), session, 0, 400_000));
    try (RunningBourse second = first.restarted()) {
      incomplete(400_000, ask(second.with(null), session));
      send(second.with(null), session, 400_000, BYTES.length).ok();
      JsonObject item = commit(second.asMember("acme", "alice"), session).ok();
      assertEquals(sha256(BYTES), item.getString("sha256"));
    }
  }

  @Test
  void malformedRangesAreRefused() {
    Session session = begin(alice);
    for (String range : new String[] {"bytes", "bytes 5-4/900000", "bytes 0-4/5-", "lines 0-4/5"}) {
      anybody
          .sendBytes("PUT", session.path, new byte[5], "Content-Range", range)
          .refused(ErrorCode.BAD_REQUEST);
    }
    anybody
        .sendBytes("PUT", session.path, new byte[5], "Content-Range", "bytes 0-9/900000")
        .refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void anotherSizeThanAnnouncedIsRefused() {
    Session session = begin(alice);
    conflict(
        "size-mismatch",
        anybody.sendBytes("PUT", session.path, new byte[5], "Content-Range", "bytes 0-4/5"));
    conflict("size-mismatch", anybody.sendBytes("PUT", session.path, bytes(900_001, 3)));
    conflict(
        "size-mismatch",
        alice.post(item(session.id) + "/commit", new JsonObject().put("bytes", 5)));
    String id = announce(alice, publication(freshName(), BYTES, "org")).getString("id");
    conflict("size-mismatch", put(alice, id, FilesFixture.TYPE, new byte[5]));
    put(alice, id, FilesFixture.TYPE, BYTES).ok();
  }

  @Test
  void anotherDigestThanAnnouncedIsRefused() {
    JsonObject request = publication(freshName(), BYTES, "org").put("sha256", "0".repeat(64));
    String id = announce(alice, request.copy().put("upload", "direct")).getString("id");
    conflict("sha-mismatch", put(alice, id, FilesFixture.TYPE, BYTES));
    Session session = begin(alice);
    anybody.sendBytes("PUT", session.path, BYTES).ok();
    JsonObject commit = new JsonObject().put("bytes", BYTES.length).put("sha256", "0".repeat(64));
    conflict("sha-mismatch", alice.post(item(session.id) + "/commit", commit));
    incomplete(0, ask(anybody, session));
  }

  @Test
  void bytesHaveTheAnnouncedType() {
    String id = announce(alice, publication(freshName(), BYTES, "org")).getString("id");
    put(alice, id, "text/plain", BYTES).refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    put(alice, id, "Application/Octet-Stream", BYTES).ok();
  }

  @Test
  void eachUploadHasItsOwnWay() {
    Session session = begin(alice);
    conflict("resumable-upload", put(alice, session.id, FilesFixture.TYPE, BYTES));
    String id = announce(alice, publication(freshName(), BYTES, "org")).getString("id");
    conflict(
        "wrong-status",
        alice.post(item(id) + "/commit", new JsonObject().put("bytes", BYTES.length)));
    put(alice, id, FilesFixture.TYPE, BYTES).ok();
    conflict("not-pending", put(alice, id, FilesFixture.TYPE, BYTES));
  }

  @Test
  void whatIsNotCompleteIsNotRead() {
    Session session = begin(alice);
    conflict("object-missing", alice.get(content(session.id)));
    conflict("object-missing", commit(alice, session));
    send(anybody, session, 0, 1_000);
    conflict("object-missing", commit(alice, session));
  }

  private static byte[] zip(String name, byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream packed = new ZipOutputStream(out)) {
      packed.putNextEntry(new ZipEntry(name));
      packed.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  @Test
  void aCredentialIsFoundAtEveryEntranceAndNothingStays() {
    byte[] text = BYTES.clone();
    byte[] token = bourse.secret("acme", "bare").getBytes(StandardCharsets.US_ASCII);
    text[499_999] = ' ';
    System.arraycopy(token, 0, text, 500_000, token.length);
    text[500_000 + token.length] = ' ';
    String id = announce(alice, publication(freshName(), text, "org")).getString("id");
    JsonObject direct = put(alice, id, FilesFixture.TYPE, text).refused(ErrorCode.SECRET_DETECTED);
    assertEquals(500_000, direct.getInteger("offset"));
    alice.get(item(id)).refused(ErrorCode.GONE);
    byte[] archive = zip("deploy/.env", new byte[] {'x'});
    String packed = announce(alice, publication(freshName(), archive, "org")).getString("id");
    JsonObject member =
        put(alice, packed, FilesFixture.TYPE, archive).refused(ErrorCode.SECRET_DETECTED);
    assertEquals("file-name", member.getString("rule"));
    assertEquals("deploy/.env", member.getString("member"));
    Session session = begin(alice);
    incomplete(
        500_010,
        anybody.sendBytes(
            "PUT",
            session.path,
            Arrays.copyOf(text, 500_010),
            "Content-Range",
            "bytes 0-500009/" + text.length));
    anybody
        .sendBytes(
            "PUT",
            session.path,
            Arrays.copyOfRange(text, 500_010, text.length),
            "Content-Range",
            "bytes 500010-" + (text.length - 1) + "/" + text.length)
        .refused(ErrorCode.SECRET_DETECTED);
    ask(anybody, session).refused(ErrorCode.GONE);
    alice.get(item(session.id)).refused(ErrorCode.GONE);
  }

  @Test
  void aFailedReplacementLeavesWhatWasThere() {
    String name = freshName();
    JsonObject first = publish(alice, name, BYTES, "org");
    String id = first.getString("id");
    byte[] secret =
        ("token: " + bourse.secret("acme", "bare") + "\n").getBytes(StandardCharsets.US_ASCII);
    announce(alice, publication(name, secret, "org"));
    put(alice, id, FilesFixture.TYPE, secret).refused(ErrorCode.SECRET_DETECTED);
    assertEquals(first, alice.get(item(id)).ok());
    assertArrayEquals(BYTES, alice.fetch("GET", content(id)).body());
  }

  @Test
  void aSessionEndsInTimeAndItsStorageIsReturned() {
    try (RunningBourse hasty =
        RunningBourse.demo(
            "checkpoints.session-lifetime=300ms", "checkpoints.sweep-interval=50ms")) {
      ApiClient member = hasty.asMember("acme", "alice");
      Session session = begin(member);
      RunningBourse.until(
          "the session is over", () -> ask(hasty.with(null), session).status() == 410);
      HttpAnswer late = commit(member, session);
      if (late.status() != 410) {
        late.refused(ErrorCode.UPLOAD_TIMEOUT);
      }
      RunningBourse.until(
          "the storage is returned",
          () -> member.get(FilesFixture.FAMILY).ok().getLong("used_bytes") == 0);
      RunningBourse.until("the item is gone", () -> member.get(item(session.id)).status() == 410);
    }
  }

  /** Starts two services. */
  @Test
  void aSessionOfWhoeverMayNotPublishAnyMoreEndsAtOnceAndForGoodAndItsStorageIsReturned() {
    RunningBourse first = RunningBourse.demo("checkpoints.deletion-delay=0s");
    Map<String, Session> sessions =
        Map.of(
            "removed", begin(first.asMember("acme", "alice"), "org"),
            "suspended", begin(first.asMember("globex", "dave"), "org"),
            "on a closed feed", begin(first.asMember("openlab", "carol"), "public"));
    sessions.values().forEach(one -> incomplete(400_000, send(first.with(null), one, 0, 400_000)));

    String orgs = "/api/operator/orgs/";
    first.operator().delete(orgs + "acme/members/alice").ok();
    first
        .operator()
        .patch(orgs + "globex/members/dave", new JsonObject().put("suspended", true))
        .ok();
    first.operator().patch(orgs + "openlab", new JsonObject().put("kind", "standard")).ok();
    sessions.forEach(
        (why, one) -> {
          ask(first.with(null), one).refused(ErrorCode.GONE);
          send(first.with(null), one, 400_000, BYTES.length).refused(ErrorCode.GONE);
        });

    try (RunningBourse second = first.restarted()) {
      sessions.forEach(
          (why, one) ->
              send(second.with(null), one, 400_000, BYTES.length).refused(ErrorCode.GONE));
      for (String org : new String[] {"acme", "globex", "openlab"}) {
        RunningBourse.until(
            "the storage of " + org + " is returned",
            () ->
                second.as(org, "orgwide").get(FilesFixture.FAMILY).ok().getLong("used_bytes") == 0);
      }
      RunningBourse.until("the bytes are deleted", () -> second.files("uploads").isEmpty());
    }
  }

  /** A session is looked up before the body is read; a request without a body ends meanwhile. */
  @Test
  void aBrowserSendsAnEmptyFile() {
    ApiClient browser = bourse.inSession("acme", "alice");

    JsonObject item = FilesFixture.publish(browser, freshName(), new byte[0], "org");

    assertEquals(0, item.getLong("bytes"));
  }

  @Test
  void anEmptyFileIsAFile() {
    byte[] none = new byte[0];
    JsonObject direct = announce(alice, publication(freshName(), none, "org"));
    JsonObject put =
        alice
            .sendBytes(
                "PUT",
                content(direct.getString("id")),
                none,
                "Content-Type",
                "application/octet-stream")
            .ok();
    assertEquals(0, put.getLong("bytes"));
    assertEquals(sha256(none), put.getString("sha256"));
    for (List<String> headers :
        List.of(List.<String>of(), List.of("Content-Range", "bytes */0"), List.of("none"))) {
      JsonObject session =
          announce(alice, publication(freshName(), none, "org").put("upload", "resumable"));
      if (!headers.contains("none")) {
        anybody
            .sendBytes(
                "PUT", path(session.getString("session_url")), none, headers.toArray(String[]::new))
            .ok();
      }
      JsonObject item =
          alice
              .post(
                  item(session.getString("id")) + "/commit",
                  new JsonObject()
                      .put("bytes", 0)
                      .put("sha256", sha256(none).toUpperCase(Locale.ROOT)))
              .ok();
      assertEquals(sha256(none), item.getString("sha256"), headers.toString());
      HttpResponse<byte[]> read = alice.fetch("GET", content(item.getString("id")));
      assertEquals(200, read.statusCode());
      assertEquals(0, read.body().length);
    }
  }

  @Test
  void aBodyMayRepeatTheAnnouncedTypeWithACharset() {
    for (String sent : List.of("text/markdown; charset=utf-8", "TEXT/Markdown;charset=\"UTF-8\"")) {
      assertEquals(200, sent("text/markdown", sent).status(), sent);
    }
    assertEquals(200, sent("text/plain;charset=latin1", "text/plain; charset=latin1").status());
    sent("text/plain;charset=latin1", "text/plain;charset=utf-8")
        .refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    sent("text/plain;charset=latin1", "text/plain").refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    sent("text/markdown", "text/plain;charset=utf-8").refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
    sent("text/markdown", "text/markdown;charset=a;b=c").refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
  }

  private static HttpAnswer sent(String announced, String type) {
    JsonObject item =
        announce(
            alice,
            publication(freshName(), BYTES, "org")
                .put("content_type", announced)
                .put("upload", "direct")
                .put("sha256", sha256(BYTES).toUpperCase(Locale.ROOT)));
    return alice.sendBytes("PUT", content(item.getString("id")), BYTES, "Content-Type", type);
  }
}
