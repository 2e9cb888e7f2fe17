package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests and responses for people and OAuth clients: forms, pages, redirects, cookies. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class FormsTest {
  private static final String CONTRACT =
      """
      openapi: 3.1.0
      info: {title: Forms, version: 1.0.0, summary: Forms.}
      servers: [{url: "https://api.bourse.dev"}]
      security: []
      paths:
        /form:
          get:
            operationId: getForm
            x-errors: page
            parameters:
              - {name: n, in: query, schema: {type: integer, minimum: 1}}
            responses: {"200": {description: Page., content: {text/html: {}}}}
          post:
            operationId: postForm
            x-errors: page
            requestBody:
              required: true
              content:
                application/x-www-form-urlencoded:
                  schema: &fields
                    type: object
                    additionalProperties: false
                    required: [email]
                    properties:
                      email: {type: string, minLength: 1, maxLength: 40}
                      note: {type: string}
            responses: {"303": {description: Elsewhere.}}
        /tolerant:
          get:
            operationId: getTolerant
            x-tolerant: true
            parameters:
              - {name: state, in: query, schema: {type: string}}
            responses: {"200": {description: Taken.}}
          post:
            operationId: postTolerant
            x-tolerant: true
            x-errors: oauth
            requestBody:
              required: true
              content: {application/x-www-form-urlencoded: {schema: *fields}}
            responses: {"200": {description: Taken.}}
        /metadata:
          post:
            operationId: postMetadata
            x-tolerant: true
            requestBody:
              required: true
              content: {application/json: {schema: *fields}}
            responses: {"200": {description: Taken.}}
        /scoped:
          get:
            operationId: getScoped
            security: [{memberToken: ["billing:read"]}, {apiToken: ["capacity:read"]}]
            responses: {"200": {description: Taken.}}
      """;

  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";

  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture =
        new EdgeFixture(
            EdgeFixture.unlimited(),
            Sources.system(),
            null,
            List.of(EdgeFixture.contract("forms", CONTRACT)));
    fixture.operations.showErrors(
        refusal ->
            new Answer.RenderedPage(
                refusal.code().status(),
                "text/html; charset=utf-8",
                Buffer.buffer("<p>" + refusal.code().code()),
                List.of(Map.entry("x-shown", "yes"))));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  @BeforeEach
  void echo() {
    fixture.behave(EdgeFixture::echoBody);
  }

  private static HttpResponse<String> post(String path, String body, String... headers) {
    String[] all = new String[headers.length + 2];
    all[0] = "Content-Type";
    all[1] = FORM;
    System.arraycopy(headers, 0, all, 2, headers.length);
    return fixture.send("POST", path, body, all);
  }

  private static JsonObject fields(HttpResponse<String> answer) {
    assertEquals(200, answer.statusCode(), answer.body());
    return new JsonObject(EdgeFixture.json(answer).getString("text"));
  }

  private static String detail(HttpResponse<String> answer) {
    assertEquals(422, answer.statusCode(), answer.body());
    return EdgeFixture.json(answer).getString("detail");
  }

  @Test
  void aFormArrivesAsItsDecodedFields() {
    assertEquals(
        new JsonObject().put("email", "a b@c+d").put("note", "é&="),
        fields(post("/form", "email=a+b%40c%2Bd&note=%C3%A9%26%3D")));
    assertEquals(
        new JsonObject().put("email", "a").put("note", ""), fields(post("/form", "&email=a&note")));
  }

  @Test
  void aFormIsHeldAgainstItsSchema() {
    assertEquals(
        "email is missing; expected a string of 1 to 40 characters",
        detail(post("/form", "note=1")));
    assertEquals(
        "unknown field 'more'; expected only email, note", detail(post("/form", "email=a&more=1")));
    assertEquals("field 'email' is given twice", detail(post("/form", "email=a&email=a")));
    assertEquals(
        "email: %zz is not acceptable; expected percent-encoded UTF-8 without U+0000",
        detail(post("/form", "email=%zz")));
    assertEquals(422, post("/form", "email=%00").statusCode());
    assertEquals(422, post("/form", "email=a\0").statusCode());
    assertEquals("the body is missing; expected the fields of a form", detail(post("/form", "")));
  }

  @Test
  void aFormIsAtMost16KibAndOfItsType() {
    assertEquals(200, post("/form", "email=a&note=" + "x".repeat(16_384 - 13)).statusCode());
    assertEquals(413, post("/form", "email=a&note=" + "x".repeat(16_384 - 12)).statusCode());
    assertEquals(
        415,
        fixture
            .send("POST", "/form", "{\"email\":\"a\"}", "Content-Type", "application/json")
            .statusCode());
  }

  @Test
  void aTolerantOperationLeavesOutWhatIsUnknownOrEmpty() {
    assertEquals(
        new JsonObject().put("email", "a"),
        fields(post("/tolerant", "email=a&note=&more=1&more=2&%zz=1")));
    assertEquals(
        new JsonObject().put("email", "a"),
        fields(
            fixture.send(
                "POST",
                "/metadata",
                "{\"email\":\"a\",\"more\":{\"b\":[1]}}",
                "Content-Type",
                "application/json")));
    fixture.behave(
        call ->
            Future.succeededFuture(
                Answer.ok(new JsonObject().put("state", call.findText("state").orElse("none")))));
    assertEquals(
        "x", EdgeFixture.json(fixture.get("/tolerant?a=1&state=x&b&a=%ff")).getString("state"));
    assertEquals("none", EdgeFixture.json(fixture.get("/tolerant?state=")).getString("state"));
    assertEquals(422, fixture.get("/tolerant?state=x&state=x").statusCode());
  }

  @Test
  void aPageHasAnyStatusAndRepeatedHeaders() {
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.RenderedPage(
                    303,
                    "",
                    Buffer.buffer(),
                    List.of(
                        Map.entry("location", "/elsewhere"),
                        Map.entry("set-cookie", "a=1"),
                        Map.entry("set-cookie", "b=2")))));
    HttpResponse<String> answer = post("/form", "email=a", "Accept", "text/html");
    assertEquals(303, answer.statusCode());
    assertEquals("/elsewhere", EdgeFixture.header(answer, "location"));
    assertEquals(List.of("a=1", "b=2"), answer.headers().allValues("set-cookie"));
    assertEquals("", answer.body());
  }

  @Test
  void aPageAnswersHead() {
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.RenderedPage(200, "text/html", Buffer.buffer("<p>"), List.of())));
    assertEquals("<p>", fixture.get("/form").body());
    HttpResponse<String> head = fixture.send("HEAD", "/form", null);
    assertEquals(200, head.statusCode());
    assertEquals("3", EdgeFixture.header(head, "content-length"));
    assertEquals("nosniff", EdgeFixture.header(head, "x-content-type-options"));
  }

  @Test
  void aCookieIsFoundByItsNameAndNotWhenItStandsTwice() {
    fixture.behave(
        call ->
            Future.succeededFuture(
                Answer.ok(
                    new JsonObject()
                        .put("a", call.cookie("a").orElse("none"))
                        .put("client", call.clientKey()))));
    JsonObject seen =
        EdgeFixture.json(fixture.send("GET", "/tolerant", null, "Cookie", "b=2; a=x=1"));
    assertEquals("x=1", seen.getString("a"));
    assertEquals("127.0.0.1", seen.getString("client"));
    for (String none : List.of("aa=1", "a", "a=1; a=2", "=a")) {
      assertEquals(
          "none",
          EdgeFixture.json(fixture.send("GET", "/tolerant", null, "Cookie", none)).getString("a"),
          none);
    }
  }

  @Test
  void aRefusalIsAPageForWhoPrefersOne() {
    HttpResponse<String> shown = post("/form", "note=1", "Accept", BROWSER);
    assertEquals(422, shown.statusCode());
    assertEquals("<p>bad-request", shown.body());
    assertEquals("yes", EdgeFixture.header(shown, "x-shown"));
    assertEquals(
        "<p>bad-request", fixture.send("GET", "/form?n=0", null, "Accept", BROWSER).body());
    assertEquals("bad-request", EdgeFixture.json(post("/form", "note=1")).getString("error"));
    // Only where the contract says so.
    assertEquals(
        "unauthorized",
        EdgeFixture.json(fixture.send("GET", "/api/whoami", null, "Accept", BROWSER))
            .getString("error"));
  }

  @Test
  void anOauthRefusalHasTheCodesOfRfc6749() {
    HttpResponse<String> answer = post("/tolerant", "note=1");
    assertEquals(400, answer.statusCode());
    assertEquals(
        new JsonObject()
            .put("error", "invalid_request")
            .put("error_description", "email is missing; expected a string of 1 to 40 characters"),
        EdgeFixture.json(answer));
    fixture.behave(
        call -> {
          throw ApiException.of(ErrorCode.BAD_REQUEST, "\"é\\\"");
        });
    assertEquals(
        "'??'", EdgeFixture.json(post("/tolerant", "email=a")).getString("error_description"));
    fixture.behave(
        call -> {
          throw new IllegalStateException("internal");
        });
    HttpResponse<String> failed = post("/tolerant", "email=a");
    assertEquals(500, failed.statusCode());
    assertEquals("server_error", EdgeFixture.json(failed).getString("error"));
  }

  @Test
  void aScopeIsDemandedOfTheKindOfCallerItStandsBeside() {
    fixture.behave(EdgeFixture::echo);
    HttpResponse<String> token =
        fixture.send("GET", "/scoped", null, "Authorization", "Bearer readonly");
    assertEquals(200, token.statusCode(), token.body());
    HttpResponse<String> member =
        fixture.send("GET", "/scoped", null, "Authorization", "Bearer member");
    assertEquals(403, member.statusCode());
    assertTrue(member.body().contains("billing:read"), member.body());
  }

  @Test
  void a401SaysHowMembersTokensAreFoundWhereTheyAreTaken() {
    assertEquals(
        "Bearer", EdgeFixture.header(fixture.send("GET", "/api/whoami", null), "www-authenticate"));
    assertEquals(
        "Bearer resource_metadata=\"http://localhost:"
            + fixture.port()
            + "/.well-known/oauth-protected-resource\"",
        EdgeFixture.header(fixture.send("GET", "/scoped", null), "www-authenticate"));
  }
}
