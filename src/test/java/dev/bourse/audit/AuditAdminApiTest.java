package dev.bourse.audit;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Operators read the trails. */
@EachEngine
class AuditAdminApiTest {
  private static final String PATH = "/api/operator/activity";

  /** More than an export reads at a time. */
  private static final int ROWS = 234;

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    List<Statement> statements = new ArrayList<>();
    // An empty trail, without rows of the start and the demo's tokens.
    statements.add(Statement.of("DELETE FROM audit"));
    for (int i = 0; i < ROWS; i++) {
      statements.add(
          AuditStore.insert(new AuditRow(i, "", "operator:ann", "pool_update", "p", "n=" + i)));
      statements.add(
          AuditStore.insert(
              new AuditRow(i, "acme", "member:amy", "member_update", "acme", "n=" + i)));
    }
    await(bourse.database().commit(statements));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject list(String query) {
    return bourse.operator().get(PATH + query).ok();
  }

  private static List<String> details(JsonObject trail) {
    return trail.getJsonArray("entries").stream()
        .map(entry -> ((JsonObject) entry).getString("detail"))
        .toList();
  }

  private static List<String> newestFirst(int from, int to) {
    return IntStream.rangeClosed(0, from - to).mapToObj(i -> "n=" + (from - i)).toList();
  }

  private static HttpResponse<String> export(String query, String mediaType)
      throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create(bourse.service().baseUrl() + PATH + query))
            .header("Authorization", "Bearer " + bourse.operatorToken())
            .header("Accept", mediaType)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void thePlatformsTrailIsReadAPageAtATimeNewestFirst() {
    JsonObject first = list("");
    assertEquals("_platform", first.getString("org"));
    assertEquals(newestFirst(ROWS - 1, ROWS - 100), details(first));
    assertEquals(true, first.getBoolean("more"));
    JsonObject entry = first.getJsonArray("entries").getJsonObject(0);
    assertEquals("operator:ann", entry.getString("actor"));
    assertEquals("pool_update", entry.getString("action"));
    assertEquals("p", entry.getString("subject"));
    long last = first.getJsonArray("entries").getJsonObject(99).getLong("id");
    JsonObject rest = list("?limit=500&before=" + last);
    assertEquals(newestFirst(ROWS - 101, 0), details(rest));
    assertEquals(false, rest.getBoolean("more"));
    assertEquals(details(first), details(list("?org=_platform")));
  }

  @Test
  void anOrganizationsTrailIsShownAsItsTokensReadIt() {
    JsonObject trail = list("?org=acme&limit=7");
    JsonObject own = bourse.as("acme", "bare").get("/api/org/activity?limit=7").ok();
    assertEquals("acme", trail.getString("org"));
    assertEquals(own.getJsonArray("entries"), trail.getJsonArray("entries"));
    assertEquals(newestFirst(ROWS - 1, ROWS - 7), details(trail));
  }

  @Test
  void recordedReadsAreShownWhenAskedFor() {
    bourse.as("globex", "orgwide").get("/api/vm/capacity?cluster=globex-main").ok();
    RunningBourse.until(
        "the read is recorded", () -> !details(list("?org=globex&reads=1")).isEmpty());
    assertEquals(List.of(), details(list("?org=globex&reads=0")));
  }

  @Test
  void eitherTrailCanBeExportedWhole() throws Exception {
    HttpResponse<String> lines = export("", "application/x-ndjson");
    assertEquals(200, lines.statusCode());
    assertEquals("application/x-ndjson", lines.headers().firstValue("content-type").orElse(""));
    assertEquals(
        newestFirst(ROWS - 1, 0),
        lines.body().lines().map(line -> new JsonObject(line).getString("detail")).toList());

    String[] csv = export("?org=acme", "text/csv").body().split("\r\n", -1);
    assertEquals("id,ts,actor,action,subject,detail", csv[0]);
    assertEquals(ROWS + 2, csv.length);
    assertTrue(csv[1].endsWith(",member:amy,member_update,acme,n=" + (ROWS - 1)), csv[1]);
    assertFalse(String.join("", csv).contains("operator:"));
    assertEquals(406, export("", "application/xml").statusCode());
  }

  @Test
  void anExportAtAPathOfItsOwnIsTheSame() throws Exception {
    String query = "?org=acme&limit=7";
    assertEquals(export(query, "text/csv").body(), export("/csv" + query, "*/*").body());
    assertEquals(
        export(query, "application/x-ndjson").body(), export("/ndjson" + query, "*/*").body());
    assertEquals(404, export("/csv?org=nobody", "*/*").statusCode());
  }
}
