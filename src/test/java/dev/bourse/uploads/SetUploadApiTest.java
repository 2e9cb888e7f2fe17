package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.SetsFixture.announce;
import static dev.bourse.testing.SetsFixture.commit;
import static dev.bourse.testing.SetsFixture.publication;
import static dev.bourse.testing.SetsFixture.publish;
import static dev.bourse.testing.SetsFixture.send;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Uploads of sets' files, and the commit of a set. */
@ReplayedOnPostgres
class SetUploadApiTest extends SetApiFixture {
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
    assertTrue(
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("checkpoint_refuse"))
            .anyMatch(
                row ->
                    row.detail().contains(set.id())
                        && row.detail().contains("file=a/notes.txt rule=")));
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
      int status = committed.get(60, TimeUnit.SECONDS).status();
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
  void aSetMayHoldEmptyFiles() {
    Map<String, byte[]> files = fresh();
    files.put("src/__init__.py", new byte[0]);
    JsonObject published = publish(alice, freshName(), files, "org");
    assertEquals(3, published.getInteger("files"));
    HttpResponse<byte[]> served = alice.fetch("GET", file(published.getString("id"), new byte[0]));
    assertEquals(200, served.statusCode());
    assertEquals(0, served.body().length);
  }
}
