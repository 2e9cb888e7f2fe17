package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
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
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Sets as their readers see them: one item, its manifest and its files. */
@ReplayedOnPostgres
class SetApiTest extends SetApiFixture {
  @Test
  void aSetIsOneItemWhoseContentIsItsManifest() {
    Map<String, byte[]> files = fresh();
    String name = freshName();
    JsonObject published = publish(alice, name, files, "org");
    assertEquals("ready", published.getString("status"));
    assertEquals(name, published.getString("filename"));
    assertEquals(2, published.getInteger("files"));
    assertEquals(
        files.values().stream().mapToLong(bytes -> bytes.length).sum(),
        published.getLong("total_bytes"));
    assertEquals("application/vnd.bourse.set+json", published.getString("content_type"));
    HttpResponse<byte[]> manifest = alice.fetch("GET", content(published.getString("id")));
    assertEquals("application/vnd.bourse.set+json", header(manifest, "content-type"));
    assertEquals(published.getString("sha256"), sha256(manifest.body()));
    assertEquals(manifest.body().length, published.getLong("bytes"));
    JsonArray listed =
        new JsonObject(new String(manifest.body(), StandardCharsets.UTF_8)).getJsonArray("files");
    assertEquals(List.copyOf(files.keySet()), paths(listed));
    JsonArray found = alice.get(FAMILY + "?q=" + name).ok().getJsonArray("checkpoints");
    assertEquals(1, found.size());
    assertEquals(2, found.getJsonObject(0).getInteger("files"));
    assertEquals(manifest.body().length, found.getJsonObject(0).getLong("bytes"));
  }

  @Test
  void theLengthOfASetIsThatOfItsManifestWhateverThePaths() {
    Map<String, byte[]> files = new TreeMap<>();
    for (String path : List.of("a \"quoted\" name", "größe/メモ/🙂.bin", "x".repeat(300), "1/2/3")) {
      files.put(path, bytes(files.isEmpty() ? 0 : 10 * files.size(), files.size()));
    }
    SetsFixture.Announced set = announce(alice, publication(freshName(), files, "org"));
    JsonObject pending = alice.get(item(set.id())).ok();
    send(anybody, set, files);
    JsonObject published = commit(alice, set).ok();
    byte[] manifest = alice.fetch("GET", content(set.id())).body();
    assertEquals(manifest.length, pending.getLong("bytes"));
    assertEquals(manifest.length, published.getLong("bytes"));
    assertEquals(sha256(manifest), published.getString("sha256"));
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
  void aRemarkAboutANameIsMadeOfTheNameThatTheFileHasInTheSet() {
    byte[] weights = bytes(51, freshName().hashCode());
    publish(carol, freshName(), folder("model.pkl", weights), "public");
    String id = publish(carol, freshName(), folder("model.bin", weights), "public").getString("id");
    assertEquals(0, review(bourse, id).getJsonArray("findings").size());
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
    List<String> details =
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("checkpoint_publish"))
            .map(AuditRow::detail)
            .filter(detail -> detail.contains(name))
            .toList();
    assertEquals(1, details.size());
    assertTrue(details.get(0).contains("files=2 sent=1 linked=1"), details.toString());
  }
}
