package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.edge.limits.SharedBudgets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Processes with shared budgets when the shared server fails. */
class SharedBudgetOutageTest extends SharedBudgetFixture {
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
    try (EdgeFixture fixture = serve(10, PATIENT_MILLIS)) {
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
      redis.freeze();
      for (int i = 0; i < SharedBudgets.MAX_FAILURES; i++) {
        assertEquals(200, status(fixture));
      }
      until("it is given up", () -> !isUp(fixture));
      int unasked = 200;
      long start = System.nanoTime();
      for (int i = 0; i < unasked; i++) {
        assertEquals(200, status(fixture));
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertTrue(millis < unasked * timeoutMillis, millis + " ms for " + unasked);
      assertEquals(before + SharedBudgets.MAX_FAILURES + unasked, fallbacks(fixture));
      redis.thaw();
      until("it is shared again", () -> isUp(fixture));
    }
  }

  @Test
  void aServerThatAcceptsAndNeverAnswersIsNotWaitedFor() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "redis://127.0.0.1:" + silent.getLocalPort();
      try (EdgeFixture fixture =
          serve(10, SharedBudgetConfig.parse(url, "", 50), Clock.systemUTC())) {
        assertEquals(200, status(fixture));
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
        untilShared(fixture);
        assertEquals(200, status(fixture));
        assertEquals(0, fallbacks(fixture));
      }
    }
  }
}
