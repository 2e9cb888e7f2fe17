package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.SetsFixture.announce;
import static dev.bourse.testing.SetsFixture.commit;
import static dev.bourse.testing.SetsFixture.folder;
import static dev.bourse.testing.SetsFixture.publication;
import static dev.bourse.testing.SetsFixture.publish;
import static dev.bourse.testing.SetsFixture.send;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Files that an organization already has, which are not sent again. */
@ReplayedOnPostgres
class SetLinksApiTest extends SetApiFixture {
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
  void storageCountsAFileForEachSetThatHoldsIt() {
    long before = alice.get(FAMILY).ok().getLong("used_bytes");
    Map<String, byte[]> files = fresh();
    String first = publish(alice, freshName(), files, "org").getString("id");
    String second = publish(alice, freshName(), files, "org").getString("id");
    long bytes = alice.get(item(first)).ok().getLong("total_bytes");
    assertEquals(before + 2 * bytes, alice.get(FAMILY).ok().getLong("used_bytes"));
    alice.delete(item(first)).ok();
    assertEquals(before + bytes, alice.get(FAMILY).ok().getLong("used_bytes"));
    files.forEach((path, held) -> assertArrayEquals(held, read(second, held)));
  }

  /** Takes seconds: two links race a deletion eight times. */
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
      deleted.get(60, TimeUnit.SECONDS);
      for (CompletableFuture<SetsFixture.Announced> one : linking) {
        SetsFixture.Announced set = one.get(60, TimeUnit.SECONDS);
        send(anybody, set, files);
        String id = commit(alice, set).ok().getString("id");
        files.forEach((path, bytes) -> assertArrayEquals(bytes, read(id, bytes)));
      }
    }
  }
}
