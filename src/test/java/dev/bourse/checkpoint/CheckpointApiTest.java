package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.put;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An organization's files. */
@EachEngine
class CheckpointApiTest {
  private static final byte[] BYTES = bytes(70_000, 1);
  private static final byte[] OTHERS = bytes(50_000, 2);

  private static RunningBourse bourse;
  private static ApiClient alice;
  private static ApiClient bob;
  private static ApiClient carol;
  private static ApiClient dave;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
    bob = bourse.asMember("acme", "bob");
    carol = bourse.asMember("openlab", "carol");
    dave = bourse.asMember("globex", "dave");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static List<String> listed(ApiClient caller, String query) {
    return ClusterClient.objects(caller.get(FAMILY + query).ok().getJsonArray("checkpoints"))
        .stream()
        .map(one -> one.getString("id"))
        .toList();
  }

  @Test
  void itsRevisionsStayListedAfterTheyWereReplaced() {
    String name = freshName();
    String id = publish(alice, name, BYTES, "org").getString("id");
    publish(alice, name, OTHERS, "org");
    announce(alice, publication(name, BYTES, "org"));
    List<JsonObject> revisions =
        ClusterClient.objects(bob.get(item(id) + "/revisions").ok().getJsonArray("revisions"));
    assertEquals(2, revisions.size(), "an announcement is none");
    JsonObject newest = revisions.get(0);
    assertEquals(2, newest.getInteger("revision"));
    assertEquals("alice", newest.getString("username"));
    assertEquals(OTHERS.length, newest.getInteger("bytes"));
    assertEquals(sha256(OTHERS), newest.getString("sha256"));
    assertEquals(sha256(BYTES), revisions.get(1).getString("sha256"));
    assertFalse(newest.containsKey("files"));
    dave.get(item(id) + "/revisions").refused(ErrorCode.GONE);
  }

  @Test
  void aFileIsAnnouncedSentAndRead() {
    String name = freshName();
    JsonObject announced = announce(alice, publication(name, BYTES, "org"));
    String id = announced.getString("id");
    assertEquals(1, announced.getInteger("revision"));
    assertEquals("pending", announced.getString("status"));
    assertEquals("direct", announced.getString("upload"));
    assertEquals("none", announced.getString("review"));
    assertFalse(announced.getBoolean("replaced"));
    assertEquals(content(id), FilesFixture.path(announced.getString("content_url")));
    assertEquals("pending", alice.get(item(id)).ok().getString("status"));
    JsonObject landed = put(alice, id, FilesFixture.TYPE, BYTES).ok();
    assertEquals("ready", landed.getString("status"));
    assertEquals(sha256(BYTES), landed.getString("sha256"));
    assertEquals(
        new JsonObject().put("org_display", "Acme").put("username", "alice"),
        landed.getJsonObject("publisher"));
    for (ApiClient reader : List.of(alice, bob, bourse.as("acme", "bare"))) {
      assertArrayEquals(BYTES, reader.fetch("GET", content(id)).body());
      assertEquals(reader == alice, reader.get(item(id)).ok().getBoolean("can_delete"));
    }
  }

  @Test
  void republishingReplacesInPlace() {
    String name = freshName();
    JsonObject first = publish(alice, name, BYTES, "org");
    String id = first.getString("id");
    JsonObject announced = announce(alice, publication(name, OTHERS, "org"));
    assertEquals(id, announced.getString("id"));
    assertEquals(2, announced.getInteger("revision"));
    assertTrue(announced.getBoolean("replaced"));
    assertEquals(first, alice.get(item(id)).ok(), "until the bytes land nothing changes");
    assertArrayEquals(BYTES, alice.fetch("GET", content(id)).body());
    JsonObject second = put(alice, id, FilesFixture.TYPE, OTHERS).ok();
    assertEquals(2, second.getInteger("revision"));
    assertEquals(first.getString("created_at"), second.getString("created_at"));
    assertArrayEquals(OTHERS, alice.fetch("GET", content(id)).body());
  }

  @Test
  void aNewItemAtATakenPlaceIsRefused() {
    String name = freshName();
    publish(alice, name, BYTES, "org");
    JsonObject again = publication(name, BYTES, "org");
    conflict("exists", alice.post(FAMILY, again.copy().put("replace", false)));
    conflict("exists", bob.post(FAMILY, again));
    conflict("exists", bob.post(FAMILY, again.copy().put("replace", true)));
  }

  @Test
  void anItemIsReplacedByItsIdUnderAnotherName() {
    String id = publish(alice, freshName(), BYTES, "org").getString("id");
    String other = freshName();
    JsonObject renaming = publication(other, OTHERS, "org").put("replace", id);
    bob.post(FAMILY, renaming).refused(ErrorCode.GONE);
    dave.post(FAMILY, renaming).refused(ErrorCode.GONE);
    JsonObject renamed = publish(alice, renaming, OTHERS);
    assertEquals(id, renamed.getString("id"));
    assertEquals(other, renamed.getString("filename"));
    alice
        .post(FAMILY, publication(freshName(), BYTES, "org").put("replace", "ckp_none"))
        .refused(ErrorCode.GONE);
  }

