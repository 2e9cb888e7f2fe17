package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.logs.RequestContext;
import dev.bourse.testing.LogCapture;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The log of slow requests. */
class SlowRequestsTest {
  private final AtomicLong nanos = new AtomicLong();

  private RequestContext request() {
    return new RequestContext("r", "", nanos::get);
  }

  private static long millis(long length) {
    return TimeUnit.MILLISECONDS.toNanos(length);
  }

  private static EdgeConfig slowAt(long millis) {
    return new EdgeConfig(
        "127.0.0.1",
        0,
        "",
        "",
        0,
        0,
        0,
        Set.of(),
        false,
        EdgeLimits.standard(),
        millis,
        Optional.empty());
  }

  @Test
  void aSlowRequestIsToldWithWhereItsTimeWent() {
    RequestContext request = request();
    request.recordWait(RequestContext.Wait.BODY, 0, millis(100));
    request.recordWait(RequestContext.Wait.OWNER, 0, millis(200));
    request.recordWait(RequestContext.Wait.STORE_QUEUE, 0, millis(300));
    request.recordWait(RequestContext.Wait.STORE, 0, millis(150));
    request.recordWait(RequestContext.Wait.STORE, 0, millis(250));
    try (LogCapture log = new LogCapture()) {
      new SlowRequests(1_000).answered(request, 200, millis(1_500));
      assertEquals(
          """
          slow request: status 200 after 1500 ms: 100 for the body, 200 in the owner's queue, 300 in \
          the store's queue, 400 in the store, 500 elsewhere\
          """,
          log.lines().get(0).getString("message"));
    }
  }

  @Test
  void aRequestThatIsJustQuickEnoughIsNotTold() {
    try (LogCapture log = new LogCapture()) {
      new SlowRequests(1_000).answered(request(), 200, millis(1_000) - 1);
      assertEquals(List.of(), log.lines());
    }
  }

  @Test
  void byZeroNoneIsTold() {
    try (LogCapture log = new LogCapture()) {
      new SlowRequests(0).answered(request(), 200, millis(1_000_000));
      assertEquals(List.of(), log.lines());
    }
  }

  @Test
  void waitingForAChangeIsNotSlow() {
    RequestContext request = request();
    request.recordWait(RequestContext.Wait.CHANGE, 0, millis(24_500));
    try (LogCapture log = new LogCapture()) {
      new SlowRequests(1_000).answered(request, 200, millis(25_000));
      assertEquals(List.of(), log.lines());
    }
  }

  @Test
  void manyAreNotToldButCounted() {
    SlowRequests slow = new SlowRequests(1_000);
    try (LogCapture log = new LogCapture()) {
      for (int i = 0; i < 100_000; i++) {
        slow.answered(request(), 200, millis(2_000));
      }
      slow.report(nanos.addAndGet(TimeUnit.SECONDS.toNanos(59)));
      assertEquals(SlowRequests.PER_MINUTE, log.lines().size());
      slow.report(nanos.addAndGet(TimeUnit.SECONDS.toNanos(1)));
      slow.report(nanos.get());
      assertEquals(SlowRequests.PER_MINUTE + 1, log.lines().size());
      assertTrue(
          log.lines()
              .get(SlowRequests.PER_MINUTE)
              .getString("message")
              .startsWith("omitted 99970 more slow requests"));
      slow.answered(request(), 200, millis(2_000));
      assertEquals(SlowRequests.PER_MINUTE + 2, log.lines().size());
    }
  }

  @Test
  void aSlowOperationOfTheApiIsTold() {
    try (EdgeFixture fixture = new EdgeFixture(slowAt(20));
        LogCapture log = new LogCapture()) {
      fixture.behave(
          call ->
              fixture
                  .vertx
                  .timer(40, TimeUnit.MILLISECONDS)
                  .map(due -> EdgeFixture.encoded("{}", "\"e\"")));
      fixture.get("/api/whoami");
      assertEquals("whoami", log.await("slow request: status 200").getString("operation"));
    }
  }

  @Test
  void aSlowAnswerInPiecesIsNotTold() {
    try (EdgeFixture fixture = new EdgeFixture(slowAt(20));
        LogCapture log = new LogCapture()) {
      int[] asked = {0};
      fixture.behave(
          call ->
              Future.succeededFuture(
                  new Answer.Streamed(
                      () ->
                          fixture
                              .vertx
                              .timer(40, TimeUnit.MILLISECONDS)
                              .map(
                                  due ->
                                      asked[0]++ < 2
                                          ? Optional.of(Buffer.buffer("x"))
                                          : Optional.empty()))));
      assertEquals(200, fixture.get("/api/whoami").statusCode());
      // A slow request that is logged follows, so the log was not merely late.
      fixture.behave(
          call ->
              fixture
                  .vertx
                  .timer(40, TimeUnit.MILLISECONDS)
                  .map(due -> EdgeFixture.encoded("{}", "\"e\"")));
      fixture.get("/api/whoami");
      log.await("slow request: status 200");
      assertEquals(
          1,
          log.lines().stream()
              .filter(line -> line.getString("message").startsWith("slow request"))
              .count());
    }
  }
}
