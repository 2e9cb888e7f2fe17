package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.contract.Contract;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.docs.DocsPages;
import dev.bourse.edge.limits.EdgeLimits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Public pages, and the operators' port. */
class PagesTest {
  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture =
        new EdgeFixture(
            new EdgeConfig(
                "127.0.0.1",
                0,
                "https://bourse.example",
                77,
                0,
                0,
                Set.of(),
                EdgeLimits.standard()),
            Sources.system());
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static HttpResponse<String> read(String path) {
    return fixture.send("GET", path, null);
  }

  @Test
  void contractsAreServedWithTheAddressAndTheBudgetInForce() {
    for (String name : Contract.SERVED) {
      HttpResponse<String> answer = read("/api/" + name + "/openapi.json");
      assertEquals(200, answer.statusCode());
      assertEquals("application/json", header(answer, "content-type"));
      JsonObject document = new JsonObject(answer.body());
      assertEquals(
          "https://bourse.example",
          document.getJsonArray("servers").getJsonObject(0).getString("url"));
      assertEquals(77, document.getJsonObject("info").getInteger("x-requests-per-minute"));
      // Sign-in takes no token, so there is no token budget to report.
      assertTrue(
          name.equals("console")
              || name.equals("oauth")
              || answer.body().contains("77 requests a minute"),
          name);
      assertFalse(answer.body().contains("${"));
      String etag = header(answer, "etag");
      assertEquals(
          304,
          fixture
              .send("GET", "/api/" + name + "/openapi.json", null, "If-None-Match", etag)
              .statusCode());
    }
  }

  @Test
  void withoutABudgetNoTextSpeaksOfZeroRequests() {
    DocsPages pages = new DocsPages(EdgeFixture.contracts(), "https://bourse.example", 0, List::of);
    for (String path :
        List.of(
            "/api/vm/openapi.json",
            "/api/org/openapi.json",
            "/api/market/openapi.json",
            "/llms.txt")) {
      String text = Objects.requireNonNull(pages.get(path)).body().toString();
      assertFalse(Pattern.compile("\\b0 requests").matcher(text).find(), text);
      assertTrue(text.contains("any number of requests"), text);
    }
  }

  @Test
  void theIndexListsEveryOperationButTheOperators() {
    String index = read("/llms.txt").body();
    String operators = read("/llms-operators.txt").body();
    for (Contract contract : EdgeFixture.contracts()) {
      boolean isOperators = contract.name().equals("operator");
      String text = isOperators ? operators : index;
      contract
          .model()
          .operations()
          .forEach(
              operation ->
                  assertTrue(text.contains(operation.getAbsoluteOpenAPIPath() + "`"), text));
      assertTrue(
          text.contains("https://bourse.example/api/" + contract.name() + "/openapi.json"), text);
    }
    assertFalse(index.contains("/api/operator/"), index);
    assertTrue(index.contains("`PUT /api/vm/capacity` (capacity:write)"), index);
    assertTrue(index.contains("(https://bourse.example/docs/guides/capacity.md)"), index);
  }

  @Test
  void everyLinkOfTheIndexLeadsSomewhere() {
    Matcher links =
        Pattern.compile("\\]\\(https://bourse\\.example([^)]+)\\)")
            .matcher(read("/llms.txt").body());
    int found = 0;
    while (links.find()) {
      // The fixture serves no tools.
      if (!links.group(1).equals("/mcp")) {
        assertEquals(200, read(links.group(1)).statusCode(), links.group(1));
        found++;
      }
    }
    assertTrue(found > 15, found + " links");
  }

  @Test
  void recipesAreForThisServiceAndNameEveryCode() {
    HttpResponse<String> answer = read("/AGENTS.md");
    assertEquals("text/markdown; charset=utf-8", header(answer, "content-type"));
    String text = answer.body();
    assertTrue(text.contains("url=https://bourse.example\n"), text);
    assertTrue(text.contains("77 requests a minute"), text);
    for (ErrorCode code : ErrorCode.values()) {
      assertTrue(text.contains(code.code()), code.code());
    }
    assertFalse(text.contains("localhost") || text.contains("${"), text);
    assertFalse(text.contains("/api/operator"), text);
  }

