package dev.bourse.admin;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.review;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reviews, documents and files from an operator's command line. */
@ReplayedOnPostgres
class AdminFilesCommandTest {
  private static final byte[] BYTES = bytes(70_000, 1);

  private static RunningBourse bourse;
  private static ApiClient carol;

  @TempDir private Path folder = Path.of("");

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    carol = bourse.asMember("openlab", "carol");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static AdminRun admin(String... arguments) {
    return AdminRun.on(bourse, arguments);
  }

  private static String underReview() {
    String id = publish(carol, freshName(), BYTES, "public").getString("id");
    return review(bourse, id).getString("review_id");
  }

  @Test
  void aFileIsReviewedFromTheCommandLine() {
    String reviewId = underReview();
    assertTrue(admin("review", "list", "--all").out().contains(reviewId));
    JsonObject shown = admin("review", "show", reviewId, "-o", "json").json();
    String id = shown.getJsonObject("checkpoint").getString("id");
    assertEquals(0, admin("review", "approve", reviewId, "--yes").exitCode());
    bourse.with(null).get(FEED + '/' + id).ok();
    AdminRun again = admin("review", "approve", reviewId, "--yes");
    assertEquals(1, again.exitCode());
    assertTrue(again.err().startsWith("conflict: "), again.err());
  }

  @Test
  void aRejectionNeedsItsReason() {
    String reviewId = underReview();
    AdminRun silent = admin("review", "reject", reviewId);
    assertEquals(2, silent.exitCode());
    assertTrue(silent.err().contains("--reason"), silent.err());
    JsonObject rejected =
        admin("review", "reject", reviewId, "--reason", "too odd", "-o", "json").json();
    assertEquals("too odd", rejected.getString("rejection_reason"));
  }

  @Test
  void openReviewsAreFollowedToTheirEnd() {
    underReview();
    underReview();
    underReview();
    int whole = admin("review", "list", "-o", "json").json().getJsonArray("reviews").size();
    AdminRun paged = admin("review", "list", "--limit", "1", "--all", "-o", "json");
    assertEquals(whole, paged.json().getJsonArray("reviews").size());
  }

  @Test
  void theBytesUnderReviewAreKeptInANewFile() throws IOException {
    Path file = folder.resolve("seen");
    String reviewId = underReview();
    AdminRun done = admin("review", "download", reviewId, "--file", file.toString());
    assertEquals(0, done.exitCode(), done.err());
    assertArrayEquals(BYTES, Files.readAllBytes(file));
    AdminRun taken = admin("review", "download", reviewId, "--file", file.toString());
    assertEquals(2, taken.exitCode());
    assertTrue(taken.err().contains("already"), taken.err());
    Path other = folder.resolve("none");
    AdminRun unknown = admin("review", "download", "rev_none", "--file", other.toString());
    assertEquals(1, unknown.exitCode());
    assertTrue(unknown.err().startsWith("not-found: "), unknown.err());
    assertFalse(Files.exists(other));
  }

  @Test
  void aDocumentIsAnnouncedAndSentFromAFile() throws IOException {
    byte[] text = "# How files are reviewed\n".getBytes(StandardCharsets.US_ASCII);
    Path file = Files.write(folder.resolve("review.md"), text);
    JsonObject announced =
        admin(
                "documents",
                "publish",
                "--title",
                "How files are reviewed",
                "--filename",
                freshName(),
                "--content-type",
                "text/markdown",
                "--bytes",
                String.valueOf(text.length),
                "-o",
                "json")
            .json();
    String id = announced.getString("id");
    AdminRun mistyped = admin("documents", "send", id, "--file", file.toString());
    assertEquals(1, mistyped.exitCode());
    assertTrue(mistyped.err().startsWith("unsupported-media-type: "), mistyped.err());
    AdminRun sent =
        admin(
            "documents", "send", id, "--file", file.toString(), "--content-type", "text/markdown");
    assertEquals(0, sent.exitCode(), sent.err());
    assertArrayEquals(text, bourse.with(null).fetch("GET", FEED + '/' + id + "/content").body());
    assertTrue(admin("documents", "list").out().contains(id));
    assertEquals(0, admin("documents", "delete", id, "--yes").exitCode());
    bourse.with(null).get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aFileThatIsNotThereIsToldBeforeAnythingIsSent() {
    AdminRun missing =
        admin("documents", "send", "ckp_1", "--file", folder.resolve("missing").toString());
    assertEquals(2, missing.exitCode());
    assertTrue(missing.err().startsWith("--file: cannot read "), missing.err());
  }

  @Test
  void anOrganizationsFilesAreListedAndRemoved() {
    String id = publish(carol, freshName(), BYTES, "org").getString("id");
    assertTrue(admin("checkpoints", "list", "openlab").out().contains(id));
    assertEquals(0, admin("checkpoints", "delete", id, "--yes").exitCode());
    assertEquals(1, admin("checkpoints", "show", id).exitCode());
  }
}
