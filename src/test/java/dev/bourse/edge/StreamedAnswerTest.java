package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static dev.bourse.edge.EdgeFixture.json;
import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Scrape;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Responses in pieces: for normal, stuck and disconnecting clients, and faults on the way. */
class StreamedAnswerTest {
  private static final String PATH = "/api/org/activity";

  /** More than the buffers of both ends of a socket hold. */
  private static final Buffer LARGE = Buffer.buffer("x".repeat(4 << 20));

  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture = new EdgeFixture(EdgeFixture.hasty());
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  /** Counts the requested pieces of one response. */
  private static final class Source implements Pieces {
    private final IntFunction<Future<Optional<Buffer>>> made;
    final AtomicInteger asked = new AtomicInteger();

    Source(IntFunction<Future<Optional<Buffer>>> made) {
      this.made = made;
    }

    @Override
    public Future<Optional<Buffer>> next() {
      return made.apply(asked.getAndIncrement());
    }
  }

  private static Future<Optional<Buffer>> piece(String text) {
    return Future.succeededFuture(Optional.of(Buffer.buffer(text)));
  }

  private static Future<Optional<Buffer>> end() {
    return Future.succeededFuture(Optional.empty());
  }

  private static Source answering(IntFunction<Future<Optional<Buffer>>> made) {
    Source source = new Source(made);
    fixture.behave(call -> Future.succeededFuture(new Answer.Streamed(source)));
    return source;
  }

  private static HttpResponse<String> get(String accept) {
    return fixture.send("GET", PATH, null, "Authorization", "Bearer all", "Accept", accept);
  }

  private static String request(String version) {
    return request("GET", version);
  }

  private static String request(String method, String version) {
    return method
        + " "
        + PATH
        + " "
        + version
        + "\r\nHost: x\r\nAuthorization: Bearer all\r\nAccept: text/csv\r\n\r\n";
  }

  private static double inFlight() {
    return Scrape.of(fixture.signals).sum("bourse_http_requests_in_flight");
  }

  @Test
  void piecesArriveInOrderInTheMediaTypeTheClientPrefers() {
    for (String type : List.of("text/csv", "application/x-ndjson")) {
      Source fresh = answering(i -> i < 3 ? piece("line " + i + "\n") : end());
      HttpResponse<String> answer = get(type);
      assertEquals(200, answer.statusCode());
      assertEquals("line 0\nline 1\nline 2\n", answer.body());
      assertEquals(type, header(answer, "content-type"));
      assertEquals("no-store", header(answer, "cache-control"));
      assertFalse(header(answer, "x-request-id").isEmpty());
      assertEquals(4, fresh.asked.get());
    }
  }

  @Test
  void anAcceptHeaderThatFitsNoMediaTypeIsRefused() {
    HttpResponse<String> answer = get("text/html");
    assertEquals(406, answer.statusCode());
    for (String type : List.of("application/json", "application/x-ndjson", "text/csv")) {
      assertTrue(answer.body().contains(type), answer.body());
    }
  }

  @Test
  void anAnswerOfNoPiecesIsEmptyAndWhole() {
    answering(i -> end());
    HttpResponse<String> answer = get("text/csv");
    assertEquals(200, answer.statusCode());
    assertEquals("", answer.body());
    assertEquals("0", header(answer, "content-length"));
  }

  @Test
  void aHundredThousandPiecesThatAreReadyAtOnceDoNotOverflowTheStack() {
    answering(i -> i < 100_000 ? piece("x") : end());
    assertEquals(100_000, get("text/csv").body().length());
  }

  @Test
  void piecesMayComeFromAnotherThread() {
    answering(
        i -> {
          Promise<Optional<Buffer>> later = Promise.promise();
          new Thread(
                  () ->
                      later.complete(
                          i < 5 ? Optional.of(Buffer.buffer("p" + i)) : Optional.empty()))
              .start();
          return later.future();
        });
    assertEquals("p0p1p2p3p4", get("text/csv").body());
  }

