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
import java.time.Clock;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * What every part of one service stands on.
 *
 * @param demo whether the demo world is served
 * @param clock the time
 * @param time confirmed time; there is none before the store is open
 * @param nanoTime the monotonic clock, for waits and time-outs
 * @param random a cryptographic source
 * @param shares divides upkeep among the processes of the store
 * @param shutdown where whatever starts says how it ends
 * @param signals where parts show what they count
 * @param traces where they tell what they do
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
    Signals signals,
    Traces traces) {

  /**
   * A step of upkeep that is told confirmed time, and is left out while there is none.
   *
   * @param step what deletes records by their age
   */
  Supplier<Future<Boolean>> asFarAsConfirmed(LongFunction<Future<Boolean>> step) {
    return () -> {
      OptionalLong now = time.confirmedMillis();
      return now.isEmpty() ? Future.succeededFuture(false) : step.apply(now.getAsLong());
    };
  }

  /** What all processes of the store share, encrypted. */
  SharedSecrets secrets(Database database) {
    return new SharedSecrets(database, config.secret().keyring(), clock);
  }

  /**
   * Begins work on the store that nobody waits for; it ends when the service stops.
   *
   * @param name what it does, for the log
   * @param intervalMillis from the end of a round to the next
   * @param step one small piece of it; tells whether there is more to do in this round
   */
  void keepUp(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    Upkeep upkeep = new Upkeep(vertx, name, intervalMillis, nanoTime, step);
    upkeep.start();
    shutdown.push(upkeep::stop);
  }

  /**
   * Begins work on the store that one of its processes does for all.
   *
   * @param name what it does, for the log; all processes call it the same
   * @param intervalMillis from the end of a round to the next
   * @param step one small piece of it, which must be right when two processes do it at once; tells
   *     whether there is more to do in this round
   */
  void keepUpDivided(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    keepUp(name, intervalMillis, shares.divided(name, step, () -> Future.succeededFuture(false)));
  }

  /** Begins to share upkeep with other processes, now that all of it is begun here. */
  void divideUpkeep(Database database) {
    Upkeep dividing = shares.start(vertx, database, random);
    dividing.start();
    shutdown.push(() -> dividing.stop().compose(stopped -> shares.leave()));
  }
}
