package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.Reading;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Scrape;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** An Error is answered like any fault, wherever it is thrown, and releases its resources. */
class CollapseTest extends EchoFixture {
  private static final String DECLARATION =
      "{\"max_gpus\":8,\"max_price_per_gpu_hour\":1,\"expected_version\":0}";

  private static Future<Answer> overflow() {
    throw new StackOverflowError("secret");
  }

  private static void answeredAndClosed(HttpResponse<String> answer) {
    assertEquals(500, answer.statusCode(), answer.body());
    JsonObject body = EdgeFixture.json(answer);
    assertEquals(ErrorCode.INTERNAL.code(), body.getString("error"));
    assertTrue(body.getString("detail").contains(EdgeFixture.header(answer, "x-request-id")));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (inFlight() != 0) {
      assertTrue(System.nanoTime() < deadline, () -> inFlight() + " requests are never closed");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  private static double inFlight() {
    return Scrape.of(fixture.signals).sum("bourse_http_requests_in_flight");
  }

  @Test
  void anErrorOfAnOperationIsAnswered() {
    fixture.behave(call -> overflow());
    answeredAndClosed(fixture.get("/api/whoami"));
    answeredAndClosed(fixture.put(DECLARATION));
  }

  @Test
  void anErrorOfALaterStepIsAnswered() {
    fixture.behave(call -> Future.succeededFuture().compose(next -> overflow()));
    answeredAndClosed(fixture.get("/api/whoami"));
    fixture.behave(
        call ->
            Future.<Answer>future(
                promise -> fixture.vertx.runOnContext(v -> promise.fail(new AssertionError("x")))));
    answeredAndClosed(fixture.put(DECLARATION));
  }

  @Test
  void anErrorInMakingTheAnswerIsAnswered() {
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Whole(200, Buffer.buffer("{}"), null, Map.of("x-a", "b\u0001\n"))));
    answeredAndClosed(fixture.get("/api/whoami"));
    AtomicInteger closed = new AtomicInteger();
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Download(
                    new Broken(closed), "text/plain", "\"e\"", Map.of("x-a", "b"))));
    answeredAndClosed(fixture.get("/api/whoami"));
    assertEquals(1, closed.get());
  }

  @Test
  void anErrorOfAPieceIsAnswered() {
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Streamed(
                    () -> {
                      throw new StackOverflowError();
                    })));
    answeredAndClosed(fixture.get("/api/whoami"));
  }

  @Test
  void whoTakesABodyMayFailWithAnError() {
    fixture.behave(
        call ->
            call.bytes()
                .read(
                    16,
                    1_000,
                    (block, from, length) -> {
                      throw new StackOverflowError();
                    })
                .map(read -> Answer.ok(new JsonObject())));
    answeredAndClosed(
        fixture.send(
            "PUT", "/api/checkpoints/c/content", "some bytes", "Authorization", "Bearer member"));
  }

  /** Bytes whose reading fails at the start. */
  private record Broken(AtomicInteger closed) implements Reading {
    @Override
    public long length() {
      return 10;
    }

    @Override
    public Optional<FileChannel> file() {
      throw new StackOverflowError();
    }

    @Override
    public Future<Buffer> piece(long offset, int length) {
      return Future.failedFuture(ApiException.of(ErrorCode.INTERNAL, "never"));
    }

    @Override
    public Future<Void> close() {
      closed.incrementAndGet();
      return Future.succeededFuture();
    }
  }
}