  @Test
  void theSkillIsServedAsGuidesAreForThisService() {
    HttpResponse<String> guide = read("/docs/guides/agents.md");
    HttpResponse<String> answer = read("/skills/bourse/SKILL.md");
    assertEquals(200, answer.statusCode());
    for (String name : List.of("content-type", "cache-control")) {
      assertEquals(header(guide, name), header(answer, name));
    }
    assertTrue(answer.body().startsWith("---\nname: bourse\n"), answer.body());
    assertTrue(answer.body().contains("https://bourse.example/mcp"), answer.body());
    assertFalse(answer.body().contains("localhost"), answer.body());
    String path = answer.uri().getPath();
    assertEquals(
        304, fixture.send("GET", path, null, "If-None-Match", header(answer, "etag")).statusCode());
    assertEquals(405, fixture.send("PUT", path, "x").statusCode());
    for (String none : List.of("/skills/bourse/", "/skills/other/SKILL.md")) {
      assertEquals(404, read(none).statusCode(), none);
    }
    for (String from : List.of("/llms.txt", "/docs/guides/agents.md")) {
      assertTrue(read(from).body().contains("/skills/bourse/SKILL.md"), from);
    }
  }

  @Test
  void theIndexOfSkillsHasTheDigestOfWhatItNames() {
    HttpResponse<String> answer = read("/.well-known/agent-skills/index.json");
    assertEquals("application/json", header(answer, "content-type"));
    JsonObject index = new JsonObject(answer.body());
    assertEquals(
        "https://schemas.agentskills.io/discovery/0.2.0/schema.json", index.getString("$schema"));
    JsonObject skill = index.getJsonArray("skills").getJsonObject(0);
    assertEquals(
        Set.of("name", "type", "description", "url", "digest"), Set.copyOf(skill.fieldNames()));
    String file = read(skill.getString("url").replace("https://bourse.example", "")).body();
    assertEquals(
        "sha256:" + HexFormat.of().formatHex(Digests.sha256(file.getBytes(StandardCharsets.UTF_8))),
        skill.getString("digest"));
  }

  @Test
  void guidesAreServedAsPagesAndAsMarkdown() {
    HttpResponse<String> page = read("/docs/guides/capacity");
    assertEquals(200, page.statusCode());
    assertEquals("text/html; charset=utf-8", header(page, "content-type"));
    assertTrue(page.body().contains("<h1 id=\"capacity\">Capacity</h1>"), page.body());
    HttpResponse<String> text = read("/docs/guides/capacity.md");
    assertEquals("text/markdown; charset=utf-8", header(text, "content-type"));
    assertTrue(text.body().startsWith("# Capacity\n"), text.body());
    assertTrue(text.body().contains("url=https://bourse.example\n"), text.body());
    for (HttpResponse<String> answer : List.of(page, text)) {
      String path = answer.uri().getPath();
      HttpResponse<String> again =
          fixture.send("GET", path, null, "If-None-Match", header(answer, "etag"));
      assertEquals(304, again.statusCode());
      HttpResponse<String> head = fixture.send("HEAD", path, null);
      assertEquals(200, head.statusCode());
      assertEquals("", head.body());
    }
    for (String path :
        List.of("/docs/guides/nothing", "/docs/guides/", "/docs/reference/nothing")) {
      assertEquals(404, read(path).statusCode(), path);
    }
  }

  @Test
  void theReferenceShowsEveryOperationAndNoLinkIsDead() {
    for (Contract contract : EdgeFixture.contracts()) {
      String page = read("/docs/reference/" + contract.name()).body();
      contract.model().operations().stream()
          .filter(operation -> !operation.getHttpMethod().name().equals("OPTIONS"))
          .forEach(
              operation ->
                  assertTrue(
                      page.contains("id=\"" + operation.getOperationId() + '"'),
                      operation.getOperationId()));
      Matcher links = Pattern.compile("href=\"#([^\"]+)\"").matcher(page);
      while (links.find()) {
        assertTrue(page.contains("id=\"" + links.group(1) + '"'), links.group(1));
      }
    }
  }

