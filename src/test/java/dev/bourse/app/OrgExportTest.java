package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ErrorCode;
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

/** The organization's trail as a file. */
@EachEngine
class OrgExportTest {
  private static final String PATH = "/api/org/activity";
  private static final int ROWS = 1_234;

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    List<Statement> statements = new ArrayList<>();
    // Only the rows below, without the mints of the demo's tokens.
    statements.add(Statement.of("DELETE FROM audit"));
    for (int i = 0; i < ROWS; i++) {
      statements.add(
          AuditStore.insert(
              new AuditRow(i, "acme", "member:amy", "member_update", "acme", "n=" + i)));
      statements.add(
          AuditStore.insert(
              new AuditRow(i, "globex", "member:dave", "member_update", "globex", "alien")));
    }
    await(bourse.database().commit(statements));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpResponse<String> send(String method, String path, String accept)
      throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create(bourse.service().baseUrl() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("Authorization", "Bearer " + bourse.secret("acme", "bare"))
            .header("Accept", accept)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static String type(HttpResponse<?> answer) {
    return answer.headers().firstValue("content-type").orElse("");
  }

  private static List<String> newestFirst(int from) {
    return IntStream.rangeClosed(0, from).mapToObj(i -> "n=" + (from - i)).toList();
  }

  @Test
  void ndjsonHasTheWholeTrailNewestFirst() throws Exception {
    HttpResponse<String> answer = send("GET", PATH, "application/x-ndjson");
    assertEquals(200, answer.statusCode());
    assertEquals("application/x-ndjson", type(answer));
    List<JsonObject> entries = answer.body().lines().map(JsonObject::new).toList();
    assertEquals(
        newestFirst(ROWS - 1), entries.stream().map(entry -> entry.getString("detail")).toList());
    JsonObject page = bourse.as("acme", "bare").get(PATH).ok();
    assertEquals(
        page.getJsonArray("entries").getList(),
        entries.subList(0, 100).stream().map(JsonObject::getMap).toList());
    // From an entry on, with a limit.
    long third = entries.get(2).getLong("id");
    assertEquals(
        entries.subList(3, 10),
        send("GET", PATH + "?limit=7&before=" + third, "application/x-ndjson")
            .body()
            .lines()
            .map(JsonObject::new)
            .toList());
  }

  @Test
  void csvHasAHeaderAndTheWholeTrail() throws Exception {
    HttpResponse<String> answer = send("GET", PATH, "text/csv, application/json;q=0.5");
    assertEquals("text/csv", type(answer));
    String[] lines = answer.body().split("\r\n", -1);
    assertEquals("id,ts,actor,action,subject,detail", lines[0]);
    assertEquals(ROWS + 2, lines.length);
    assertTrue(
        lines[1].endsWith(",1970-01-01T00:00:01.233Z,member:amy,member_update,acme,n=1233"),
        lines[1]);
    assertEquals("", lines[ROWS + 1]);
    assertFalse(answer.body().contains("alien"));
  }

  @Test
  void jsonIsTheUsualFormAndNothingElseIsOffered() throws Exception {
    assertEquals("application/json", type(send("GET", PATH, "*/*")));
    assertEquals("application/json", type(send("GET", PATH, "application/*")));
    assertEquals("text/csv", type(send("GET", PATH, "text/*")));
    assertEquals(406, send("GET", PATH, "application/xml").statusCode());
    assertEquals(
        406,
        send("GET", "/api/org/tokens/self/activity", "text/csv").statusCode(),
        "a token's trail is read by pages");
  }

  @Test
  void anExportAtAPathOfItsOwnIsTheSame() throws Exception {
    HttpResponse<String> csv = send("GET", PATH + "/csv?limit=7", "*/*");
    assertEquals(send("GET", PATH + "?limit=7", "text/csv").body(), csv.body());
    assertEquals(200, csv.statusCode());
    assertTrue(type(csv).startsWith("text/csv"), type(csv));
    HttpResponse<String> lines = send("GET", PATH + "/ndjson?limit=7", "*/*");
    assertEquals(send("GET", PATH + "?limit=7", "application/x-ndjson").body(), lines.body());
    assertTrue(type(lines).startsWith("application/x-ndjson"), type(lines));
    assertEquals(406, send("GET", PATH + "/csv", "application/json").statusCode());
  }

  @Test
  void headOfAnExportHasItsHeadersAlone() throws Exception {
    HttpResponse<String> head = send("HEAD", PATH, "text/csv");
    assertEquals(200, head.statusCode());
    assertEquals("text/csv", type(head));
    assertEquals("", head.body());
  }

  @Test
  void refusalsOfAnExportAreJson() throws Exception {
    HttpResponse<String> answer = send("GET", PATH + "?limit=x", "text/csv");
    assertEquals(422, answer.statusCode());
    assertEquals("application/json", type(answer));
    assertEquals(ErrorCode.BAD_REQUEST.code(), new JsonObject(answer.body()).getString("error"));
    assertEquals(422, send("HEAD", PATH + "?reads=2", "text/csv").statusCode());
  }
}
