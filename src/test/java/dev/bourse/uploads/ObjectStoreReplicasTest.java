package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.SetsFixture;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two processes on one database and one object store, with folders of their own. */
@OneEngine("only PostgreSQL is shared by several processes")
class ObjectStoreReplicasTest {
  private static final int PART = 16 * 1024 * 1024;

  /** More than a part; each test sends 19 MB and reads them back, which takes seconds. */
  private static final byte[] BYTES = bytes(PART + 3_000_000, 8);

  private static String database;
  private static RunningBourse first;
  private static RunningBourse second;
  private static ApiClient alice;

  @BeforeAll
  static void start() throws Exception {
    S3Server objects = S3Server.s3proxy();
    database = SharedPostgres.server().newStore();
    String[] settings = objects.settings(objects.newBucket(), "store.url=" + database);
    first = RunningBourse.demo(settings);
    // A folder of its own, with the published secrets of the demo world.
    Path other = RunningBourse.newFolder();
    Files.copy(first.data().resolve("demo.json"), other.resolve("demo.json"));
    second = RunningBourse.over(other, settings);
    alice = first.asMember("acme", "alice");
  }

  @AfterAll
  static void stop() {
    second.close();
    first.close();
  }

  /** An announced upload. */
  private record Session(String id, String path) {}

  private static Session begin() {
    JsonObject announced =
        announce(alice, publication(freshName(), BYTES, "org").put("upload", "resumable"));
    return new Session(announced.getString("id"), path(announced.getString("session_url")));
  }

  private static HttpAnswer send(RunningBourse to, Session session, int from, int until) {
    return to.with(null)
        .sendBytes(
            "PUT",
            session.path,
            Arrays.copyOfRange(BYTES, from, until),
            "Content-Range",
            "bytes " + from + "-" + (until - 1) + "/" + BYTES.length);
  }

  private static String stored(RunningBourse at, Session session) {
    return at.with(null)
        .sendBytes("PUT", session.path, new byte[0], "Content-Range", "bytes */*")
        .header("range");
  }

  private static void isPublished(Session session) {
    JsonObject bytes = new JsonObject().put("bytes", BYTES.length);
    until(
        "it is committed",
        () ->
            alice.post(item(session.id) + "/commit", bytes).status() == 200
                || alice.get(item(session.id)).ok().getString("status").equals("ready"));
    assertEquals(sha256(BYTES), alice.get(item(session.id)).ok().getString("sha256"));
    for (RunningBourse process : List.of(first, second)) {
      ApiClient reader = process.as("acme", "orgwide");
      assertArrayEquals(BYTES, reader.fetch("GET", content(session.id)).body());
    }
  }

  /** Sends a request to both processes at once; returns the statuses. */
  private static Set<Integer> atBoth(Function<RunningBourse, HttpAnswer> request) {
    return Stream.of(first, second)
        .map(process -> CompletableFuture.supplyAsync(() -> request.apply(process).status()))
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .collect(Collectors.toSet());
  }

  /** Sends missing bytes until the upload is complete. */
  private static void sendTheRest(Session session) {
    until(
        "the rest is there",
        () -> {
          String range = stored(first, session);
          int next = range.isEmpty() ? BYTES.length : Integer.parseInt(range.substring(8)) + 1;
          return send(second, session, Math.min(next, BYTES.length - 1), BYTES.length).status()
              == 200;
        });
  }

  @Test
  void eachRequestOfAnUploadMayComeToAnotherProcess() {
    Session session = begin();
    List<Integer> ends = new ArrayList<>(List.of(0, 300_000, 900_001, PART + 5, PART + 6));
    ends.add(BYTES.length);
    for (int i = 1; i < ends.size(); i++) {
      RunningBourse to = i % 2 == 0 ? first : second;
      RunningBourse other = i % 2 == 0 ? second : first;
      int end = ends.get(i);
      int status = send(to, session, ends.get(i - 1), end).status();
      assertEquals(end == BYTES.length ? 200 : 308, status);
      if (status == 308) {
        assertEquals("bytes=0-" + (end - 1), stored(other, session));
      }
    }
    isPublished(session);
  }

