package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Operators' operations on organizations' files, and files without an owner. */
@ReplayedOnPostgres
class CheckpointAdminApiTest {
  private static final String ITEMS = "/api/operator/checkpoints/";
  private static final byte[] BYTES = bytes(7_000, 1);

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject listed(String org) {
    return operator.get("/api/operator/orgs/" + org + "/checkpoints").ok();
  }

  @Test
  void anOrganizationsFilesAreListedInEveryState() {
    ApiClient alice = bourse.asMember("acme", "alice");
    String id = publish(alice, freshName(), BYTES, "org").getString("id");
    JsonObject page = listed("acme");
    JsonObject found =
        ClusterClient.objects(page.getJsonArray("checkpoints")).stream()
            .filter(one -> one.getString("id").equals(id))
            .findFirst()
            .orElseThrow();
    assertEquals("acme", found.getString("org_id"));
    assertFalse(found.getBoolean("on_feed"));
    assertTrue(page.getLong("used_bytes") >= BYTES.length);
    assertEquals(found, operator.get(ITEMS + id).ok());
    operator.get("/api/operator/orgs/nobody/checkpoints").refused(ErrorCode.NOT_FOUND);
    operator.get(ITEMS + "ckp_none").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void anOperatorRemovesAnyFileAndTheOrganizationsTrailSaysSo() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    String id = publish(carol, freshName(), BYTES, "public").getString("id");
    approve(bourse, id).ok();
    assertTrue(operator.delete(ITEMS + id).ok().getBoolean("ok"));
    bourse.with(null).get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    carol.get(item(id)).refused(ErrorCode.GONE);
    operator.delete(ITEMS + id).refused(ErrorCode.NOT_FOUND);
    AuditRow row =
        bourse.audit("openlab", false).stream()
            .filter(one -> one.action().equals("checkpoint_delete"))
            .filter(one -> one.detail().contains("id=" + id))
            .findFirst()
            .orElseThrow();
    assertTrue(row.actor().startsWith("operator:"), row.actor());
  }

  @Test
  void whatARemovedMemberLeftBehindStaysUntilAnOperatorRemovesIt() {
    String id = publish(bourse.asMember("acme", "bob"), freshName(), BYTES, "org").getString("id");
    operator.delete("/api/operator/orgs/acme/members/bob").ok();
    ApiClient alice = bourse.asMember("acme", "alice");
    alice.get(item(id)).ok();
    alice.delete(item(id)).refused(ErrorCode.GONE);
    operator.delete(ITEMS + id).ok();
    alice.get(item(id)).refused(ErrorCode.GONE);
  }

  @Test
  void aRetiredOrganizationsFilesLeaveTheFeedAtOnceAndAreDeletedWithTheirBytes() {
    try (RunningBourse closing =
        RunningBourse.demo("checkpoints.sweep-interval=1h", "checkpoints.deletion-delay=0")) {
      ApiClient carol = closing.asMember("openlab", "carol");
      String waiting = publish(carol, freshName(), BYTES, "public").getString("id");
      String id = publish(carol, freshName(), BYTES, "public").getString("id");
      approve(closing, id).ok();
      String reviewId = FilesFixture.review(closing, waiting).getString("review_id");
      closing.operator().delete("/api/operator/orgs/openlab").ok();
      ApiClient anybody = closing.with(null);
      anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
      anybody.get(FEED + '/' + id + "/content").refused(ErrorCode.NOT_FOUND);
      assertEquals(0, anybody.get(FEED).ok().getJsonArray("checkpoints").size());
      ApiClient reviewer = closing.operator();
      assertEquals(0, reviewer.get("/api/operator/reviews").ok().getJsonArray("reviews").size());
      reviewer.get("/api/operator/reviews/" + reviewId).refused(ErrorCode.NOT_FOUND);
    }
    try (RunningBourse closing =
        RunningBourse.demo("checkpoints.sweep-interval=50ms", "checkpoints.deletion-delay=0")) {
      ApiClient carol = closing.asMember("openlab", "carol");
      String id = publish(carol, freshName(), BYTES, "org").getString("id");
      assertEquals(1, closing.files("blobs").size());
      closing.operator().delete("/api/operator/orgs/openlab").ok();
      RunningBourse.until("the bytes are deleted", () -> closing.files("blobs").isEmpty());
      closing.operator().get(ITEMS + id).refused(ErrorCode.NOT_FOUND);
      AuditRow row =
          closing.audit("openlab", false).stream()
              .filter(one -> one.action().equals("checkpoint_delete"))
              .findFirst()
              .orElseThrow();
      assertEquals("system:offboard", row.actor());
    }
  }

