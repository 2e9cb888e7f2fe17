package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.SetsFixture.announce;
import static dev.bourse.testing.SetsFixture.folder;
import static dev.bourse.testing.SetsFixture.publication;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Valid and invalid announcements of sets. */
@ReplayedOnPostgres
class SetAnnouncementApiTest extends SetApiFixture {
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
            "a\u009b",
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

  private static final int MOST_FILES = 4_096;

  private static JsonArray asManyFilesAsMayBe() {
    JsonArray files = new JsonArray();
    for (int i = 0; i < MOST_FILES; i++) {
      files.add(
          new JsonObject()
              .put("path", "layers/%04d/attention/weights-of-this-shard.safetensors".formatted(i))
              .put("bytes", 1)
              .put("sha256", "%064x".formatted(i + 1)));
    }
    return files;
  }

  @Test
  void fourThousandFilesAreOneAnnouncement() {
    JsonArray files = asManyFilesAsMayBe();
    JsonObject publication = publication(freshName(), Map.of(), "org").put("files", files);
    SetsFixture.Announced set = announce(alice, publication);
    assertEquals(MOST_FILES, set.missing().size());
    alice.delete(item(set.id())).ok();
    files.add(
        new JsonObject().put("path", "one-more").put("bytes", 1).put("sha256", "f".repeat(64)));
    alice.post(FAMILY + "/sets", publication).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void aPathThatHoldsACredentialIsRefusedHoweverManyFilesComeBeforeIt() {
    String token = bourse.secret("acme", "bare");
    for (String path : List.of("runs/" + token + "/a.bin", "runs/.env", "runs/id_rsa")) {
      JsonArray files = asManyFilesAsMayBe();
      files.getJsonObject(MOST_FILES - 1).put("path", path);
      JsonObject publication = publication(freshName(), Map.of(), "org").put("files", files);
      JsonObject refused =
          alice.post(FAMILY + "/sets", publication).refused(ErrorCode.SECRET_DETECTED);
      assertEquals(path.contains(token) ? path.indexOf(token) : 0, refused.getInteger("offset"));
      String detail = refused.getString("detail");
      assertTrue(detail.startsWith("files[4095].path looks like a credential"), detail);
    }
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
}
