package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The README of a set, for pages. */
@ReplayedOnPostgres
class ReadmeApiTest {
  private static RunningBourse bourse;
  private static ApiClient alice;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String set(String name, String path, byte[] bytes) {
    JsonObject file =
        new JsonObject().put("path", path).put("bytes", bytes.length).put("sha256", sha256(bytes));
    JsonObject begun =
        alice
            .post(
                FAMILY + "/sets",
                new JsonObject()
                    .put("title", name)
                    .put("filename", name)
                    .put("visibility", "org")
                    .put("files", new JsonArray().add(file)))
            .json();
    if (!begun.getJsonArray("missing").isEmpty()) {
      bourse.with(null).sendBytes("PUT", path(begun.getString("session_url")) + "/0", bytes).ok();
    }
    String id = begun.getString("id");
    alice.post(item(id) + "/commit", new JsonObject().put("bytes", bytes.length)).ok();
    return id;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void itIsReadOfTheNewestRevision() {
    String name = freshName();
    String id = set(name, "README.md", utf8("# One"));
    JsonObject readme = alice.get(item(id) + "/readme").ok();
    assertEquals(sha256(utf8("# One")), readme.getString("sha256"));
    assertEquals("One", readme.getJsonArray("parts").getJsonObject(1).getString("text"));
    assertFalse(readme.getBoolean("truncated"));
    assertEquals(id, set(name, "readme.MD", utf8("# Two")));
    assertEquals(
        "Two",
        alice
            .get(item(id) + "/readme")
            .ok()
            .getJsonArray("parts")
            .getJsonObject(1)
            .getString("text"));
  }

  @Test
  void aSetWithoutOneAndAFileHaveNone() {
    alice
        .get(item(set(freshName(), "docs/README.md", utf8("# In a folder"))) + "/readme")
        .refused(ErrorCode.NOT_FOUND);
    String file = publish(alice, freshName(), utf8("# A file"), "org").getString("id");
    alice.get(item(file) + "/readme").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void itIsItsOrganizationsAlone() {
    String id = set(freshName(), "README.md", utf8("# Secret plan"));
    bourse.asMember("openlab", "carol").get(item(id) + "/readme").refused(ErrorCode.GONE);
    bourse.with(null).get(item(id) + "/readme").refused(ErrorCode.UNAUTHORIZED);
    bourse.as("acme", "orgwide").get(item(id) + "/readme").ok();
  }

  @Test
  void aBlankOneAndOneOfTenMegabytesAreAnswered() {
    JsonObject blank = alice.get(item(set(freshName(), "README.md", utf8("\n"))) + "/readme").ok();
    assertTrue(blank.getJsonArray("parts").isEmpty());
    byte[] much = utf8("word ".repeat(2_000_000));
    JsonObject cut = alice.get(item(set(freshName(), "README.md", much)) + "/readme").ok();
    assertTrue(cut.getBoolean("truncated"));
    assertEquals(much.length, cut.getInteger("bytes"));
    assertTrue(cut.encode().length() < 200_000);
  }
}