  @Test
  void theSameNameIsAnotherPlaceForEverybodyAndElsewhere() {
    String name = freshName();
    String org = publish(carol, name, BYTES, "org").getString("id");
    String everybody = publish(carol, name, BYTES, "public").getString("id");
    String elsewhere = publish(alice, name, BYTES, "org").getString("id");
    assertNotEquals(org, everybody);
    assertNotEquals(org, elsewhere);
  }

  @Test
  void onlyAnOpenOrganizationPublishesPublicly() {
    HttpAnswer refused = alice.post(FAMILY, publication(freshName(), BYTES, "public"));
    assertEquals("public-restricted", refused.refused(ErrorCode.FORBIDDEN).getString("reason"));
    assertFalse(alice.get(FAMILY).ok().getBoolean("public_publish"));
    assertTrue(carol.get(FAMILY).ok().getBoolean("public_publish"));
  }

  @Test
  void whatIsNotTheCallersIsGoneWhateverTheReason() {
    String name = freshName();
    String id = publish(alice, name, BYTES, "org").getString("id");
    bob.delete(item(id)).refused(ErrorCode.GONE);
    put(bob, id, FilesFixture.TYPE, BYTES).refused(ErrorCode.GONE);
    for (String path : List.of(item(id), content(id))) {
      dave.get(path).refused(ErrorCode.GONE);
    }
    dave.delete(item(id)).refused(ErrorCode.GONE);
    JsonObject deleted = alice.delete(item(id)).ok();
    assertTrue(deleted.getBoolean("ok"));
    assertEquals(id, deleted.getString("id"));
    JsonObject unknown = alice.get(item("ckp_none")).refused(ErrorCode.GONE);
    assertEquals(
        unknown.encode().replace("ckp_none", id),
        alice.get(item(id)).refused(ErrorCode.GONE).encode());
    alice.get(content(id)).refused(ErrorCode.GONE);
    alice.delete(item(id)).refused(ErrorCode.GONE);
    assertFalse(listed(alice, "?limit=100").contains(id));
    assertNotEquals(id, publish(bob, name, BYTES, "org").getString("id"), "the place is free");
  }

