package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.review;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.SetsFixture.announce;
import static dev.bourse.testing.SetsFixture.commit;
import static dev.bourse.testing.SetsFixture.folder;
import static dev.bourse.testing.SetsFixture.publication;
import static dev.bourse.testing.SetsFixture.publish;
import static dev.bourse.testing.SetsFixture.send;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Folders that are published as one item. */
@EachEngine
class SetApiTest {
  private static RunningBourse bourse;
  private static ApiClient alice;
  private static ApiClient carol;
  private static ApiClient anybody;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
    carol = bourse.asMember("openlab", "carol");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** A folder of two files that no other test has. */
  private static byte[] bytesOf(Map<String, byte[]> files, String path) {
    return Objects.requireNonNull(files.get(path), path);
  }

  private static Map<String, byte[]> fresh() {
    byte[] seed = freshName().getBytes(StandardCharsets.UTF_8);
    return folder("config.json", seed, "shards/1.bin", bytes(90_000, Arrays.hashCode(seed)));
  }

  private static String file(String id, byte[] bytes) {
    return item(id) + "/files/" + sha256(bytes);
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  @Test
  void aSetIsOneItemWhoseContentIsItsManifest() {
    Map<String, byte[]> files = fresh();
    String name = freshName();
    JsonObject published = publish(alice, name, files, "org");
    assertEquals("ready", published.getString("status"));
    assertEquals(name, published.getString("filename"));
    assertEquals(2, published.getInteger("files"));
    assertEquals(
        files.values().stream().mapToLong(bytes -> bytes.length).sum(), published.getLong("bytes"));
    assertEquals("application/vnd.bourse.set+json", published.getString("content_type"));
    HttpResponse<byte[]> manifest = alice.fetch("GET", content(published.getString("id")));
    assertEquals("application/vnd.bourse.set+json", header(manifest, "content-type"));
    assertEquals(published.getString("sha256"), sha256(manifest.body()));
    JsonArray listed =
        new JsonObject(new String(manifest.body(), StandardCharsets.UTF_8)).getJsonArray("files");
    assertEquals(List.copyOf(files.keySet()), paths(listed));
    JsonArray found = alice.get(FAMILY + "?q=" + name).ok().getJsonArray("checkpoints");
    assertEquals(1, found.size());
    assertEquals(2, found.getJsonObject(0).getInteger("files"));
  }

  private static List<String> paths(JsonArray files) {
    return files.stream().map(file -> ((JsonObject) file).getString("path")).toList();
  }

  @Test
  void theManifestIsTheSameInWhateverOrderTheFilesAreAnnounced() {
    Map<String, byte[]> files = fresh();
    JsonObject published = publish(alice, freshName(), files, "org");
    JsonObject reversed = publication(freshName(), files, "org");
    JsonArray listed = reversed.getJsonArray("files");
    reversed.put("files", new JsonArray().add(listed.getValue(1)).add(listed.getValue(0)));
    SetsFixture.Announced set = announce(alice, reversed);
    assertEquals(List.of(), set.missing());
    assertEquals(published.getString("sha256"), commit(alice, set).ok().getString("sha256"));
  }

  @Test
  void aFileIsServedLikeTheContentOfAnItem() {
    byte[] script = ("print('hello')\n" + freshName()).getBytes(StandardCharsets.UTF_8);
    String id = publish(alice, freshName(), folder("src/run.py", script), "org").getString("id");
    String path = file(id, script);
    HttpResponse<byte[]> whole = alice.fetch("GET", path);
    assertEquals(200, whole.statusCode());
    assertArrayEquals(script, whole.body());
    assertEquals('"' + sha256(script) + '"', header(whole, "etag"));
    assertEquals("application/octet-stream", header(whole, "content-type"));
    assertEquals("attachment; filename=\"run.py\"", header(whole, "content-disposition"));
    assertEquals("nosniff", header(whole, "x-content-type-options"));
    assertEquals(
        304, alice.fetch("GET", path, "If-None-Match", header(whole, "etag")).statusCode());
    HttpResponse<byte[]> part =
        alice.fetch("GET", path, "Range", "bytes=2-5", "If-Range", header(whole, "etag"));
    assertEquals(206, part.statusCode());
    assertArrayEquals(Arrays.copyOfRange(script, 2, 6), part.body());
    assertEquals(
        200, alice.fetch("GET", path, "Range", "bytes=2-5", "If-Range", "\"x\"").statusCode());
    assertEquals(416, alice.fetch("GET", path, "Range", "bytes=9999-").statusCode());
    assertEquals(0, alice.fetch("HEAD", path).body().length);
  }

  @Test
  void onlyTheOrganizationReadsAFileOfItsSet() {
    Map<String, byte[]> files = fresh();
    String id = publish(alice, freshName(), files, "org").getString("id");
    String path = file(id, bytesOf(files, "config.json"));
    carol.get(path).refused(ErrorCode.GONE);
    anybody.get(path).refused(ErrorCode.UNAUTHORIZED);
    anybody
        .get(FEED + '/' + id + "/files/" + sha256(bytesOf(files, "config.json")))
        .refused(ErrorCode.NOT_FOUND);
    alice.get(item(id) + "/files/" + "0".repeat(64)).refused(ErrorCode.NOT_FOUND);
    String single =
        FilesFixture.publish(alice, freshName(), bytesOf(files, "config.json"), "org")
            .getString("id");
    alice.get(file(single, bytesOf(files, "config.json"))).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void whatTheOrganizationHasIsNotSentAgain() {
    Map<String, byte[]> files = fresh();
    publish(alice, freshName(), files, "org");
    Map<String, byte[]> changed = new TreeMap<>(files);
    changed.put("config.json", bytes(77, 3));
    String name = freshName();
    SetsFixture.Announced set = announce(alice, publication(name, changed, "org"));
    assertEquals(List.of(0), set.missing());
    send(anybody, set, changed);
    String id = commit(alice, set).ok().getString("id");
    changed.forEach((path, bytes) -> assertArrayEquals(bytes, read(id, bytes)));
    SetsFixture.Announced others = announce(carol, publication(name, files, "org"));
    assertEquals(List.of(0, 1), others.missing(), "another organization has none of them");
  }

  private static byte[] read(String id, byte[] bytes) {
    return alice.fetch("GET", file(id, bytes)).body();
  }

  @Test
  void whatWasSentForAnAnnouncementThatIsGivenUpIsNotSentAgain() {
    Map<String, byte[]> files = fresh();
    JsonObject publication = publication(freshName(), files, "org");
    SetsFixture.Announced first = announce(alice, publication);
    anybody.sendBytes("PUT", first.path(1), bytesOf(files, "shards/1.bin")).ok();
    SetsFixture.Announced second = announce(alice, publication);
    assertEquals(List.of(0), second.missing());
    anybody.sendBytes("PUT", first.path(0), bytesOf(files, "config.json")).refused(ErrorCode.GONE);
    send(anybody, second, files);
    commit(alice, second).ok();
  }

  @Test
  void equalFilesOfASetAreSentOnce() {
    byte[] same = bytes(5_000, freshName().hashCode());
    Map<String, byte[]> files = folder("a.bin", same, "b/a.bin", same);
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    assertEquals(List.of(0), set.missing());
    send(anybody, set, files);
    assertEquals(2, commit(alice, set).ok().getInteger("files"));
  }

  @Test
  void aFileWhoseNameHasRulesOfItsOwnIsSentUnderThatName() {
    byte[] settings = ("retries=3\n" + freshName()).getBytes(StandardCharsets.UTF_8);
    publish(alice, freshName(), folder("notes.txt", settings), "org");
    Map<String, byte[]> files = folder("notes.txt", settings, "prod-env.txt", settings);
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    assertEquals(List.of(1), set.missing(), "it is searched under the name that it has here");
    conflict("object-missing", commit(alice, set));
    send(anybody, set, files);
    commit(alice, set).ok();
  }

  @Test
  void aFileIsSentInPiecesAndGoesOnWhereItWas() {
    Map<String, byte[]> files = fresh();
    byte[] shard = bytesOf(files, "shards/1.bin");
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    HttpAnswer part =
        anybody.sendBytes(
            "PUT",
            set.path(1),
            Arrays.copyOfRange(shard, 0, 40_000),
            "Content-Range",
            "bytes 0-39999/" + shard.length);
    assertEquals(308, part.status());
    assertEquals("bytes=0-39999", part.header("range"));
    HttpAnswer asked =
        anybody.sendBytes("PUT", set.path(1), new byte[0], "Content-Range", "bytes */*");
    assertEquals("bytes=0-39999", asked.header("range"));
    anybody
        .sendBytes(
            "PUT",
            set.path(1),
            Arrays.copyOfRange(shard, 40_000, shard.length),
            "Content-Range",
            "bytes 40000-*/*")
        .ok();
    anybody.sendBytes("PUT", set.path(1), shard).ok();
    conflict("size-mismatch", anybody.sendBytes("PUT", set.path(0), bytes(4_000, 1)));
    anybody.sendBytes("PUT", set.path(2), shard).refused(ErrorCode.NOT_FOUND);
    conflict("wrong-status", anybody.sendBytes("PUT", set.session(), shard));
  }

  @Test
  void aFileOfAnotherDigestIsRefusedAndBeginsAnew() {
    Map<String, byte[]> files = fresh();
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    byte[] shard = bytesOf(files, "shards/1.bin");
    byte[] other = shard.clone();
    other[17] ^= 1;
    conflict("sha-mismatch", anybody.sendBytes("PUT", set.path(1), other));
    HttpAnswer asked =
        anybody.sendBytes("PUT", set.path(1), new byte[0], "Content-Range", "bytes */*");
    assertEquals(308, asked.status());
    assertEquals("", asked.header("range"));
    send(anybody, set, files);
    commit(alice, set).ok();
  }

  @Test
  void aSetIsCommittedOnceAllItsFilesAreThere() {
    Map<String, byte[]> files = fresh();
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    assertEquals("pending", alice.get(item(set.id())).ok().getString("status"));
    anybody.sendBytes("PUT", set.path(1), bytesOf(files, "shards/1.bin")).ok();
    conflict("object-missing", commit(alice, set));
    assertEquals(
        404, alice.fetch("GET", file(set.id(), bytesOf(files, "shards/1.bin"))).statusCode());
    send(anybody, set, files);
    JsonObject other = new JsonObject().put("bytes", set.bytes()).put("sha256", "0".repeat(64));
    conflict("sha-mismatch", alice.post(item(set.id()) + "/commit", other));
    JsonObject fewer = new JsonObject().put("bytes", set.bytes() - 1);
    conflict("size-mismatch", alice.post(item(set.id()) + "/commit", fewer));
    commit(alice, set).ok();
    conflict("not-pending", commit(alice, set));
  }

  @Test
  void aCredentialInOneFileTakesTheWholeBack() {
    Map<String, byte[]> files = fresh();
    byte[] secret =
        ("token: " + bourse.secret("acme", "bare") + '\n').getBytes(StandardCharsets.UTF_8);
    files.put("a/notes.txt", secret);
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    anybody.sendBytes("PUT", set.path(1), bytesOf(files, "config.json")).ok();
    JsonObject refused =
        anybody.sendBytes("PUT", set.path(0), secret).refused(ErrorCode.SECRET_DETECTED);
    assertTrue(refused.getString("detail").contains("a/notes.txt"), refused.encode());
    anybody.sendBytes("PUT", set.path(2), bytesOf(files, "shards/1.bin")).refused(ErrorCode.GONE);
    alice.get(item(set.id())).refused(ErrorCode.GONE);
  }

  @Test
  void readersFollowOneManifest() {
    Map<String, byte[]> files = fresh();
    String name = freshName();
    String id = publish(alice, name, files, "org").getString("id");
    Map<String, byte[]> next = new TreeMap<>(files);
    byte[] old = next.put("config.json", bytes(60, freshName().hashCode()));
    SetsFixture.Announced set = announce(alice, publication(name, next, "org"));
    send(anybody, set, next);
    assertArrayEquals(old, read(id, old), "until the commit it is the old set");
    alice.get(file(id, next.get("config.json"))).refused(ErrorCode.NOT_FOUND);
    commit(alice, set).ok();
    assertEquals(id, set.id());
    alice.get(file(id, old)).refused(ErrorCode.NOT_FOUND);
    next.forEach((path, bytes) -> assertArrayEquals(bytes, read(id, bytes)));
  }

  @Test
  void aSetAndASingleFileTakeEachOthersPlace() {
    Map<String, byte[]> files = fresh();
    String name = freshName();
    byte[] single = bytes(900, 4);
    String id = FilesFixture.publish(alice, name, single, "org").getString("id");
    JsonObject set = publish(alice, name, files, "org");
    assertEquals(id, set.getString("id"));
    assertEquals(2, set.getInteger("files"));
    JsonObject again = FilesFixture.publish(alice, name, single, "org");
    assertEquals(id, again.getString("id"));
    assertNull(again.getInteger("files"));
    assertArrayEquals(single, alice.fetch("GET", content(id)).body());
    alice.get(file(id, bytesOf(files, "config.json"))).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void storageCountsAFileForEachSetThatHoldsIt() {
    long before = alice.get(FAMILY).ok().getLong("used_bytes");
    Map<String, byte[]> files = fresh();
    String first = publish(alice, freshName(), files, "org").getString("id");
    String second = publish(alice, freshName(), files, "org").getString("id");
    long bytes = alice.get(item(first)).ok().getLong("bytes");
    assertEquals(before + 2 * bytes, alice.get(FAMILY).ok().getLong("used_bytes"));
    alice.delete(item(first)).ok();
    assertEquals(before + bytes, alice.get(FAMILY).ok().getLong("used_bytes"));
    files.forEach((path, held) -> assertArrayEquals(held, read(second, held)));
  }

  @Test
  void aFileIsNeverLostWhenItsOnlyHolderIsDeletedWhileOthersLinkIt() throws Exception {
    for (int round = 0; round < 8; round++) {
      Map<String, byte[]> files = fresh();
      String holder = publish(alice, freshName(), files, "org").getString("id");
      CompletableFuture<Void> deleted =
          CompletableFuture.runAsync(() -> alice.delete(item(holder)).ok());
      List<CompletableFuture<SetsFixture.Announced>> linking =
          Stream.of(freshName(), freshName())
              .map(name -> publication(name, files, "org"))
              .map(set -> CompletableFuture.supplyAsync(() -> announce(alice, set)))
              .toList();
      deleted.get(20, TimeUnit.SECONDS);
      for (CompletableFuture<SetsFixture.Announced> one : linking) {
        SetsFixture.Announced set = one.get(20, TimeUnit.SECONDS);
        send(anybody, set, files);
        String id = commit(alice, set).ok().getString("id");
        files.forEach((path, bytes) -> assertArrayEquals(bytes, read(id, bytes)));
      }
    }
  }

  @Test
  void aCommitAndAReplacementAtOnceLeaveOneWholeSet() throws Exception {
    String name = freshName();
    for (int round = 0; round < 8; round++) {
      Map<String, byte[]> first = fresh();
      Map<String, byte[]> second = fresh();
      SetsFixture.Announced one = announce(alice, publication(name, first, "org"));
      send(anybody, one, first);
      CompletableFuture<HttpAnswer> committed =
          CompletableFuture.supplyAsync(() -> commit(alice, one));
      SetsFixture.Announced other = announce(alice, publication(name, second, "org"));
      int status = committed.get(20, TimeUnit.SECONDS).status();
      assertTrue(status == 200 || status == 409, "status " + status);
      if (status == 200) {
        first.forEach((path, bytes) -> assertArrayEquals(bytes, read(one.id(), bytes)));
      }
      send(anybody, other, second);
      commit(alice, other).ok();
      second.forEach((path, bytes) -> assertArrayEquals(bytes, read(other.id(), bytes)));
    }
  }

  @Test
  void pathsThatLeadOutOfTheFolderOrMeetEachOtherAreRefused() {
    byte[] bytes = bytes(10, 1);
    for (String path :
        List.of(
            "/etc/passwd",
            "../a",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            ".",
            "..",
            "a\\..\\b",
            "a\u0000",
            "a\nb",
            "a\u007f",
            "x".repeat(1_025))) {
      refused(folder(path, bytes));
    }
    refused(folder("a.bin", bytes, "A.bin", bytes));
    refused(folder("a", bytes, "a/b", bytes));
    refused(folder("caf\u00e9", bytes, "cafe\u0301", bytes));
    JsonObject twice = publication(freshName(), folder("a", bytes), "org");
    twice.getJsonArray("files").add(SetsFixture.file("a", bytes));
    alice.post(FAMILY + "/sets", twice).refused(ErrorCode.BAD_REQUEST);
    JsonObject other = publication(freshName(), folder("a", bytes, "b", bytes), "org");
    other.getJsonArray("files").getJsonObject(1).put("bytes", 11);
    alice.post(FAMILY + "/sets", other).refused(ErrorCode.BAD_REQUEST);
    alice
        .post(FAMILY + "/sets", publication(freshName(), Map.of(), "org"))
        .refused(ErrorCode.BAD_REQUEST);
  }

  private static void refused(Map<String, byte[]> files) {
    HttpAnswer answer = alice.post(FAMILY + "/sets", publication(freshName(), files, "org"));
    assertEquals(422, answer.status(), () -> files.keySet() + ": " + answer.body());
    answer.refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void noSingleFilePassesForASet() {
    JsonObject single = FilesFixture.publication(freshName(), new byte[1], "org");
    alice
        .post(FAMILY, single.put("content_type", "Application/vnd.bourse.set+json; a=b"))
        .refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void fourThousandFilesAreOneAnnouncement() {
    JsonArray files = new JsonArray();
    for (int i = 0; i < 4_096; i++) {
      files.add(
          new JsonObject()
              .put("path", "layers/%04d/attention/weights-of-this-shard.safetensors".formatted(i))
              .put("bytes", 1)
              .put("sha256", "%064x".formatted(i + 1)));
    }
    JsonObject publication = publication(freshName(), Map.of(), "org").put("files", files);
    long begun = System.nanoTime();
    SetsFixture.Announced set = announce(alice, publication);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    assertEquals(4_096, set.missing().size());
    assertTrue(millis < 10_000, millis + " ms");
    alice.delete(item(set.id())).ok();
    files.add(
        new JsonObject().put("path", "one-more").put("bytes", 1).put("sha256", "f".repeat(64)));
    alice.post(FAMILY + "/sets", publication).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void noOtherOperationTakesALongerBodyForSets() {
    JsonObject longer =
        FilesFixture.publication(freshName(), new byte[1], "org")
            .put("description", "x".repeat(1_500_000));
    alice.post(FAMILY, longer).refused(ErrorCode.TOO_LARGE);
    JsonObject set = publication(freshName(), fresh(), "org");
    alice
        .post(FAMILY + "/sets", set.put("description", "x".repeat(3_000_000)))
        .refused(ErrorCode.TOO_LARGE);
  }

  @Test
  void aPublicSetIsReviewedFileByFile() {
    Map<String, byte[]> files = fresh();
    byte[] program = "\u007fELF and more".getBytes(StandardCharsets.ISO_8859_1);
    files.put("bin/tool", program);
    files.put("model.pkl", bytes(50, freshName().hashCode()));
    JsonObject landed = publish(carol, freshName(), files, "public");
    String id = landed.getString("id");
    assertEquals("review", landed.getString("status"));
    JsonObject found = review(bourse, id);
    assertEquals(4, found.getJsonObject("checkpoint").getInteger("files"));
    List<String> findings = found.getJsonArray("findings").stream().map(String::valueOf).toList();
    assertEquals(2, findings.size(), findings.toString());
    assertTrue(findings.get(0).startsWith("bin/tool: executable"), findings.toString());
    assertTrue(findings.get(1).startsWith("model.pkl: pickle"), findings.toString());
    String path = "/api/operator/reviews/" + found.getString("review_id");
    assertFalse(found.containsKey("files"), "a list of reviews names no files");
    JsonArray listed = bourse.operator().get(path).ok().getJsonArray("files");
    assertEquals(List.copyOf(files.keySet()), paths(listed));
    files.forEach(
        (name, bytes) ->
            assertArrayEquals(
                bytes, bourse.operator().fetch("GET", path + "/files/" + sha256(bytes)).body()));
    bourse.operator().get(path + "/files/" + "0".repeat(64)).refused(ErrorCode.NOT_FOUND);
    String onFeed = FEED + '/' + id + "/files/" + sha256(program);
    anybody.get(onFeed).refused(ErrorCode.NOT_FOUND);
    approve(bourse, id).ok();
    HttpResponse<byte[]> served = anybody.fetch("GET", onFeed, "Origin", "https://a.example");
    assertArrayEquals(program, served.body());
    assertEquals("*", header(served, "access-control-allow-origin"));
    assertEquals(4, anybody.get(FEED + '/' + id).ok().getInteger("files"));
  }

  @Test
  void theFeedKeepsTheApprovedSetWhileItsSuccessorIsReviewed() {
    Map<String, byte[]> files = fresh();
    String name = freshName();
    String id = publish(carol, name, files, "public").getString("id");
    approve(bourse, id).ok();
    Map<String, byte[]> next = new TreeMap<>(files);
    byte[] old = next.put("config.json", bytes(61, freshName().hashCode()));
    publish(carol, name, next, "public");
    String feed = FEED + '/' + id + "/files/";
    assertArrayEquals(old, anybody.fetch("GET", feed + sha256(old)).body());
    anybody.get(feed + sha256(next.get("config.json"))).refused(ErrorCode.NOT_FOUND);
    approve(bourse, id).ok();
    anybody.get(feed + sha256(old)).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void theTrailHasOneRowForAPublicationWithItsFiles() {
    Map<String, byte[]> files = fresh();
    publish(alice, freshName(), files, "org");
    String name = freshName();
    Map<String, byte[]> changed = new TreeMap<>(files);
    changed.put("config.json", bytes(62, freshName().hashCode()));
    publish(alice, name, changed, "org");
    List<String> told =
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("checkpoint_publish"))
            .map(AuditRow::detail)
            .filter(detail -> detail.contains(name))
            .toList();
    assertEquals(1, told.size());
    assertTrue(told.get(0).contains("files=2 sent=1 linked=1"), told.toString());
  }
}
