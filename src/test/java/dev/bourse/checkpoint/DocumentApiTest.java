package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The platform's own documents. */
@ReplayedOnPostgres
class DocumentApiTest {
  private static final String DOCUMENTS = "/api/operator/documents";
  private static final byte[] BYTES = bytes(7_000, 1);
  private static final byte[] OTHERS = bytes(5_000, 2);

  private static RunningBourse bourse;
  private static ApiClient operator;
  private static ApiClient anybody;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("checkpoints.platform-bytes=1MiB");
    operator = bourse.operator();
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject facts(String name, byte[] bytes) {
    JsonObject facts = publication(name, bytes, "public");
    facts.remove("visibility");
    return facts;
  }

  private static JsonObject announce(ApiClient caller, JsonObject facts) {
    HttpAnswer answer = caller.post(DOCUMENTS, facts);
    assertEquals(201, answer.status(), String.valueOf(answer.body()));
    return answer.json();
  }

  private static HttpAnswer send(ApiClient caller, String id, byte[] bytes) {
    return caller.sendBytes(
        "PUT", DOCUMENTS + '/' + id + "/content", bytes, "Content-Type", FilesFixture.TYPE);
  }

  private static JsonObject document(ApiClient caller, String name, byte[] bytes) {
    return send(caller, announce(caller, facts(name, bytes)).getString("id"), bytes).ok();
  }

  @Test
  void aDocumentIsOnTheFeedOnceItsBytesAreThere() {
    String name = freshName();
    JsonObject announced = announce(operator, facts(name, BYTES));
    String id = announced.getString("id");
    assertEquals("none", announced.getString("review"));
    assertEquals(DOCUMENTS + '/' + id + "/content", path(announced.getString("content_url")));
    anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    JsonObject landed = send(operator, id, BYTES).ok();
    assertTrue(landed.getBoolean("on_feed"));
    assertNull(landed.getString("org_id"));
    JsonObject item = anybody.get(FEED + '/' + id).ok();
    assertEquals(new JsonObject().put("name", "Bourse"), item.getJsonObject("publisher"));
    assertEquals("ready", item.getString("status"));
    assertArrayEquals(BYTES, anybody.fetch("GET", FEED + '/' + id + "/content").body());
  }

  @Test
  void documentsAndMembersFilesAreOneFeedNewestFirstAndSearched() {
    String mark = "mix" + System.nanoTime();
    String first = document(operator, mark + "a", BYTES).getString("id");
    ApiClient carol = bourse.asMember("openlab", "carol");
    String second = publish(carol, mark + "b", BYTES, "public").getString("id");
    RunningBourse.until("the next millisecond", new After(System.currentTimeMillis())::isPast);
    approve(bourse, second).ok();
    RunningBourse.until("the next millisecond", new After(System.currentTimeMillis())::isPast);
    String third = document(operator, mark + "c", BYTES).getString("id");
    List<String> ids =
        ClusterClient.objects(anybody.get(FEED + "?q=" + mark).ok().getJsonArray("checkpoints"))
            .stream()
            .map(one -> one.getString("id"))
            .toList();
    assertEquals(List.of(third, second, first), ids);
  }

  /** A time that the clock must pass. */
  private record After(long millis) {
    boolean isPast() {
      return System.currentTimeMillis() > millis;
    }
  }

  @Test
  void anyOperatorReplacesADocumentInPlace() {
    String name = freshName();
    String id = document(operator, name, BYTES).getString("id");
    String token =
        operator
            .post("/api/operator/operators", new JsonObject().put("name", "second"))
            .json()
            .getString("token");
    ApiClient second = bourse.with(token);
    conflict("exists", second.post(DOCUMENTS, facts(name, OTHERS).put("replace", false)));
    JsonObject announced = announce(second, facts(name, OTHERS));
    assertEquals(id, announced.getString("id"));
    assertTrue(announced.getBoolean("replaced"));
    assertArrayEquals(BYTES, anybody.fetch("GET", FEED + '/' + id + "/content").body());
    assertEquals(2, send(second, id, OTHERS).ok().getInteger("revision"));
    assertArrayEquals(OTHERS, anybody.fetch("GET", FEED + '/' + id + "/content").body());
  }

  @Test
  void aDocumentIsSentInASessionToo() {
    JsonObject announced = announce(operator, facts(freshName(), BYTES).put("upload", "resumable"));
    String id = announced.getString("id");
    String commit = DOCUMENTS + '/' + id + "/commit";
    conflict("object-missing", operator.post(commit, new JsonObject().put("bytes", BYTES.length)));
    anybody.sendBytes("PUT", path(announced.getString("session_url")), BYTES).ok();
    conflict("size-mismatch", operator.post(commit, new JsonObject().put("bytes", 1)));
    operator.post(commit, new JsonObject().put("bytes", BYTES.length)).ok();
    assertArrayEquals(BYTES, anybody.fetch("GET", FEED + '/' + id + "/content").body());
  }

