package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static dev.bourse.edge.EdgeFixture.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes that share what a token may spend, and what they do without the server they share. */
class SharedBudgetTest {
  /** Enough for a busy machine; tests of slowness set their own. */
  private static final long PATIENT_MILLIS = 1_000;

  private RedisServer redis;

  @BeforeEach
  void startServer() throws IOException {
    redis = RedisServer.start();
  }

  @AfterEach
  void stopServer() throws IOException {
    redis.close();
  }

  private static EdgeFixture serve(int perToken, SharedBudgetConfig sharing, Clock clock) {
    return new EdgeFixture(
        new EdgeConfig("127.0.0.1", 0, "", perToken, 0, 0, Set.of(), EdgeLimits.standard()),
        new Sources(clock, System::nanoTime, new Random(1)),
        sharing);
  }

  private EdgeFixture serve(int perToken, long timeoutMillis) {
    return serve(
        perToken, SharedBudgetConfig.parse(redis.url(), "", timeoutMillis), Clock.systemUTC());
  }

  private EdgeFixture serve(int perToken) {
    return serve(perToken, PATIENT_MILLIS);
  }

  private static int status(EdgeFixture fixture) {
    return fixture.get("/api/whoami").statusCode();
  }

  private static double fallbacks(EdgeFixture fixture) {
    double sum = 0;
    for (MetricSnapshot metric : fixture.metrics.registry().scrape()) {
      if (metric instanceof CounterSnapshot counter
          && metric.getMetadata().getName().equals("bourse_shared_budget_fallbacks")) {
        sum += counter.getDataPoints().stream().mapToDouble(point -> point.getValue()).sum();
      }
    }
    return sum;
  }

  private static boolean isUp(EdgeFixture fixture) {
    return gauge(fixture, "bourse_shared_budget_up") == 1;
  }

  private static double gauge(EdgeFixture fixture, String name) {
    for (MetricSnapshot metric : fixture.metrics.registry().scrape()) {
      if (metric instanceof GaugeSnapshot gauge && metric.getMetadata().getName().equals(name)) {
        return gauge.getDataPoints().get(0).getValue();
      }
    }
    throw new AssertionError("no gauge " + name);
  }