  @Test
  void aChangedFileIsFoundByTheScrubAndLeavesItsListWhenItIsDeleted() {
    ApiClient alice = bourse.asMember("acme", "alice");
    String id = publish(alice, freshName(), BYTES, "org").getString("id");
    assertEquals(List.of(), faultsOf(id));
    changeBytes(id);
    assertEquals(
        1, operator.post(ITEMS + id + "/check", new JsonObject()).ok().getInteger("blobs"));
    RunningBourse.until("the fault is listed", () -> faultsOf(id).size() == 1);
    JsonObject fault = faultsOf(id).get(0);
    assertEquals("digest", fault.getString("fault"));
    assertEquals("acme", fault.getString("org_id"));
    alice.delete(item(id)).ok();
    assertEquals(List.of(), faultsOf(id));
    operator.post(ITEMS + "ckp_none/check", new JsonObject()).refused(ErrorCode.NOT_FOUND);
    assertEquals(0.03, operator.get("/api/operator/scrub").ok().getDouble("share_per_day"));
  }

  @Test
  void aDamagedFileThatTwoSetsShareIsListedUntilBothAreDeletedAndSentAnewForAThird()
      throws IOException {
    ApiClient alice = bourse.asMember("acme", "alice");
    Map<String, byte[]> files = SetsFixture.folder("a.bin", bytes(5_000, 77));
    String first = SetsFixture.publish(alice, freshName(), files, "org").getString("id");
    JsonObject again = SetsFixture.publication(freshName(), files, "org");
    SetsFixture.Announced second = SetsFixture.announce(alice, again);
    assertEquals(List.of(), second.missing(), "it is shared");
    SetsFixture.commit(alice, second).ok();
    Path shared = bourse.blob(BlobName.fileKey(first, 1, 0, sha256(bytes(5_000, 77))));
    Files.write(shared, bytes(5_000, 78));
    operator.post(ITEMS + first + "/check", new JsonObject()).ok();
    RunningBourse.until(
        "the fault is listed, as one's of them",
        () -> faultsOf(first).size() + faultsOf(second.id()).size() == 1);
    boolean isOfFirst = faultsOf(second.id()).isEmpty();
    alice.delete(item(isOfFirst ? first : second.id())).ok();
    String left = isOfFirst ? second.id() : first;
    assertEquals("digest", faultsOf(left).get(0).getString("fault"));
    JsonObject third = SetsFixture.publication(freshName(), files, "org");
    assertEquals(List.of(0), SetsFixture.announce(alice, third).missing());
    alice.delete(item(left)).ok();
    assertEquals(List.of(), faultsOf(left));
  }

  private static List<JsonObject> faultsOf(String id) {
    return ClusterClient.objects(
            operator.get("/api/operator/scrub?limit=500").ok().getJsonArray("faults"))
        .stream()
        .filter(fault -> fault.getString("id").equals(id))
        .toList();
  }

  private static void changeBytes(String id) {
    try {
      Files.write(bourse.blob(id), bytes(BYTES.length, 2));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void switchedOffOperatorsFindNoneEither() {
    try (RunningBourse off = RunningBourse.demo("checkpoints.enabled=false")) {
      for (String path :
          List.of(
              "/api/operator/documents",
              "/api/operator/orgs/acme/checkpoints",
              ITEMS + "ckp_1",
              "/api/operator/reviews/rev_1/content")) {
        off.operator().get(path).refused(ErrorCode.NOT_FOUND);
      }
      for (String path :
          List.of("", "/ckp_1", "/ckp_1/content", "/ckp_1/files/" + "a".repeat(64))) {
        String feed = "/api/checkpoints/public" + path;
        assertEquals(204, off.with(null).fetch("OPTIONS", feed).statusCode(), feed);
        off.with(null).get(feed).refused(ErrorCode.NOT_FOUND);
      }
    }
  }
}
