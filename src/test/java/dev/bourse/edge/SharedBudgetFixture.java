package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.testing.Scrape;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A server of shared budgets, and services that use it. */
abstract class SharedBudgetFixture {
  /** The usual timeout, longer than delays of a busy machine; tests of timeouts set their own. */
  static final long PATIENT_MILLIS = 30_000;

  /** Keeps budgets from refilling while a slow machine runs a test. */
  static final Clock STOPPED = Clock.fixed(Instant.ofEpochSecond(1_800_000_000), ZoneOffset.UTC);

  RedisServer redis;

  @BeforeEach
  void startServer() throws IOException {
    redis = RedisServer.start();
  }

  @AfterEach
  void stopServer() throws IOException {
    redis.close();
  }

  static EdgeFixture serve(int perToken, SharedBudgetConfig sharing, Clock clock) {
    return new EdgeFixture(
        new EdgeConfig("127.0.0.1", 0, "", perToken, 0, 0, Set.of(), EdgeLimits.standard()),
        new Sources(clock, System::nanoTime, new Random(1)),
        sharing);
  }

  EdgeFixture serve(int perToken, long timeoutMillis) {
    return serve(perToken, SharedBudgetConfig.parse(redis.url(), "", timeoutMillis), STOPPED);
  }

  /** With a budget that is shared by now. */
  EdgeFixture serve(int perToken) {
    EdgeFixture fixture = serve(perToken, PATIENT_MILLIS);
    untilShared(fixture);
    return fixture;
  }

  /** The first attempt to connect, which loads the client's classes, may take too long. */
  static void untilShared(EdgeFixture fixture) {
    until("it is shared", () -> isUp(fixture));
  }

  static int status(EdgeFixture fixture) {
    return fixture.get("/api/whoami").statusCode();
  }

  static double fallbacks(EdgeFixture fixture) {
    return Scrape.of(fixture.signals).sum("bourse_shared_budget_fallbacks_total");
  }

  static boolean isUp(EdgeFixture fixture) {
    return Scrape.of(fixture.signals).sum("bourse_shared_budget_up") == 1;
  }
}
