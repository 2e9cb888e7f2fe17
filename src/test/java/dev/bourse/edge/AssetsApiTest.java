package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.pages.Assets;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The delivery of the console's files to browsers. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
class AssetsApiTest {
  private static final Assets ASSETS = Assets.load();
  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture = new EdgeFixture(EdgeFixture.unlimited());
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static HttpResponse<String> get(String path, String... headers) {
    return fixture.send("GET", path, null, headers);
  }

  @Test
  void eachFileHasItsTypeAndIsKeptForGood() {
    for (String name : ASSETS.names()) {
      HttpResponse<String> answer = get(ASSETS.base() + '/' + name);
      assertEquals(200, answer.statusCode(), name);
      String type =
          name.endsWith(".js")
              ? "text/javascript; charset=utf-8"
              : name.endsWith(".css") ? "text/css; charset=utf-8" : "image/svg+xml";
      assertEquals(type, header(answer, "content-type"), name);
      assertEquals("public, max-age=31536000, immutable", header(answer, "cache-control"), name);
      assertEquals("nosniff", header(answer, "x-content-type-options"), name);
      assertEquals("same-origin", header(answer, "cross-origin-resource-policy"), name);
    }
  }

  @Test
  void theBestCodingIsSentThatTheClientTakes() {
    String path = ASSETS.base() + "/console/app.js";
    Map<String, String> chosen =
        Map.of(
            "gzip, deflate, br", "br",
            "br;q=0, gzip", "gzip",
            "GZIP;q=0.5", "gzip",
            "identity", "",
            "br;q=0", "",
            "zstd", "");
    chosen.forEach(
        (accepted, coding) -> {
          HttpResponse<String> answer = get(path, "Accept-Encoding", accepted);
          assertEquals(200, answer.statusCode(), accepted);
          assertEquals(coding, header(answer, "content-encoding"), accepted);
          assertEquals("accept-encoding", header(answer, "vary"), accepted);
          String etag = header(answer, "etag");
          assertEquals(!coding.isEmpty(), etag.endsWith('-' + coding + '"'), etag);
          HttpResponse<String> again =
              get(path, "Accept-Encoding", accepted, "If-None-Match", etag);
          assertEquals(304, again.statusCode(), accepted);
          assertEquals(etag, header(again, "etag"));
        });
  }

  @Test
  void aValidatorOfAnotherCodingIsNotTheSame() {
    String path = ASSETS.base() + "/console/app.js";
    String plain = header(get(path), "etag");
    assertEquals(200, get(path, "Accept-Encoding", "br", "If-None-Match", plain).statusCode());
  }

  @Test
  void headTellsTheSizeAlone() {
    HttpResponse<String> head = fixture.send("HEAD", ASSETS.base() + "/style.css", null);
    assertEquals(200, head.statusCode());
    assertEquals("", head.body());
    assertEquals(
        ASSETS.file("style.css").body().length(), Integer.parseInt(header(head, "content-length")));
  }

  @Test
  void nothingElseIsServed() {
    for (String path :
        List.of(
            "/assets",
            "/assets/",
            ASSETS.base(),
            ASSETS.base() + "/",
            ASSETS.base() + "/console",
            ASSETS.base() + "/console/nothing.js",
            ASSETS.base() + "/index.json",
            ASSETS.base() + "/shell.html",
            ASSETS.base() + "/console/app.js.br",
            ASSETS.base() + "/console/README.md",
            ASSETS.base() + "/../index.json",
            ASSETS.base() + "/console/../style.css",
            ASSETS.base() + "/console//app.js",
            ASSETS.base() + "/%2e%2e/index.json",
            ASSETS.base() + "/..%2findex.json",
            ASSETS.base() + "/console%2fapp.js",
            ASSETS.base() + "/..%5cindex.json",
            "/assets/0000000000000000/console/app.js",
            "/console/app.js/../../assets")) {
      int status = get(path).statusCode();
      assertEquals(404, status, path);
    }
    assertEquals(405, fixture.send("POST", ASSETS.base() + "/console/app.js", "x").statusCode());
    assertTrue(ASSETS.base().matches("/assets/[0-9a-f]{16}"), ASSETS.base());
  }
}