  @Test
  void whatTheSearchFindsIsThere() {
    JsonArray entries = new JsonArray(read("/docs/search.json").body());
    Set<String> paths = new HashSet<>();
    for (int i = 0; i < entries.size(); i++) {
      JsonObject entry = entries.getJsonObject(i);
      paths.add(entry.getString("path"));
      assertFalse(entry.getString("title").isEmpty(), entry.encode());
    }
    assertTrue(paths.contains("/docs/reference/vm#swapNode"), paths.toString());
    assertTrue(paths.contains("/docs/guides/capacity#swap-a-node"), paths.toString());
    for (String path : paths) {
      String[] parts = path.split("#", -1);
      HttpResponse<String> page = read(parts[0]);
      assertEquals(200, page.statusCode(), path);
      assertTrue(parts.length == 1 || page.body().contains("id=\"" + parts[1] + '"'), path);
    }
  }

  @Test
  void theDocumentationLoadsOnlyWhatItsPolicyAllows() {
    HttpResponse<String> page = read("/docs");
    assertEquals("text/html; charset=utf-8", header(page, "content-type"));
    String policy = header(page, "content-security-policy");
    assertTrue(policy.startsWith("default-src 'none'; script-src 'self';"), policy);
    assertFalse(policy.contains("unsafe"), policy);
    for (String path : List.of("/docs", "/docs/guides/capacity", "/docs/reference/vm")) {
      String body = read(path).body();
      assertFalse(body.contains("<script>") || body.contains("style="), path);
      Matcher links = Pattern.compile("(?:src|href)=\"(/[^\"#]*)\"").matcher(body);
      Set<String> found = new HashSet<>();
      while (links.find()) {
        found.add(links.group(1));
      }
      // Sign-in belongs to the console, and the feed is not one of these texts.
      assertTrue(found.remove("/sign-in"), path);
      assertTrue(found.remove("/feed/"), path);
      assertTrue(found.size() > 20, found.toString());
      for (String link : found) {
        HttpResponse<String> piece = read(link);
        assertEquals(200, piece.statusCode(), link);
        assertFalse(header(piece, "content-type").isEmpty());
      }
    }
  }

  @Test
  void otherFilesOfTheViewerAreNotServed() {
    assertEquals(404, read("/docs/5.34.1/index.html").statusCode());
    assertEquals(404, read("/docs/start.css").statusCode());
  }

  @Test
  void pagesCannotBeWritten() {
    HttpResponse<String> answer = fixture.send("POST", "/llms.txt", "x");
    assertEquals(405, answer.statusCode());
    assertEquals("GET, HEAD", header(answer, "allow"));
  }

  @Test
  void theManagementPortTellsLifeReadinessAndMetrics() throws Exception {
    Readiness readiness = new Readiness();
    ManagementVerticle management =
        new ManagementVerticle(
            ManagementConfig.onLoopback(0), readiness, fixture.signals, Clock.systemUTC());
    fixture.vertx.deployVerticle(management).await();
    read("/llms.txt");
    assertEquals(200, manage(management, "/livez").statusCode());
    assertEquals(503, manage(management, "/readyz").statusCode());
    readiness.set(true);
    assertEquals(200, manage(management, "/readyz").statusCode());
    assertEquals("ready\n", manage(management, "/readyz").body());
    readiness.describe("version 1, schema 44\n");
    assertEquals("ready\nversion 1, schema 44\n", manage(management, "/readyz").body());
    String metrics = manage(management, "/metrics").body();
    assertTrue(metrics.contains("bourse_http_requests_total{operation=\"none\","), metrics);
    assertTrue(metrics.contains("bourse_http_requests_in_flight 0"), metrics);
    assertEquals(404, manage(management, "/").statusCode());
  }

  private static HttpResponse<String> manage(ManagementVerticle management, String path)
      throws Exception {
    return fixture.client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management.actualPort() + path))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
