package dev.bourse.app;

import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.jobs.ScheduledJob;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Timekeeper;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The shared environment of all parts of a service.
 *
 * @param demo whether the demo world is served
 * @param clock the time
 * @param time confirmed time; there is none before the store is open
 * @param nanoTime the monotonic clock, for waits and time-outs
 * @param random a cryptographic source
 * @param jobs the registry of background jobs
 * @param shutdown collects the stops of started parts
 * @param program the jar that the process runs from, or a folder of classes; empty for unknown
 * @param signals the registry of metrics
 * @param traces the tracer
 */
record ServiceContext(
    Vertx vertx,
    Config config,
    boolean demo,
    Clock clock,
    Timekeeper time,
    LongSupplier nanoTime,
    RandomGenerator random,
    BackgroundJobs jobs,
    ShutdownHooks shutdown,
    Optional<Path> program,
    Signals signals,
    Traces traces) {

  /** The secrets that all processes of the store share, encrypted. */
  SharedSecrets secrets(Database database) {
    return new SharedSecrets(database, config.secret().keyring(), clock);
  }

  /** Starts a background job, until the service stops. */
  void keepUp(BackgroundJob job) {
    ScheduledJob scheduled = jobs.start(job);
    shutdown.pushLimited("job " + job.name(), scheduled::stop);
  }

  /** Starts a job whose step changes nothing, so that a stop does not wait for it. */
  void keepProbing(BackgroundJob job) {
    ScheduledJob scheduled = jobs.start(job);
    shutdown.push(
        () -> {
          scheduled.stop();
          return Future.succeededFuture();
        });
  }

  /** Starts to divide jobs among the processes, after all of them were started here. */
  void divideJobs(Database database) {
    ScheduledJob dividing = jobs.divide(database);
    shutdown.push(() -> dividing.stop().compose(stopped -> jobs.leave()));
  }
}
