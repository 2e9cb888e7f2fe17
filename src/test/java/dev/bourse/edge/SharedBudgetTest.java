package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static dev.bourse.edge.EdgeFixture.json;
import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.edge.limits.RequestBudgets;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.signals.Signals;
import dev.bourse.testing.Scrape;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Processes that share token budgets. */
class SharedBudgetTest extends SharedBudgetFixture {
  @Test
  void twoServicesShareOneBudget() {
    FakeClock clock = new FakeClock(1_800_000_000_000L);
    SharedBudgetConfig sharing = SharedBudgetConfig.parse(redis.url(), "", PATIENT_MILLIS);
    try (EdgeFixture first = serve(6, sharing, clock);
        EdgeFixture second = serve(6, sharing, clock)) {
      untilShared(first);
      untilShared(second);
      for (int i = 0; i < 3; i++) {
        assertEquals(200, status(first));
        assertEquals(200, status(second));
      }
      for (EdgeFixture each : List.of(first, second)) {
        HttpResponse<String> answer = each.get("/api/whoami");
        assertEquals(429, answer.statusCode());
        assertEquals("rate-limited", json(answer).getString("error"));
        assertEquals("10", header(answer, "retry-after"));
        assertEquals("\"default\";r=0;t=10", header(answer, "ratelimit"));
        assertEquals("\"default\";q=6;w=60", header(answer, "ratelimit-policy"));
        assertEquals(0, fallbacks(each));
      }
      clock.advance(10_000);
      assertEquals(200, status(first));
      assertEquals(429, status(second));
    }
  }

  @Test
  void bytesWaitForTheirOperationThoughTheBudgetWasAskedForElsewhere() {
    try (EdgeFixture fixture = serve(100)) {
      // The operation looks its item up before it reads, when the body has long arrived.
      fixture.behave(
          call ->
              fixture
                  .vertx
                  .executeBlocking(() -> "found")
                  .compose(
                      found ->
                          call.bytes()
                              .read(
                                  4, Long.MAX_VALUE, (bytes, from, to) -> Future.succeededFuture()))
                  .map(total -> Answer.ok(new JsonObject().put("bytes", total))));
      HttpResponse<String> answer =
          fixture.send(
              "PUT",
              "/api/checkpoints/ckp_1/content",
              "ten bytes.",
              "Authorization",
              "Bearer member");
      assertEquals(200, answer.statusCode(), answer.body());
      assertEquals(10, json(answer).getInteger("bytes"));
      assertEquals(0, fallbacks(fixture));
    }
  }

