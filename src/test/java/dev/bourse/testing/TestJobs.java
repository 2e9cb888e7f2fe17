package dev.bourse.testing;

import dev.bourse.core.FakeClock;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.signals.Signals;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Random;

/** Background jobs of a process that is only a part of the service. */
public final class TestJobs {
  private static final long SHARE_MILLIS = 60_000;

  private TestJobs() {}

  /** An empty registry, with confirmed time at any moment. */
  public static BackgroundJobs of(Vertx vertx, Clock clock) {
    return new BackgroundJobs(
        vertx,
        clock,
        new FakeClock(clock.millis()),
        System::nanoTime,
        new Random(),
        SHARE_MILLIS,
        new Signals());
  }
}
