package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.testing.LogCapture;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The id of a request, in its response and in the log. */
class RequestLogTest extends EchoFixture {
  private static final Logger LOG = LoggerFactory.getLogger(RequestLogTest.class);
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final Answer EMPTY = EdgeFixture.encoded("{}", "\"e\"");

  private static HttpResponse<String> ask(String... headers) {
    List<String> all = new ArrayList<>(List.of("Authorization", "Bearer all"));
    all.addAll(List.of(headers));
    return fixture.send("GET", "/api/whoami", null, all.toArray(String[]::new));
  }

  private static void isOf(JsonObject line, String id) {
    assertEquals(id, line.getString("request_id"), line.encode());
    assertEquals("org_1", line.getString("org"), line.encode());
    assertEquals("whoami", line.getString("operation"), line.encode());
  }

  @Test
  void theClientsRequestIdIsKept() {
    for (String id : List.of("7f3a:9.b-c/d=+", "x".repeat(128))) {
      assertEquals(id, header(ask("X-Request-Id", id), "x-request-id"));
    }
  }

  @Test
  void aRequestIdThatIsNoneIsReplaced() {
    String secret = "brs_abcDEF123456_0123456789abcdefghijABCDEFGHIJ12345678";
    for (String id : List.of("", "a b", "a;b", "<script>", "x".repeat(129), secret)) {
      String made = header(ask("X-Request-Id", id), "x-request-id");
      assertFalse(made.isEmpty());
      assertNotEquals(id, made);
    }
  }

  @Test
  void aRefusalHasTheClientsRequestIdToo() {
    HttpResponse<String> answer =
        fixture.send("GET", "/api/whoami", null, "X-Request-Id", "refused-1");
    assertEquals(401, answer.statusCode());
    assertEquals("refused-1", header(answer, "x-request-id"));
  }

  @Test
  void aLineOfAnOperationNamesItsRequest() {
    fixture.behave(
        call -> {
          LOG.info("at work");
          return Future.succeededFuture(EMPTY);
        });
    try (LogCapture log = new LogCapture()) {
      ask("X-Request-Id", "r-1", "traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01");
      JsonObject line = log.await("at work");
      isOf(line, "r-1");
      assertEquals(TRACE, line.getString("trace_id"));
    }
  }

  @Test
  void aLineOfAWorkerNamesTheRequestThatItWorksFor() {
    fixture.behave(
        call ->
            fixture.vertx.executeBlocking(
                () -> {
                  LOG.info("on a worker");
                  return EMPTY;
                }));
    try (LogCapture log = new LogCapture()) {
      ask("X-Request-Id", "r-2");
      isOf(log.await("on a worker"), "r-2");
    }
  }

  @Test
  void aLineOfAnAnswerThatComesFromElsewhereNamesItsRequest() {
    fixture.behave(
        call -> {
          Promise<Answer> late = Promise.promise();
          CompletableFuture.runAsync(() -> late.fail(new IllegalStateException("broken")));
          return late.future();
        });
    try (LogCapture log = new LogCapture()) {
      ask("X-Request-Id", "r-3");
      isOf(log.await("failed"), "r-3");
    }
  }

  @Test
  void aLineOfATimerThatBelongsToNoRequestNamesNone() {
    try (LogCapture log = new LogCapture()) {
      fixture.vertx.setTimer(1, due -> LOG.info("by itself"));
      assertNull(log.await("by itself").getString("request_id"));
    }
  }

  @Test
  void requestsAtATimeDoNotMixUp() {
    fixture.behave(
        call ->
            fixture
                .vertx
                .timer(20, TimeUnit.MILLISECONDS)
                .map(
                    due -> {
                      LOG.info("for {}", call.header("x-request-id").orElseThrow());
                      return EMPTY;
                    }));
    try (LogCapture log = new LogCapture()) {
      List<CompletableFuture<Void>> asked =
          IntStream.range(0, 20)
              .mapToObj(i -> CompletableFuture.runAsync(() -> ask("X-Request-Id", "at-once-" + i)))
              .toList();
      asked.forEach(CompletableFuture::join);
      for (int i = 0; i < 20; i++) {
        String id = "at-once-" + i;
        isOf(log.await(id, line -> line.getString("message").equals("for " + id)), id);
      }
    }
  }

  @Test
  void nobodyForgesALineByAName() {
    String forged = "x\n{\"level\":\"ERROR\"}";
    fixture.behave(
        call -> {
          LOG.info("hello {}", call.findText("cluster").orElse("") + forged);
          return Future.succeededFuture(EMPTY);
        });
    try (LogCapture log = new LogCapture()) {
      ask();
      assertEquals("hello " + forged, log.await("hello").getString("message"));
      assertEquals(
          1,
          log.lines().stream().filter(line -> line.getString("message").contains("hello")).count(),
          log.text());
    }
  }
}