  @Test
  void aCredentialIsRefusedInDocumentsToo() {
    String token = bourse.secret("acme", "bare");
    operator
        .post(DOCUMENTS, facts(freshName(), BYTES).put("title", token))
        .refused(ErrorCode.SECRET_DETECTED);
    byte[] text = ("token: " + token + "\n").getBytes(StandardCharsets.US_ASCII);
    String direct = announce(operator, facts(freshName(), text)).getString("id");
    send(operator, direct, text).refused(ErrorCode.SECRET_DETECTED);
    operator.get(DOCUMENTS + '/' + direct).refused(ErrorCode.NOT_FOUND);
    JsonObject session = announce(operator, facts(freshName(), text).put("upload", "resumable"));
    anybody
        .sendBytes("PUT", path(session.getString("session_url")), text)
        .refused(ErrorCode.SECRET_DETECTED);
    operator.get(DOCUMENTS + '/' + session.getString("id")).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void documentsHaveAStorageOfTheirOwn() {
    ApiClient alice = bourse.asMember("acme", "alice");
    long before = alice.get(FilesFixture.FAMILY).ok().getLong("used_bytes");
    String id = document(operator, freshName(), BYTES).getString("id");
    JsonObject list = operator.get(DOCUMENTS).ok();
    assertEquals(1L << 20, list.getLong("limit_bytes"));
    long used = list.getLong("used_bytes");
    JsonObject full =
        operator
            .post(DOCUMENTS, facts(freshName(), BYTES).put("bytes", (1L << 20) - used + 1))
            .refused(ErrorCode.ORG_CAP);
    assertEquals(1L << 20, full.getLong("limit_bytes"));
    operator.delete(DOCUMENTS + '/' + id).ok();
    assertEquals(
        used - BYTES.length, operator.get(DOCUMENTS).ok().getLong("used_bytes").longValue());
    assertEquals(before, alice.get(FilesFixture.FAMILY).ok().getLong("used_bytes").longValue());
  }

  @Test
  void aDeletedDocumentLeavesTheFeed() {
    String id = document(operator, freshName(), BYTES).getString("id");
    operator.delete(DOCUMENTS + '/' + id).ok();
    anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    operator.get(DOCUMENTS + '/' + id).refused(ErrorCode.NOT_FOUND);
    operator.delete(DOCUMENTS + '/' + id).refused(ErrorCode.NOT_FOUND);
    send(operator, id, BYTES).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void whatIsAMembersIsNoDocument() {
    ApiClient alice = bourse.asMember("acme", "alice");
    String id = publish(alice, freshName(), BYTES, "org").getString("id");
    operator.get(DOCUMENTS + '/' + id).refused(ErrorCode.NOT_FOUND);
    operator.delete(DOCUMENTS + '/' + id).refused(ErrorCode.NOT_FOUND);
    send(operator, id, BYTES).refused(ErrorCode.NOT_FOUND);
    operator
        .post(DOCUMENTS, facts(freshName(), BYTES).put("replace", id))
        .refused(ErrorCode.NOT_FOUND);
    alice.get(FilesFixture.item(id)).ok();
  }

  @Test
  void noMemberReadsOrRemovesADocumentAsTheirs() {
    String id = document(operator, freshName(), BYTES).getString("id");
    ApiClient alice = bourse.asMember("acme", "alice");
    alice.get(FilesFixture.item(id)).refused(ErrorCode.GONE);
    alice.delete(FilesFixture.item(id)).refused(ErrorCode.GONE);
  }

  @Test
  void documentsArePagedNewestFirst() {
    String mark = "page" + System.nanoTime();
    for (int i = 0; i < 3; i++) {
      document(operator, mark + i, OTHERS);
    }
    String list = DOCUMENTS + "?limit=2&q=" + mark;
    JsonObject page = operator.get(list).ok();
    assertTrue(page.getBoolean("more"));
    String cursor = page.getJsonArray("documents").getJsonObject(1).getString("cursor");
    JsonObject rest = operator.get(list + "&before=" + cursor).ok();
    assertFalse(rest.getBoolean("more"));
    assertEquals(1, rest.getJsonArray("documents").size());
  }

  @Test
  void writesAreInThePlatformsTrail() {
    String id = document(operator, freshName(), BYTES).getString("id");
    operator.delete(DOCUMENTS + '/' + id).ok();
    List<AuditRow> rows =
        bourse.audit("", false).stream().filter(row -> row.detail().contains("id=" + id)).toList();
    assertEquals(
        List.of("checkpoint_create", "checkpoint_publish", "checkpoint_delete"),
        rows.stream().map(AuditRow::action).toList());
    assertTrue(rows.stream().allMatch(row -> row.actor().startsWith("operator:")));
    assertTrue(operator.get("/api/operator/activity?limit=500").ok().encode().contains("id=" + id));
  }
}
