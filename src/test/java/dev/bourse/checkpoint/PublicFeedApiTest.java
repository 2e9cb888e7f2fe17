package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The public feed, and the headers of untrusted files. */
@ReplayedOnPostgres
class PublicFeedApiTest {
  private static final byte[] BYTES = bytes(10_000, 1);

  private static RunningBourse bourse;
  private static ApiClient carol;
  private static ApiClient anybody;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    carol = bourse.asMember("openlab", "carol");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String onFeed(String name, String type, byte[] bytes) {
    JsonObject publication = publication(name, bytes, "public").put("content_type", type);
    String id = publish(carol, publication, bytes).getString("id");
    approve(bourse, id).ok();
    return id;
  }

  private static String onFeed() {
    return onFeed(freshName(), FilesFixture.TYPE, BYTES);
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static HttpResponse<byte[]> read(String id, String... headers) {
    return anybody.fetch("GET", FEED + '/' + id + "/content", headers);
  }

  @Test
  void theFeedListsApprovedFilesNewestFirst() {
    String first = onFeed();
    String second = onFeed();
    String waiting = publish(carol, freshName(), BYTES, "public").getString("id");
    String own = publish(carol, freshName(), BYTES, "org").getString("id");
    List<String> ids =
        ClusterClient.objects(anybody.get(FEED + "?limit=100").ok().getJsonArray("checkpoints"))
            .stream()
            .map(one -> one.getString("id"))
            .toList();
    assertTrue(ids.indexOf(second) < ids.indexOf(first));
    assertTrue(ids.contains(first));
    assertFalse(ids.contains(waiting));
    assertFalse(ids.contains(own));
    for (String hidden : List.of(waiting, own, "ckp_none")) {
      anybody.get(FEED + '/' + hidden).refused(ErrorCode.NOT_FOUND);
      anybody.get(FEED + '/' + hidden + "/content").refused(ErrorCode.NOT_FOUND);
    }
  }

  @Test
  void theFeedIsSearchedAndPaged() {
    String mark = "mark" + System.nanoTime();
    for (int i = 0; i < 3; i++) {
      onFeed(mark + i, FilesFixture.TYPE, BYTES);
    }
    JsonObject page = anybody.get(FEED + "?limit=2&q=" + mark).ok();
    assertEquals(2, page.getJsonArray("checkpoints").size());
    JsonObject rest =
        anybody.get(FEED + "?limit=2&q=" + mark + "&before=" + page.getString("cursor")).ok();
    assertEquals(1, rest.getJsonArray("checkpoints").size());
    assertFalse(rest.getBoolean("more"));
    assertEquals(mark + 0, rest.getJsonArray("checkpoints").getJsonObject(0).getString("filename"));
    anybody.get(FEED + "?before=yesterday").refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void everybodySeesNoMoreThanTheFacts() {
    JsonObject item = anybody.get(FEED + '/' + onFeed()).ok();
    assertFalse(item.containsKey("can_delete"));
    assertEquals(
        new JsonObject().put("org_display", "OpenLab").put("username", "carol").fieldNames(),
        item.getJsonObject("publisher").fieldNames());
    String path = FEED + '/' + item.getString("id") + "/content";
    assertEquals(path, item.getJsonObject("urls").getString("content"));
    assertEquals(path + "?download=1", item.getJsonObject("urls").getString("download"));
  }

  @Test
  void bytesAreServedAsTheyAreStored() {
    HttpResponse<byte[]> answer = read(onFeed("näme 1.bin", FilesFixture.TYPE, BYTES));
    assertEquals(200, answer.statusCode());
    assertArrayEquals(BYTES, answer.body());
    assertEquals(FilesFixture.TYPE, header(answer, "content-type"));
    assertEquals("bytes", header(answer, "accept-ranges"));
    assertEquals("nosniff", header(answer, "x-content-type-options"));
    assertEquals("no-store", header(answer, "cache-control"));
    assertEquals('"' + sha256(BYTES) + '"', header(answer, "etag"));
    assertEquals(
        "inline; filename=\"n_me 1.bin\"; filename*=UTF-8''n%C3%A4me%201.bin",
        header(answer, "content-disposition"));
  }

  @Test
  void rangesAreServed() {
    String id = onFeed();
    record Case(String range, int from, int until) {}
    for (Case one :
        List.of(
            new Case("bytes=0-99", 0, 100),
            new Case("bytes=5000-5000", 5_000, 5_001),
            new Case("bytes=9990-", 9_990, 10_000),
            new Case("bytes=-10", 9_990, 10_000),
            new Case("bytes=9990-20000", 9_990, 10_000))) {
      HttpResponse<byte[]> answer = read(id, "Range", one.range);
      assertEquals(206, answer.statusCode(), one.range);
      assertArrayEquals(Arrays.copyOfRange(BYTES, one.from, one.until), answer.body(), one.range);
      assertEquals(
          "bytes " + one.from + "-" + (one.until - 1) + "/10000", header(answer, "content-range"));
    }
    HttpResponse<byte[]> beyond = read(id, "Range", "bytes=10000-");
    assertEquals(416, beyond.statusCode());
    assertEquals("bytes */10000", header(beyond, "content-range"));
    for (String odd : List.of("bytes=5-4", "lines=1-2", "bytes=0-1,5-6")) {
      HttpResponse<byte[]> whole = read(id, "Range", odd);
      assertEquals(200, whole.statusCode(), odd);
      assertArrayEquals(BYTES, whole.body());
    }
  }

  @Test
  void validatorsAreHonoured() {
    String id = onFeed();
    String etag = '"' + sha256(BYTES) + '"';
    assertEquals(304, read(id, "If-None-Match", etag).statusCode());
    assertEquals(206, read(id, "Range", "bytes=0-9", "If-Range", etag).statusCode());
    assertEquals(200, read(id, "Range", "bytes=0-9", "If-Range", "\"other\"").statusCode());
    HttpResponse<byte[]> head = anybody.fetch("HEAD", FEED + '/' + id + "/content");
    assertEquals(200, head.statusCode());
    assertEquals("10000", header(head, "content-length"));
    assertEquals(etag, header(head, "etag"));
  }

  @Test
  void everyFileIsInASandboxWhereverItIsServed() {
    byte[] page = "<html><script>alert(1)</script></html>".getBytes(StandardCharsets.US_ASCII);
    for (String type : List.of("text/html; charset=utf-8", "image/svg+xml", "application/xml")) {
      String id = onFeed(freshName(), type, page);
      for (HttpResponse<byte[]> answer : List.of(read(id), carol.fetch("GET", content(id)))) {
        assertTrue(header(answer, "content-security-policy").startsWith("sandbox;"), type);
        assertEquals(type, header(answer, "content-type"));
        assertEquals("nosniff", header(answer, "x-content-type-options"));
      }
    }
    assertTrue(header(read(onFeed()), "content-security-policy").startsWith("sandbox;"));
  }

  @Test
  void downloadsAndScriptsAreAttachments() {
    String plain = onFeed(freshName(), "text/plain", BYTES);
    String script = onFeed(freshName(), "text/javascript", BYTES);
    assertTrue(header(read(plain), "content-disposition").startsWith("inline;"));
    assertTrue(
        header(
                anybody.fetch("GET", FEED + '/' + plain + "/content?download=1"),
                "content-disposition")
            .startsWith("attachment;"));
    assertTrue(header(read(script), "content-disposition").startsWith("attachment;"));
    anybody.get(FEED + '/' + plain + "/content?download=yes").refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void pagesOfAnyOriginReadTheFeedAndTheFeedAlone() {
    String id = onFeed();
    for (String path : List.of(FEED, FEED + '/' + id, FEED + '/' + id + "/content")) {
      String[] origin = {"Origin", "https://elsewhere.example"};
      assertEquals(
          "*", header(anybody.fetch("GET", path, origin), "access-control-allow-origin"), path);
      HttpResponse<byte[]> preflight = anybody.fetch("OPTIONS", path, origin);
      assertEquals(204, preflight.statusCode());
      assertEquals("*", header(preflight, "access-control-allow-origin"));
      assertTrue(header(preflight, "access-control-allow-headers").contains("Range"));
    }
    for (String missing : List.of(FEED + "/ckp_none", FEED + "/ckp_none/content")) {
      HttpResponse<byte[]> refused = anybody.fetch("GET", missing);
      assertEquals(404, refused.statusCode());
      assertEquals("*", header(refused, "access-control-allow-origin"));
    }
    assertEquals("", header(carol.fetch("GET", content(id)), "access-control-allow-origin"));
    assertEquals(405, carol.fetch("OPTIONS", FilesFixture.FAMILY).statusCode());
  }

  @Test
  void aDeletedFileLeavesTheFeed() {
    String id = onFeed();
    carol.delete(FilesFixture.item(id)).ok();
    anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
    anybody.get(FEED + '/' + id + "/content").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void whateverAClientAcceptsItGetsTheStoredType() {
    HttpResponse<byte[]> answer = read(onFeed(), "Accept", "image/png");
    assertEquals(200, answer.statusCode());
    assertEquals(FilesFixture.TYPE, header(answer, "content-type"));
  }

  @Test
  void pagesOfAnyOriginReadWhatTheEdgeItselfRefusesOfTheFeed() {
    try (RunningBourse busy = RunningBourse.demo("limits.edge-per-minute=20")) {
      ApiClient stranger = busy.with(null);
      String origin = "https://elsewhere.example";
      for (String[] refused :
          new String[][] {
            {"GET", FEED + "?surprise=1", "422"},
            {"GET", FEED + "/ckp_1?surprise=1", "422"},
            {"PURGE", FEED, "405"},
            {"POST", FEED + "/ckp_1/content", "405"},
          }) {
        HttpResponse<byte[]> answer = stranger.fetch(refused[0], refused[1], "Origin", origin);
        assertEquals(refused[2], String.valueOf(answer.statusCode()), refused[1]);
        assertEquals("*", header(answer, "access-control-allow-origin"), refused[1]);
      }
      HttpResponse<byte[]> other = stranger.fetch("PURGE", FilesFixture.FAMILY, "Origin", origin);
      assertEquals("", header(other, "access-control-allow-origin"));
      HttpResponse<byte[]> limited = overBudget(stranger, FEED, "Origin", origin);
      assertEquals("*", header(limited, "access-control-allow-origin"));
      assertTrue(header(limited, "access-control-expose-headers").contains("Retry-After"));
      HttpResponse<byte[]> elsewhere = overBudget(stranger, "/api/vm/capacity");
      assertEquals("", header(elsewhere, "access-control-allow-origin"));
    }
  }

  /** Returns a rejection over the address's budget, which refills with time. */
  private static HttpResponse<byte[]> overBudget(ApiClient caller, String path, String... headers) {
    return Polls.until(
        "the address is over its budget",
        () -> caller.fetch("GET", path, headers),
        answer -> answer.statusCode() == 429);
  }
}