  private static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not within 20 s: " + what);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  @Test
  void twoServicesShareOneBudget() {
    FakeClock clock = new FakeClock(1_800_000_000_000L);
    SharedBudgetConfig sharing = SharedBudgetConfig.parse(redis.url(), "", PATIENT_MILLIS);
    try (EdgeFixture first = serve(6, sharing, clock);
        EdgeFixture second = serve(6, sharing, clock)) {
      for (int i = 0; i < 3; i++) {
        assertEquals(200, status(first));
        assertEquals(200, status(second));
      }
      for (EdgeFixture each : List.of(first, second)) {
        HttpResponse<String> answer = each.get("/api/whoami");
        assertEquals(429, answer.statusCode());
        assertEquals("rate-limited", json(answer).getString("error"));
        assertEquals("10", header(answer, "retry-after"));
        assertEquals("\"default\";r=0;t=60", header(answer, "ratelimit"));
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
      // An operation looks its item up before it reads: by then the body has long arrived.
      fixture.behave(
          call ->
              fixture
                  .vertx
                  .executeBlocking(() -> "found")
                  .compose(
                      found -> call.bytes().read(4, (bytes, from, to) -> Future.succeededFuture()))
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
      redis.fallSilent(300);
      for (int i = 0; i < 20; i++) {
        try (RawClient client = new RawClient(fixture.port())) {
          client.send(
              "PUT /api/vm/capacity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n"
                  + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\"");
        }
      }
      until("none is left", () -> gauge(fixture, "bourse_http_requests_in_flight") == 0);
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
  void whenTheServerIsAwayEachServiceCountsForItselfAndSharesAgainOnceItIsBack()
      throws IOException {
    try (EdgeFixture first = serve(4);
        EdgeFixture second = serve(4)) {
      assertEquals(200, status(first));
      redis.stop();
      until("both noticed", () -> !isUp(first) && !isUp(second));
      for (EdgeFixture each : List.of(first, second)) {
        for (int i = 0; i < 4; i++) {
          assertEquals(200, status(each));
        }
        assertEquals(429, status(each));
        assertEquals(5, fallbacks(each));
      }
      redis.startAgain();
      until("both are back", () -> isUp(first) && isUp(second));
      for (int i = 0; i < 2; i++) {
        assertEquals(200, status(first));
        assertEquals(200, status(second));
      }
      assertEquals(429, status(first));
      assertEquals(429, status(second));
      assertEquals(5, fallbacks(first));
    }
  }

  @Test
  void aServiceThatStartsWithoutTheServerFindsItLater() throws IOException {
    redis.stop();
    try (EdgeFixture fixture = serve(10)) {
      assertEquals(200, status(fixture));
      assertEquals(1, fallbacks(fixture));
      redis.startAgain();
      until("it is found", () -> isUp(fixture));
    }
  }

  @Test
  void aServerThatFallsSilentIsWaitedForAFewTimesAndThenNoMore() throws IOException {
    long timeoutMillis = 200;
    try (EdgeFixture fixture = serve(1_000, timeoutMillis)) {
      until("it is shared", () -> isUp(fixture) && status(fixture) == 200);
      double before = fallbacks(fixture);
      redis.fallSilent(4_000);
      for (int i = 0; i < SharedBudgets.MAX_FAILURES; i++) {
        long start = System.nanoTime();
        assertEquals(200, status(fixture));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(millis < timeoutMillis + 1_000, millis + " ms");
      }
      until("it is given up", () -> !isUp(fixture));
      long start = System.nanoTime();
      for (int i = 0; i < 50; i++) {
        assertEquals(200, status(fixture));
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertTrue(millis < 50 * timeoutMillis / 2, millis + " ms for 50");
      assertEquals(before + SharedBudgets.MAX_FAILURES + 50, fallbacks(fixture));
      until("it is shared again", () -> isUp(fixture));
    }
  }

  @Test
  void aServerThatAcceptsAndNeverAnswersIsNotWaitedFor() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "redis://127.0.0.1:" + silent.getLocalPort();
      long start = System.nanoTime();
      try (EdgeFixture fixture =
          serve(10, SharedBudgetConfig.parse(url, "", 50), Clock.systemUTC())) {
        assertEquals(200, status(fixture));
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10));
        assertEquals(1, fallbacks(fixture));
      }
    }
  }

  @Test
  void aServerThatAnswersWithAnErrorIsAsGoodAsNone() throws IOException {
    try (EdgeFixture fixture = serve(100)) {
      assertEquals(200, status(fixture));
      assertEquals("+OK", redis.ask("CONFIG SET maxmemory 1"));
      for (int i = 0; i < 20; i++) {
        assertEquals(200, status(fixture));
      }
      assertEquals(20, fallbacks(fixture));
      assertFalse(isUp(fixture));
      assertEquals("+OK", redis.ask("CONFIG SET maxmemory 0"));
      until("it is shared again", () -> isUp(fixture));
      assertEquals(200, status(fixture));
      assertEquals(20, fallbacks(fixture));
    }
  }

  @Test
  void withAWrongPasswordTheServiceServesAllTheSame() throws IOException {
    try (RedisServer guarded = RedisServer.start("requirepass secret")) {
      for (String password : List.of("", "wrong")) {
        try (EdgeFixture fixture =
            serve(
                10,
                SharedBudgetConfig.parse(guarded.url(), password, PATIENT_MILLIS),
                Clock.systemUTC())) {
          assertFalse(isUp(fixture));
          assertEquals(200, status(fixture));
          assertEquals(1, fallbacks(fixture));
        }
      }
      try (EdgeFixture fixture =
          serve(
              10,
              SharedBudgetConfig.parse(guarded.url(), "secret", PATIENT_MILLIS),
              Clock.systemUTC())) {
        assertTrue(isUp(fixture));
        assertEquals(200, status(fixture));
        assertEquals(0, fallbacks(fixture));
      }
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
    EdgeMetrics metrics = new EdgeMetrics();
    SharedBudgets shared =
        SharedBudgets.open(
                vertx,
                SharedBudgetConfig.parse(redis.url(), "", PATIENT_MILLIS),
                1_000_000,
                Clock.systemUTC(),
                metrics)
            .await();
    Budgets local = new Budgets(1_000_000, 1_000_000, "token", System::nanoTime);
    try {
      shared.spend("warm", local).await();
      redis.fallSilent(600);
      spendTooOften(shared, local);
    } finally {
      shared.close().await();
      vertx.close().await();
    }
  }

  private static void spendTooOften(SharedBudgets shared, Budgets local) {
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < SharedBudgets.MAX_WAITING; i++) {
      waiting.add(shared.spend("token" + i % 7, local));
    }
    assertFalse(waiting.get(0).isComplete());
    assertFalse(waiting.get(waiting.size() - 1).isComplete());
    assertTrue(shared.spend("token", local).isComplete());
    Future.all(waiting).await();
    Future<?> afterwards = shared.spend("token", local);
    assertFalse(afterwards.isComplete());
    afterwards.await();
  }
}