  @Test
  void listsArePagedNewestFirst() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(0, publish(dave, freshName(), BYTES, "org").getString("id"));
    }
    List<String> seen = new ArrayList<>();
    String before = "";
    while (before != null) {
      JsonObject page = dave.get(FAMILY + "?scope=org&limit=2" + before).ok();
      ClusterClient.objects(page.getJsonArray("checkpoints"))
          .forEach(c -> seen.add(c.getString("id")));
      String cursor = page.getString("cursor");
      assertEquals(page.getBoolean("more"), cursor != null);
      before = cursor == null ? null : "&before=" + cursor;
    }
    assertEquals(ids, seen);
    assertEquals(1, listed(dave, "?limit=-5").size());
    assertEquals(5, listed(dave, "?limit=1000").size());
  }

  @Test
  void listsAreSearchedInTitleDescriptionAndName() {
    JsonObject publication =
        publication("needle%" + freshName(), BYTES, "org")
            .put("title", "An ÜBER title")
            .put("description", "under_score and %");
    String id = publish(alice, publication, BYTES).getString("id");
    for (String q : List.of("NEEDLE%25", "%C3%BCber", "under_score", "and%20%25")) {
      assertEquals(List.of(id), listed(alice, "?q=" + q), q);
    }
    assertEquals(List.of(), listed(alice, "?q=under.score"));
    assertEquals(List.of(), listed(alice, "?q=underxscore"));
  }

  @Test
  void badPagesAndScopesAreRefused() {
    for (String query :
        List.of("scope=public", "scope=all", "limit=x", "before=x", "before=1-ckp_", "q=%FF")) {
      alice.get(FAMILY + '?' + query).refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void anIdOfAnyLengthIsGone() {
    String id = "ckp_" + "x".repeat(3_000);
    alice.get(item(id)).refused(ErrorCode.GONE);
    alice.get(content(id)).refused(ErrorCode.GONE);
    alice.delete(item(id)).refused(ErrorCode.GONE);
    alice.post(item(id) + "/commit", new JsonObject().put("bytes", 1)).refused(ErrorCode.GONE);
    alice
        .sendBytes("PUT", content(id), BYTES, "Content-Type", "application/octet-stream")
        .refused(ErrorCode.GONE);
    alice
        .post(FAMILY, publication(freshName(), BYTES, "org").put("replace", id))
        .refused(ErrorCode.GONE);
    bourse.with(null).get(FAMILY + "/public/" + id).refused(ErrorCode.NOT_FOUND);
    bourse.with(null).sendBytes("PUT", "/upload/" + id, BYTES).refused(ErrorCode.GONE);
  }

  @Test
  void badFactsAreRefused() {
    JsonObject sound = publication("x.bin", BYTES, "org");
    for (JsonObject wrong :
        List.of(
            sound.copy().put("title", ""),
            sound.copy().put("title", "x".repeat(201)),
            sound.copy().put("title", "a\nb"),
            sound.copy().put("description", "x".repeat(4_001)),
            sound.copy().put("filename", "a/b"),
            sound.copy().put("filename", "a\\b"),
            sound.copy().put("filename", ".."),
            sound.copy().put("filename", "x".repeat(256)),
            sound.copy().put("filename", "a\r\nb"),
            sound.copy().put("content_type", "text"),
            sound.copy().put("content_type", "text/plain\r\nX: y"),
            sound.copy().put("content_type", "multipart/x-mixed-replace"),
            sound.copy().put("content_type", "a/b" + ";a=b".repeat(15_000)),
            sound.copy().put("content_type", "text/plain\n"),
            sound.copy().put("title", "a\n"),
            sound.copy().put("filename", "a\n"),
            sound.copy().put("bytes", -1),
            sound.copy().put("bytes", "5"),
            sound.copy().put("sha256", "abc"),
            sound.copy().put("visibility", "all"),
            sound.copy().put("upload", "post"),
            sound.copy().put("replace", 5),
            sound.copy().put("replace", "true"),
            sound.copy().put("replace", "false"),
            sound.copy().put("surprise", 1))) {
      alice.post(FAMILY, wrong).refused(ErrorCode.BAD_REQUEST);
    }
  }

  @Test
  void filesOverTheirLimitAreRefused() {
    JsonObject big = publication(freshName(), BYTES, "org");
    alice
        .post(FAMILY, big.copy().put("bytes", (32L << 20) + 1).put("upload", "direct"))
        .refused(ErrorCode.TOO_LARGE);
    alice.post(FAMILY, big.copy().put("bytes", (50L << 30) + 1)).refused(ErrorCode.TOO_LARGE);
    assertEquals(
        "resumable", announce(alice, big.copy().put("bytes", (32L << 20) + 1)).getString("upload"));
  }

  @Test
  void wordsThatHoldACredentialAreRefused() {
    String token = bourse.secret("acme", "bare");
    JsonObject sound = publication(freshName(), BYTES, "org");
    for (JsonObject wrong :
        List.of(
            sound.copy().put("title", token),
            sound.copy().put("description", "my token is " + token),
            sound.copy().put("content_type", "text/plain; charset=" + token),
            sound.copy().put("filename", ".env"),
            sound.copy().put("filename", "id_rsa"))) {
      JsonObject refused = alice.post(FAMILY, wrong).refused(ErrorCode.SECRET_DETECTED);
      assertFalse(refused.encode().contains(token));
    }
  }

  @Test
  void writesAreRecordedWithTheMemberAsActor() {
    String id = publish(carol, freshName(), BYTES, "public").getString("id");
    approve(bourse, id).ok();
    carol.delete(item(id)).ok();
    List<AuditRow> rows =
        bourse.audit("openlab", false).stream()
            .filter(row -> row.detail().contains("id=" + id))
            .toList();
    assertEquals(
        List.of(
            "checkpoint_create", "checkpoint_publish", "checkpoint_review", "checkpoint_delete"),
        rows.stream().map(AuditRow::action).toList());
    assertEquals("member:carol", rows.get(0).actor());
    assertTrue(rows.get(2).actor().startsWith("operator:"));
  }

  @Test
  void storageIsReservedAndReturned() {
    try (RunningBourse small =
        RunningBourse.demo("checkpoints.org-bytes=100KiB", "checkpoints.item-bytes=90KiB")) {
      ApiClient member = small.asMember("acme", "alice");
      String id = publish(member, freshName(), BYTES, "org").getString("id");
      JsonObject list = member.get(FAMILY).ok();
      assertEquals(102_400, list.getLong("limit_bytes"));
      assertEquals(BYTES.length, list.getLong("used_bytes"));
      HttpAnswer full = member.post(FAMILY, publication(freshName(), OTHERS, "org"));
      assertEquals(BYTES.length, full.refused(ErrorCode.ORG_CAP).getLong("used_bytes"));
      announce(small.asMember("globex", "dave"), publication(freshName(), OTHERS, "org"));
      member.delete(item(id)).ok();
      announce(member, publication(freshName(), OTHERS, "org"));
      assertEquals(OTHERS.length, member.get(FAMILY).ok().getLong("used_bytes"));
    }
  }
}
