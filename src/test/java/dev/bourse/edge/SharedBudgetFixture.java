package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.SharedBudgetConfig;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A server of shared budgets, and services that use it. */
abstract class SharedBudgetFixture {
  /** Enough for a busy machine; tests of slowness set their own. */
  static final long PATIENT_MILLIS = 1_000;

  /** No budget grows while a slow machine is at a test. */
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

  EdgeFixture serve(int perToken) {
    return serve(perToken, PATIENT_MILLIS);
  }

  static int status(EdgeFixture fixture) {
    return fixture.get("/api/whoami").statusCode();
  }

  static double fallbacks(EdgeFixture fixture) {
    double sum = 0;
    for (MetricSnapshot metric : fixture.metrics.registry().scrape()) {
      if (metric instanceof CounterSnapshot counter
          && metric.getMetadata().getName().equals("bourse_shared_budget_fallbacks")) {
        sum += counter.getDataPoints().stream().mapToDouble(point -> point.getValue()).sum();
      }
    }
    return sum;
  }

  static boolean isUp(EdgeFixture fixture) {
    return gauge(fixture, "bourse_shared_budget_up") == 1;
  }

  static double gauge(EdgeFixture fixture, String name) {
    for (MetricSnapshot metric : fixture.metrics.registry().scrape()) {
      if (metric instanceof GaugeSnapshot gauge && metric.getMetadata().getName().equals(name)) {
        return gauge.getDataPoints().get(0).getValue();
      }
    }
    throw new AssertionError("no gauge " + name);
  }

  static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not within a minute: " + what);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }
}