  @Test
  void aFaultBeforeTheFirstPieceIsAnErrorLikeAnyOther() {
    answering(i -> Future.failedFuture(new EdgeFixture.StoreUnreachableException()));
    HttpResponse<String> away = get("text/csv");
    assertEquals(503, away.statusCode());
    assertEquals("application/json", header(away, "content-type"));
    assertEquals("overloaded", json(away).getString("error"));
    answering(
        i -> {
          throw ApiException.of(ErrorCode.NOT_FOUND, "nothing");
        });
    assertEquals(404, get("text/csv").statusCode());
    answering(
        i -> {
          throw new IllegalStateException("secret");
        });
    HttpResponse<String> fault = get("text/csv");
    assertEquals(500, fault.statusCode());
    assertFalse(fault.body().contains("secret"));
  }

  @Test
  void aFaultThatComesLateAndFromAnotherThreadIsStillAnError() {
    fixture.behave(
        call ->
            Future.future(
                promise ->
                    new Thread(
                            () ->
                                promise.complete(
                                    new Answer.Streamed(
                                        () -> {
                                          throw new IllegalStateException("secret");
                                        })))
                        .start()));
    assertEquals(500, get("text/csv").statusCode());
  }

  @Test
  void aFaultMidwayEndsTheConnectionWithoutTheEndOfTheAnswer() throws IOException {
    for (boolean thrown : new boolean[] {false, true}) {
      answering(
          i -> {
            if (i < 2) {
              return piece("line " + i + "\n");
            }
            if (thrown) {
              throw new IllegalStateException("lost");
            }
            return Future.failedFuture("lost");
          });
      try (RawClient client = new RawClient(fixture.port())) {
        String answer = client.send(request("HTTP/1.1")).untilClosed();
        assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
        assertTrue(answer.contains("line 1\n"), answer);
        assertFalse(answer.endsWith("0\r\n\r\n"), answer);
      }
    }
    until("nothing is in flight", () -> inFlight() == 0);
  }

  @Test
  void headAnswersTheSameHeadersAndAsksForNothingMore() throws IOException {
    Source source = answering(i -> piece("endless"));
    try (RawClient client = new RawClient(fixture.port())) {
      String head = client.send(request("HEAD", "HTTP/1.1")).until("\r\n\r\n");
      assertTrue(head.startsWith("HTTP/1.1 200 "), head);
      assertTrue(head.contains("content-type: text/csv"), head);
      assertFalse(head.contains("endless"), head);
      assertEquals(1, source.asked.get());
      answering(i -> end());
      client.send(request("HTTP/1.1")).until("content-length: 0");
    }
  }