  @Test
  void whoeverAsksHowFarAnUploadIsTakesNothingOver() throws Exception {
    Session session = begin();
    assertEquals(308, send(first, session, 0, 300_000).status());
    assertEquals("bytes=0-299999", stored(second, session));
    try (Connection rows = SharedPostgres.server().connect(database);
        PreparedStatement epoch =
            rows.prepareStatement("SELECT epoch FROM blob_upload WHERE upload LIKE ?")) {
      epoch.setString(1, session.id + "%");
      try (ResultSet found = epoch.executeQuery()) {
        assertTrue(found.next());
        assertEquals(1, found.getInt(1));
      }
    }
    assertEquals(308, send(first, session, 300_000, 600_000).status());
    sendTheRest(session);
    isPublished(session);
  }

  @Test
  void commitsAtBothAtOnceComeToAnEnd() {
    Session session = begin();
    assertEquals(308, send(first, session, 0, PART + 5).status());
    assertEquals(200, send(second, session, PART + 5, BYTES.length).status());
    // Neither has received all the bytes, so each reads some back.
    Set<Integer> answers =
        atBoth(
            process ->
                process
                    .asMember("acme", "alice")
                    .post(
                        item(session.id) + "/commit", new JsonObject().put("bytes", BYTES.length)));
    assertTrue(Set.of(200, 409, 503).containsAll(answers), () -> "answers are " + answers);
    isPublished(session);
  }

  @Test
  void aCommitIsToldToAskAgainWhileAnotherProcessIsAtTheEndOfTheUpload() throws Exception {
    Session session = begin();
    assertEquals(200, send(first, session, 0, BYTES.length).status());
    // Nearly as far ahead as is believed, so that it has not passed when it is asked about.
    tellOfAnEnd(session, System.currentTimeMillis() + 18_000);
    HttpAnswer answer =
        second
            .asMember("acme", "alice")
            .post(item(session.id) + "/commit", new JsonObject().put("bytes", BYTES.length));
    assertEquals(
        "these bytes are being stored or inspected for another request; ask again",
        answer.refused(ErrorCode.OVERLOADED).getString("detail"));
    assertEquals("1", answer.header("retry-after"));
    assertEquals("", stored(second, session), "all of it is there");
    tellOfAnEnd(session, 0);
    isPublished(session);
  }

  private static void tellOfAnEnd(Session session, long untilMillis) throws Exception {
    try (Connection rows = SharedPostgres.server().connect(database);
        PreparedStatement update =
            rows.prepareStatement(
                "UPDATE blob_upload SET finishing_until = ? WHERE upload LIKE ?")) {
      update.setLong(1, untilMillis);
      update.setString(2, session.id + "%");
      assertEquals(1, update.executeUpdate());
    }
  }

  @Test
  void theFilesOfASetAndItsCommitComeToWhicheverProcess() {
    byte[] small = bytes(900_000, freshName().hashCode());
    Map<String, byte[]> files = SetsFixture.folder("0.bin", BYTES, "1.bin", small);
    SetsFixture.Announced set =
        SetsFixture.announce(alice, SetsFixture.publication(freshName(), files, "org"));
    assertEquals(List.of(0, 1), set.missing());
    Session session = new Session(set.id(), set.path(0));
    assertEquals(308, send(first, session, 0, PART + 5).status());
    assertEquals("bytes=0-" + (PART + 4), stored(second, session));
    assertEquals(308, send(second, session, PART + 5, PART + 700_000).status());
    atBoth(process -> send(process, session, PART + 700_000, BYTES.length));
    sendTheRest(session);
    atBoth(process -> process.with(null).sendBytes("PUT", set.path(1), small));
    until(
        "the small file is there",
        () -> second.with(null).sendBytes("PUT", set.path(1), small).status() == 200);
    Set<Integer> commits =
        atBoth(process -> SetsFixture.commit(process.asMember("acme", "alice"), set));
    assertTrue(Set.of(200, 409, 503).containsAll(commits), () -> "answers are " + commits);
    until(
        "it is committed",
        () ->
            SetsFixture.commit(alice, set).status() == 200
                || alice.get(item(set.id())).ok().getString("status").equals("ready"));
    for (RunningBourse process : List.of(first, second)) {
      ApiClient reader = process.as("acme", "orgwide");
      files.forEach(
          (path, bytes) ->
              assertArrayEquals(
                  bytes, reader.fetch("GET", item(set.id()) + "/files/" + sha256(bytes)).body()));
    }
  }
}
