package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static dev.bourse.edge.EdgeFixture.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Scrape;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** The processing of a request: routing, caller, scope, errors, validators. */
class EdgeTest extends EchoFixture {
  private static void refused(ErrorCode code, HttpResponse<String> answer) {
    assertEquals(code.status(), answer.statusCode(), answer.body());
    assertEquals(code.code(), json(answer).getString("error"));
    assertFalse(header(answer, "x-request-id").isEmpty());
    assertEquals("application/json", header(answer, "content-type"));
  }

  @Test
  void anOperationGetsItsCallerAndParameters() {
    HttpResponse<String> answer = fixture.get("/api/vm/history?hours=0.5&cluster=a%2Bb+c");
    assertEquals(200, answer.statusCode(), answer.body());
    assertEquals(0.5, json(answer).getDouble("hours"));
    assertEquals("a+b c", json(answer).getString("cluster"));
    assertEquals("token:all", json(answer).getString("actor"));
  }

  @Test
  void pathParametersAreDecodedOnce() {
    HttpResponse<String> answer =
        fixture.send(
            "DELETE", "/api/vm/orgs/o%2541/ssh-keys/k%C3%A9", null, "Authorization", "Bearer all");
    assertEquals("o%41", json(answer).getString("org"));
    assertEquals("ké", json(answer).getString("key_id"));
  }

  @Test
  void aMissingOrUnknownTokenIsUnauthorized() {
    HttpResponse<String> missing = fixture.send("GET", "/api/vm/capacity", null);
    refused(ErrorCode.UNAUTHORIZED, missing);
    assertEquals("Bearer", header(missing, "www-authenticate"));
    refused(
        ErrorCode.UNAUTHORIZED,
        fixture.send("GET", "/api/whoami", null, "Authorization", "Bearer nobody"));
  }

  @Test
  void aTokenWithoutTheScopeIsForbidden() {
    refused(
        ErrorCode.FORBIDDEN,
        fixture.send("PUT", "/api/vm/capacity", "{", "Authorization", "Bearer readonly"));
    refused(
        ErrorCode.FORBIDDEN,
        fixture.send("GET", "/api/vm/capacity", null, "Authorization", "Bearer bare"));
  }

  @Test
  void anyTokenDoesWhereNoScopeIsNamed() {
    assertEquals(
        200, fixture.send("GET", "/api/whoami", null, "Authorization", "Bearer bare").statusCode());
  }

  @Test
  void anUnknownPathIsNotFound() {
    refused(ErrorCode.NOT_FOUND, fixture.get("/api/vm/nothing"));
    refused(ErrorCode.NOT_FOUND, fixture.get("/nothing"));
    refused(ErrorCode.NOT_FOUND, fixture.get("/api/vm/capacity/"));
  }

  @Test
  void anotherMethodIsToldWhichOnesThereAre() {
    HttpResponse<String> answer =
        fixture.send("DELETE", "/api/vm/capacity", null, "Authorization", "Bearer all");
    refused(ErrorCode.METHOD_NOT_ALLOWED, answer);
    assertEquals("GET, HEAD, PUT", header(answer, "allow"));
  }

  @Test
  void headAnswersAsGetWithoutABody() {
    HttpResponse<String> get = fixture.get("/api/whoami");
    HttpResponse<String> head =
        fixture.send("HEAD", "/api/whoami", null, "Authorization", "Bearer all");
    assertEquals(200, head.statusCode());
    assertEquals("", head.body());
    assertEquals(header(get, "content-length"), header(head, "content-length"));
  }

  @Test
  void everyAnswerHasItsOwnRequestId() {
    assertNotEquals(
        header(fixture.get("/api/whoami"), "x-request-id"),
        header(fixture.get("/api/whoami"), "x-request-id"));
  }

