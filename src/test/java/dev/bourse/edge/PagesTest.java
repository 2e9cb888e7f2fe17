package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.contract.Contract;
import dev.bourse.edge.docs.Pages;
import dev.bourse.edge.limits.EdgeLimits;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What anyone may read, and the operators' port. */
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
      // Signing in takes no token, so there is no budget of one to tell.
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
    Pages pages = new Pages(EdgeFixture.contracts(), "https://bourse.example", 0);
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
  void orientationListsEveryOperation() {
    for (String path : new String[] {"/llms.txt", "/AGENTS.md"}) {
      String text = read(path).body();
      for (Contract contract : EdgeFixture.contracts()) {
        contract
            .model()
            .operations()
            .forEach(
                operation -> assertTrue(text.contains(operation.getAbsoluteOpenAPIPath()), text));
      }
      assertTrue(text.contains("https://bourse.example/api/vm/openapi.json"), text);
      assertTrue(text.contains("capacity:write"), text);
    }
  }

  @Test
  void theRootLeadsToTheDocumentation() {
    HttpResponse<String> answer = read("/");
    assertEquals(302, answer.statusCode());
    assertEquals("/docs", header(answer, "location"));
  }

  @Test
  void theDocumentationLoadsOnlyWhatItsPolicyAllows() {
    HttpResponse<String> page = read("/docs");
    assertEquals("text/html; charset=utf-8", header(page, "content-type"));
    String policy = header(page, "content-security-policy");
    assertTrue(policy.startsWith("default-src 'none'; script-src 'self';"), policy);
    assertFalse(page.body().contains("<script>"));
    Matcher links = Pattern.compile("(?:src|href)=\"([^\"]+)\"").matcher(page.body());
    int found = 0;
    while (links.find()) {
      HttpResponse<String> piece = read(links.group(1));
      assertEquals(200, piece.statusCode(), links.group(1));
      assertFalse(header(piece, "content-type").isEmpty());
      found++;
    }
    assertEquals(5, found);
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
        new ManagementVerticle("127.0.0.1", 0, readiness, fixture.metrics);
    fixture.vertx.deployVerticle(management).await();
    read("/llms.txt");
    assertEquals(200, manage(management, "/livez").statusCode());
    assertEquals(503, manage(management, "/readyz").statusCode());
    readiness.set(true);
    assertEquals(200, manage(management, "/readyz").statusCode());
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