  @Test
  void theConnectionServesOnAfterAStreamedAnswer() throws IOException {
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Streamed(new Source(i -> i < 3 ? piece("line " + i + "\n") : end()))));
    try (RawClient client = new RawClient(fixture.port())) {
      for (int i = 0; i < 3; i++) {
        client.send(request("HTTP/1.1")).until("\r\n0\r\n\r\n");
      }
      // Two at once: the second waits for the end of the first.
      String both =
          client.send(request("HTTP/1.1") + request("HTTP/1.1")).until("0\r\n\r\nHTTP/1.1");
      assertTrue(both.contains("line 2\n"), both);
      client.until("\r\n0\r\n\r\n");
    }
  }

  @Test
  void anIdleConnectionIsCutOffAfterAStreamedAnswerAsAfterAnyOther() throws IOException {
    answering(i -> i < 3 ? piece("line " + i + "\n") : end());
    try (RawClient client = new RawClient(fixture.port())) {
      assertTrue(client.send(request("HTTP/1.1")).untilClosed().endsWith("0\r\n\r\n"));
    }
  }

  @Test
  void anOldClientIsToldTheEndByTheEndOfTheConnection() throws IOException {
    answering(i -> i < 3 ? piece("line " + i + "\n") : end());
    try (RawClient client = new RawClient(fixture.port())) {
      String answer =
          client
              .send(request("HTTP/1.0").replace("\r\n\r\n", "\r\nConnection: keep-alive\r\n\r\n"))
              .untilClosed();
      assertTrue(answer.endsWith("\r\n\r\nline 0\nline 1\nline 2\n"), answer);
      assertFalse(answer.contains("transfer-encoding"), answer);
    }
  }

  @Test
  void anOperationMayTakeLongerThanASilentConnectionLives() throws IOException {
    answering(
        i ->
            i == 0
                ? fixture
                    .vertx
                    .timer(1, TimeUnit.SECONDS)
                    .map(late -> Optional.of(Buffer.buffer("late\n")))
                : end());
    try (RawClient client = new RawClient(fixture.port())) {
      assertTrue(client.send(request("HTTP/1.1")).untilClosed().contains("late\n"));
    }
  }

  @Test
  void aClientThatDoesNotReadHoldsOnePieceAndIsCutOff() throws IOException {
    Source source = answering(i -> Future.succeededFuture(Optional.of(LARGE.copy())));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(request("HTTP/1.1"));
      until("the answer is under way", () -> source.asked.get() > 0);
      until("it is given up", () -> inFlight() == 0);
      int asked = source.asked.get();
      assertEquals(1, asked, "the buffers of the sockets do not take one piece");
      // When it reads again, it finds an incomplete piece.
      assertTrue(client.readSlowly(0, 1 << 16) < LARGE.length());
      assertEquals(asked, source.asked.get());
    }
  }

  @Test
  void aClientThatDoesNotReadAndGoesOnSendingIsCutOffToo() throws IOException {
    Source source = answering(i -> Future.succeededFuture(Optional.of(LARGE.copy())));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(request("HTTP/1.1") + "GET / HTTP/1.1\r\nX: ");
      until("the answer is under way", () -> source.asked.get() > 0);
      until(
          "it is given up",
          () -> {
            try {
              client.send("x");
            } catch (IOException closed) {
              return inFlight() == 0;
            }
            return inFlight() == 0;
          });
    }
  }

  @Test
  void aClientThatReadsSlowlyIsServedToTheEnd() throws IOException {
    answering(i -> i < 10 ? Future.succeededFuture(Optional.of(LARGE.copy())) : end());
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(request("HTTP/1.1"));
      long length = client.readSlowly(60, 2 << 20);
      assertTrue(length > 10L * LARGE.length(), "whole, but " + length);
    }
  }

  @Test
  void nothingIsReadForAClientThatLeft() throws IOException {
    Promise<Optional<Buffer>> second = Promise.promise();
    Source source = answering(i -> i == 0 ? piece("first") : second.future());
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(request("HTTP/1.1")).until("first");
      until("the second is asked for", () -> source.asked.get() == 2);
    }
    // After its close is detected, a piece cannot be sent and none is requested.
    second.complete(Optional.of(Buffer.buffer("second")));
    until("nothing is in flight", () -> inFlight() == 0);
    int asked = source.asked.get();
    assertEquals("HTTP/1.1 404", statusOfAnother());
    assertEquals(asked, source.asked.get());
  }

  @Test
  void aClientThatLeavesBeforeTheFirstPieceIsForgotten() throws IOException {
    Promise<Optional<Buffer>> first = Promise.promise();
    Source source = answering(i -> first.future());
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(request("HTTP/1.1"));
      until("the first is asked for", () -> source.asked.get() == 1);
    }
    until("nothing is in flight", () -> inFlight() == 0);
    first.complete(Optional.of(Buffer.buffer("late")));
    answering(i -> i < 1 ? piece("next") : end());
    assertEquals("next", get("text/csv").body());
    assertEquals(1, source.asked.get());
  }

  /** Serves another client, so that pending work gets its turn. */
  private static String statusOfAnother() {
    return "HTTP/1.1 " + fixture.get("/nothing").statusCode();
  }
}
