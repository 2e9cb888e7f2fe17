package dev.bourse.app;

import dev.bourse.keyring.SharedSecrets;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Timekeeper;
import dev.bourse.store.Upkeep;
import dev.bourse.store.UpkeepShares;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The shared environment of all parts of a service.
 *
 * @param demo whether the demo world is served
 * @param clock the time
 * @param time confirmed time; there is none before the store is open
 * @param nanoTime the monotonic clock, for waits and time-outs
 * @param random a cryptographic source
 * @param shares divides upkeep among the processes of the store
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
    UpkeepShares shares,
    ShutdownHooks shutdown,
    Optional<Path> program,
    Signals signals,
    Traces traces) {

  /**
   * Wraps a step of upkeep that needs confirmed time, and skips it while there is none.
   *
   * @param step deletes records by their age
   */
  Supplier<Future<Boolean>> asFarAsConfirmed(LongFunction<Future<Boolean>> step) {
    return () -> {
      OptionalLong now = time.confirmedMillis();
      return now.isEmpty() ? Future.succeededFuture(false) : step.apply(now.getAsLong());
    };
  }

  /** The secrets that all processes of the store share, encrypted. */
  SharedSecrets secrets(Database database) {
    return new SharedSecrets(database, config.secret().keyring(), clock);
  }

  /**
   * Starts periodic work on the store, until the service stops.
   *
   * @param name the work, for the log
   * @param intervalMillis from the end of a round to the next
   * @param step one small part of a round; returns whether the round has more to do
   */
  void keepUp(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    Upkeep upkeep = new Upkeep(vertx, name, intervalMillis, nanoTime, step);
    upkeep.start();
    shutdown.push(upkeep::stop);
  }

  /**
   * Starts periodic work on the store that one process does for all.
   *
   * @param name the work, for the log; the same in all processes
   * @param intervalMillis from the end of a round to the next
   * @param step one small part of a round, which must tolerate a second process doing the same;
   *     returns whether the round has more to do
   */
  void keepUpDivided(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    keepUp(name, intervalMillis, shares.divided(name, step, () -> Future.succeededFuture(false)));
  }

  /** Starts to divide upkeep among the processes, after all of it was started here. */
  void divideUpkeep(Database database) {
    Upkeep dividing = shares.start(vertx, database, random);
    dividing.start();
    shutdown.push(() -> dividing.stop().compose(stopped -> shares.leave()));
  }
}
