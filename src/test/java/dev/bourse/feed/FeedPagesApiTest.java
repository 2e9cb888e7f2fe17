package dev.bourse.feed;

import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The feed in a browser without scripts and cookies, and the host that serves only bytes. */
@ReplayedOnPostgres
class FeedPagesApiTest {
  private static final byte[] BYTES = bytes(10_000, 1);

  private static RunningBourse bourse;
  private static RunningBourse apart;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    apart = RunningBourse.demo("checkpoints.content-url=http://127.0.0.1:1");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    apart.close();
  }

  private static String onFeed(RunningBourse service, JsonObject publication) {
    String id = publish(service.asMember("openlab", "carol"), publication, BYTES).getString("id");
    approve(service, id).ok();
    return id;
  }

  private static String onFeed(RunningBourse service, String name) {
    return onFeed(service, publication(name, BYTES, "public"));
  }

  private static HttpResponse<String> page(String path) {
    return new Browser(bourse).get(path);
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  @Test
  void theListIsSearchedAndPagedByAddressesAlone() {
    String mark = "mark" + System.nanoTime();
    for (int i = 0; i < 26; i++) {
      onFeed(bourse, mark + '-' + i + ".bin");
    }
    HttpResponse<String> newest = page("/feed/?q=" + mark);
    assertEquals(200, newest.statusCode());
    assertTrue(newest.body().contains(mark + "-25.bin"), newest.body());
    assertFalse(newest.body().contains(mark + "-0.bin"), newest.body());
    Matcher older = Pattern.compile("rel=\"next\" href=\"([^\"]+)\"").matcher(newest.body());
    assertTrue(older.find(), newest.body());
    HttpResponse<String> rest = page(older.group(1).replace("&amp;", "&"));
    assertTrue(rest.body().contains(mark + "-0.bin"), rest.body());
    assertFalse(rest.body().contains(mark + "-25.bin"), rest.body());
    assertTrue(rest.body().contains("href=\"/feed/?q=" + mark + '"'), rest.body());
    assertTrue(page("/feed/?q=none" + mark).body().contains("Nothing here has"));
    assertEquals(newest.body(), page("/feed?q=" + mark).body());
  }

  @Test
  void anItemsPageSaysWhatEverybodyMayKnowAndHowToFetchIt() {
    JsonObject publication =
        publication("it's <b>bold.txt", BYTES, "public")
            .put("title", "<script>alert(1)</script>")
            .put("description", "two\nlines")
            .put("content_type", "text/plain");
    String id = onFeed(bourse, publication);
    String page = page("/feed/" + id).body();
    assertFalse(page.contains("<script"), page);
    assertFalse(page.contains("<b>"), page);
    String content = bourse.service().baseUrl() + "/api/checkpoints/public/" + id + "/content";
    for (String part :
        List.of(
            "10,000 bytes",
            "9.8 KiB",
            "text/plain",
            sha256(BYTES),
            "Open Lab, carol",
            "href=\"" + content + "?download=1\"",
            "href=\"" + content + '"',
            "curl -fL -o &#39;it&#39;\\&#39;&#39;s &lt;b&gt;",
            "bourse checkpoint pull " + id)) {
      assertTrue(page.contains(part), part + "\n" + page);
    }
    assertFalse(page.contains("carol@"), page);
  }

  @Test
  void whatIsNotOnTheFeedIsAPageThatIsNotThere() {
    String waiting =
        publish(
                bourse.asMember("openlab", "carol"),
                publication(FilesFixture.freshName(), BYTES, "public"),
                BYTES)
            .getString("id");
    for (String id : List.of(waiting, "ckp_none")) {
      HttpResponse<String> page = page("/feed/" + id);
      assertEquals(404, page.statusCode(), id);
      assertTrue(page.body().contains("<h1>Page not found</h1>"), page.body());
    }
    bourse.with(null).get("/feed/ckp_none").refused(ErrorCode.NOT_FOUND);
    assertEquals(422, page("/feed/?before=yesterday").statusCode());
  }

  @Test
  void feedPagesRunNothingSetNoCookieAndAreAskedForAnew() {
    String id = onFeed(bourse, FilesFixture.freshName());
    for (String path : List.of("/feed/", "/feed/" + id)) {
      HttpResponse<String> page = page(path);
      assertEquals(
          "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
              + " frame-ancestors 'none'; base-uri 'none'",
          header(page, "content-security-policy"));
      assertEquals("no-cache", header(page, "cache-control"));
      assertEquals("", header(page, "set-cookie"));
      assertFalse(page.body().contains("<script"), path);
      assertEquals(
          304,
          bourse
              .with(null)
              .fetch("GET", path, "Accept", "text/html", "If-None-Match", header(page, "etag"))
              .statusCode());
    }
  }

  @Test
  void theContentHostServesPublishedBytesAndNothingElse() {
    String id =
        onFeed(apart, publication("page.html", BYTES, "public").put("content_type", "text/html"));
    String content = "/api/checkpoints/public/" + id + "/content";
    Browser browser = new Browser(apart);
    browser.signedIn("alice@acme.example");
    assertTrue(
        browser.get("/feed/" + id).body().contains("href=\"http://127.0.0.1:1" + content + '"'));

    Browser stranger =
        new Browser(apart, apart.service().baseUrl().replace("localhost", "127.0.0.1"));
    stranger.cookies.putAll(browser.cookies);
    HttpResponse<String> file = stranger.get(content);
    assertEquals(200, file.statusCode());
    assertTrue(header(file, "content-security-policy").startsWith("sandbox"));
    for (String path :
        List.of(
            "/",
            "/account",
            "/console/",
            "/docs",
            "/feed/",
            "/feed/" + id,
            "/sign-in",
            "/pages/style.css",
            "/api/checkpoints/public",
            "/api/checkpoints/public/" + id,
            "/api/checkpoints/" + id + "/content",
            "/api/console/session")) {
      HttpResponse<String> answer = stranger.get(path);
      assertEquals(404, answer.statusCode(), path);
      assertEquals("application/json", header(answer, "content-type"), path);
      assertEquals("", header(answer, "set-cookie"), path);
    }
    assertEquals(404, stranger.post("/sign-in", Map.of("email", "a@b.example")).statusCode());
    HttpResponse<String> here = browser.get(content);
    assertEquals(200, here.statusCode(), "the pages' own host serves them, too");
    assertTrue(header(here, "content-security-policy").startsWith("sandbox"));
  }

  @Test
  void aSetShowsItsFilesEachToBeDownloaded() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    byte[] bytes = FilesFixture.bytes(300, 77);
    String digest = FilesFixture.sha256(bytes);
    JsonObject file =
        new JsonObject()
            .put("path", "shards/<one>.bin")
            .put("bytes", bytes.length)
            .put("sha256", digest);
    JsonObject set =
        new JsonObject()
            .put("title", "A set")
            .put("filename", "open-set")
            .put("visibility", "public")
            .put("files", new JsonArray().add(file));
    JsonObject begun = carol.post(FilesFixture.FAMILY + "/sets", set).json();
    String id = begun.getString("id");
    carol.sendBytes("PUT", FilesFixture.path(begun.getString("session_url")) + "/0", bytes).ok();
    carol.post(FilesFixture.item(id) + "/commit", new JsonObject().put("bytes", bytes.length)).ok();
    FilesFixture.approve(bourse, id).ok();
    String page = page("/feed/" + id).body();
    assertTrue(page.contains("shards/&lt;one&gt;.bin"), page);
    String download = "/api/checkpoints/public/" + id + "/files/" + digest + "?download=1";
    assertTrue(page.contains(download), page);
    assertTrue(page.contains("bourse checkpoint pull " + id), page);
    assertFalse(page.contains(" more: "), page);
    assertTrue(page("/feed/").body().contains("1 file, 300 bytes"), page("/feed/").body());
    assertEquals(200, page(download).statusCode());
  }

  @Test
  void ofALargeSetTheFirstHundredFilesAreShownAndTheManifestHasAll() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    Map<String, byte[]> files = new TreeMap<>();
    for (int i = 0; i < 103; i++) {
      files.put("shard-%03d.bin".formatted(i), FilesFixture.bytes(10, 1_000));
    }
    String id =
        SetsFixture.publish(carol, FilesFixture.freshName(), files, "public").getString("id");
    FilesFixture.approve(bourse, id).ok();
    String page = page("/feed/" + id).body();
    assertTrue(page.contains("shard-099.bin"), page);
    assertFalse(page.contains("shard-100.bin"), page);
    assertTrue(page.contains("<dd class=\"figures\">103</dd>"), page);
    Matcher more = Pattern.compile("And 3 more: <a href=\"[^\"]*?(/api/[^\"]+)\"").matcher(page);
    assertTrue(more.find(), page);
    assertTrue(page(more.group(1)).body().contains("shard-102.bin"));
  }
}