  @Test
  void racingRequestsToBothAreAcceptedAsOftenAsTheBudgetAllowsAndNoMore() throws Exception {
    FakeClock clock = new FakeClock(1_800_000_000_000L);
    SharedBudgetConfig sharing = SharedBudgetConfig.parse(redis.url(), "", PATIENT_MILLIS);
    ExecutorService callers = Executors.newFixedThreadPool(32);
    try (EdgeFixture first = serve(100, sharing, clock);
        EdgeFixture second = serve(100, sharing, clock)) {
      untilShared(first);
      untilShared(second);
      List<Callable<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        EdgeFixture to = i % 2 == 0 ? first : second;
        calls.add(() -> status(to));
      }
      int accepted = 0;
      for (java.util.concurrent.Future<Integer> call : callers.invokeAll(calls)) {
        accepted += call.get() == 200 ? 1 : 0;
      }
      assertEquals(0, fallbacks(first) + fallbacks(second));
      assertEquals(100, accepted);
    } finally {
      callers.shutdownNow();
    }
  }

  @Test
  void tokensDoNotShareABudgetAndAMissingScopeCostsOne() {
    try (EdgeFixture fixture = serve(1)) {
      assertEquals(200, status(fixture));
      for (int expected : List.of(403, 403)) {
        HttpResponse<String> answer =
            fixture.send("GET", "/api/vm/capacity", null, "Authorization", "Bearer bare");
        assertEquals(expected, answer.statusCode());
        assertTrue(header(answer, "ratelimit").startsWith("\"default\";r=0;"));
      }
      assertEquals(429, status(fixture));
    }
  }

  @Test
  void aBodySentAlongIsReadWholeAndThePipelinedRequestAfterItIsAnswered() throws IOException {
    try (EdgeFixture fixture = serve(100);
        RawClient client = new RawClient(fixture.port())) {
      fixture.behave(
          call ->
              call.principal().tokenId().equals("all")
                  ? EdgeFixture.echoBody(call)
                  : EdgeFixture.echo(call));
      String body =
          "{\"max_gpus\":8,\"max_price_per_gpu_hour\":1.0,\"expected_version\":0"
              + " ".repeat(60_000)
              + "}";
      String put =
          "PUT /api/vm/capacity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n"
              + "Content-Type: application/json\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body;
      String get = "GET /api/whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer bare\r\n";
      String answers =
          client.send(put + put + get + "\r\n" + get + "Connection: close\r\n\r\n").untilClosed();
      assertEquals(4, answers.split("HTTP/1.1 ", -1).length - 1, answers);
      assertEquals(2, answers.split("max_price_per_gpu_hour", -1).length - 1, answers);
      assertTrue(answers.contains("\"default\";r=98;"), answers);
      assertEquals(0, fallbacks(fixture));
    }
  }

  @Test
  void aClientThatLeavesWhileItsBudgetIsAskedForHarmsNobody() throws IOException {
    try (EdgeFixture fixture = serve(100)) {
      redis.freeze();
      for (int i = 0; i < 20; i++) {
        try (RawClient client = new RawClient(fixture.port())) {
          client.send(
              "PUT /api/vm/capacity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n"
                  + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\"");
        }
      }
      redis.thaw();
      until(
          "none is left",
          () -> Scrape.of(fixture.signals).sum("bourse_http_requests_in_flight") == 0);
      assertEquals(200, status(fixture));
    }
  }

  @Test
  void aRequestOverTheBudgetWithABodyIsRefused() {
    try (EdgeFixture fixture = serve(1)) {
      assertEquals(422, fixture.put("{").statusCode());
      assertEquals(429, fixture.put("{").statusCode());
    }
  }

  @Test
  void aBucketIsKeptUnderTheTokensIdAndOnlyUntilItIsFullAgain() throws IOException {
    try (EdgeFixture fixture = serve(60)) {
      assertEquals(200, status(fixture));
      long ttl = Long.parseLong(redis.ask("PTTL bourse:requests:60:all").substring(1));
      assertTrue(ttl > 0 && ttl <= 70_000, ttl + " ms");
    }
  }

  @Test
  void onlySoManyRequestsWaitForTheServer() throws IOException {
    Vertx vertx = Vertx.vertx();
    Signals signals = new Signals();
    SharedBudgets shared =
        SharedBudgets.open(
                vertx,
                SharedBudgetConfig.parse(redis.url(), "", PATIENT_MILLIS),
                1_000_000,
                Clock.systemUTC(),
                signals)
            .await();
    RequestBudgets local =
        new RequestBudgets(1_000_000, 1_000_000, "token", "budget", System::nanoTime);
    try {
      until("it is shared", () -> Scrape.of(signals).sum("bourse_shared_budget_up") == 1);
      shared.spend("warm", local).await();
      redis.freeze();
      spendTooOften(shared, local);
    } finally {
      shared.close().await();
      vertx.close().await();
    }
  }

  private void spendTooOften(SharedBudgets shared, RequestBudgets local) throws IOException {
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < SharedBudgets.MAX_WAITING; i++) {
      waiting.add(shared.spend("token" + i % 7, local));
    }
    assertFalse(waiting.get(0).isComplete());
    assertFalse(waiting.get(waiting.size() - 1).isComplete());
    assertTrue(shared.spend("token", local).isComplete());
    redis.thaw();
    Future.all(waiting).await();
    // Otherwise it may be answered before it is looked at.
    redis.freeze();
    Future<?> afterwards = shared.spend("token", local);
    assertFalse(afterwards.isComplete());
    redis.thaw();
    afterwards.await();
  }
}