  @Test
  void acceptThatExcludesJsonIsRefused() {
    refused(
        ErrorCode.NOT_ACCEPTABLE,
        fixture.send(
            "GET", "/api/whoami", null, "Authorization", "Bearer all", "Accept", "text/html"));
    refused(
        ErrorCode.NOT_ACCEPTABLE,
        fixture.send(
            "GET",
            "/api/whoami",
            null,
            "Authorization",
            "Bearer all",
            "Accept",
            "application/json;q=0, */*"));
    assertEquals(
        200,
        fixture
            .send(
                "GET",
                "/api/whoami",
                null,
                "Authorization",
                "Bearer all",
                "Accept",
                "text/html, application/*;q=0.1")
            .statusCode());
  }

  @Test
  void aKnownValidatorIsAnswered304() {
    fixture.behave(call -> Future.succeededFuture(EdgeFixture.encoded("{}", "\"v1\"")));
    assertEquals("\"v1\"", header(fixture.get("/api/vm/capacity"), "etag"));
    HttpResponse<String> same =
        fixture.send(
            "GET",
            "/api/vm/capacity",
            null,
            "Authorization",
            "Bearer all",
            "If-None-Match",
            "\"v0\", W/\"v1\"");
    assertEquals(304, same.statusCode());
    assertEquals("\"v1\"", header(same, "etag"));
    assertEquals("", same.body());
  }

  @Test
  void aRefusalCarriesItsExtrasAndRetryAfter() {
    fixture.behave(
        call -> {
          throw ApiException.retryLater(ErrorCode.RATE_LIMITED, "too soon", 1_500).with("more", 7);
        });
    HttpResponse<String> answer = fixture.get("/api/whoami");
    refused(ErrorCode.RATE_LIMITED, answer);
    assertEquals(2, json(answer).getInteger("retry_after_s"));
    assertEquals("2", header(answer, "retry-after"));
    assertEquals(7, json(answer).getInteger("more"));
  }

  @Test
  void anotherPackagesExceptionIsTranslated() {
    fixture.behave(call -> Future.failedFuture(new EdgeFixture.StoreUnreachableException()));
    HttpResponse<String> answer = fixture.get("/api/whoami");
    refused(ErrorCode.OVERLOADED, answer);
    assertEquals("1", header(answer, "retry-after"));
  }

  @Test
  void nothingInternalLeavesWithAFault() {
    fixture.behave(
        call -> {
          throw new IllegalStateException("jdbc:secret");
        });
    HttpResponse<String> answer = fixture.get("/api/whoami");
    refused(ErrorCode.INTERNAL, answer);
    assertFalse(answer.body().contains("secret"));
    assertTrue(answer.body().contains(header(answer, "x-request-id")));
  }

  @Test
  void anAnswerMayComeFromAnotherThread() {
    fixture.behave(
        call ->
            Future.future(
                promise ->
                    new Thread(
                            () -> promise.complete(Answer.ok(new JsonObject().put("late", true))))
                        .start()));
    assertTrue(json(fixture.get("/api/whoami")).getBoolean("late"));
  }

  @Test
  void requestsAreCountedByOperationAndStatus() {
    fixture.get("/api/market/feed");
    Scrape scrape = Scrape.of(fixture.signals);
    assertTrue(scrape.has("bourse_http_requests_total", "operation=\"readMarketFeed\"", "status="));
    assertTrue(scrape.has("bourse_http_request_seconds_count", "operation=\"readMarketFeed\""));
  }

  @Test
  void aWrongMethodIsToldTheRightOnes() {
    HttpResponse<String> answer = fixture.send("PATCH", "/api/vm/capacity", "{}");
    refused(ErrorCode.METHOD_NOT_ALLOWED, answer);
    assertEquals(
        "PATCH is not among this route's methods; expected GET, HEAD, PUT",
        json(answer).getString("detail"));
    answer = fixture.send("POST", "/llms.txt", "x");
    assertEquals(
        "POST is not among this route's methods; expected GET, HEAD",
        json(answer).getString("detail"));
  }
}
