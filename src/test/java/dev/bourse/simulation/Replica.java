package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One process of the service, with a loop, a wall clock and a monotonic clock of its own. The
 * simulation controls when it runs: it can be stopped for a while, during which its clocks
 * continue, and it can crash, after which none of its events happen.
 */
final class Replica {
  private final String name;
  private final Scheduler scheduler;
  private final Trace trace;
  private final SimulatedClock wall;
  private final long bornNanos;
  private final ManualLoop loop;
  private final Vertx vertx;

  /** Events that arrived while it was stopped. */
  private final ArrayDeque<Runnable> held = new ArrayDeque<>();

  private @Nullable BareProcess core;
  private boolean isStopped;
  private long runsSinceNanos;
  private boolean isDead;

  /**
   * @param name unique among all processes of the simulation
   * @param wall the clock of its machine
   */
  Replica(
      String name, Scheduler scheduler, Trace trace, SimulatedClock wall, SplittableRandom random) {
    this.name = name;
    this.scheduler = scheduler;
    this.trace = trace;
    this.wall = wall;
    bornNanos = scheduler.nowNanos();
    runsSinceNanos = bornNanos;
    loop = new ManualLoop(this::nanoTime);
    vertx =
        ManualVertx.make(
            loop, work -> after(random.nextLong(100_000, 3_000_000), () -> loop.execute(work)));
  }

  /**
   * Starts the core over a store.
   *
   * @param failed called if it fails to start, after it has ended
   */
  void start(Function<Replica, Future<BareProcess>> starting, Runnable failed) {
    loop.execute(
        () ->
            vertx.runOnContext(
                v ->
                    starting
                        .apply(this)
                        .onSuccess(
                            started -> {
                              core = started;
                              trace("is ready");
                            })
                        .onFailure(
                            e -> {
                              trace("does not start: {}", e);
                              crash();
                              failed.run();
                            })));
    run();
  }

  String name() {
    return name;
  }

  Vertx vertx() {
    return vertx;
  }

  SimulatedClock wall() {
    return wall;
  }

  /** Returns its monotonic clock, which begins at its start. */
  long nanoTime() {
    return scheduler.nowNanos() - bornNanos;
  }

  /** Returns the core after it has started; null before. */
  @Nullable BareProcess core() {
    return core;
  }

  /** Returns the core of a ready process. */
  BareProcess readyCore() {
    return Objects.requireNonNull(core);
  }

  boolean isReady() {
    return core != null && !isDead && !isStopped;
  }

  boolean isDead() {
    return isDead;
  }

  boolean isStopped() {
    return isStopped;
  }

  /** Returns since when it has run without a stop, in true time. */
  long runsSinceNanos() {
    return runsSinceNanos;
  }

  /** Schedules an event in this process; it does not happen if the process is dead by that time. */
  void after(long nanos, Runnable what) {
    scheduler.after(nanos, () -> happen(what));
  }

  void afterMillis(long millis, Runnable what) {
    after(millis * 1_000_000, what);
  }

  private void happen(Runnable what) {
    if (isDead) {
      return;
    }
    if (isStopped) {
      held.add(what);
      return;
    }
    what.run();
    run();
  }

  /** Runs something in this process now, on a context of its own. */
  void doNow(Runnable what) {
    happen(() -> vertx.runOnContext(v -> what.run()));
  }

  /** Returns when its next timer is due, in true time; {@link Long#MAX_VALUE} for never. */
  long nextTimerNanos() {
    if (isDead || isStopped) {
      return Long.MAX_VALUE;
    }
    long next = loop.nextTimerNanos();
    return next == Long.MAX_VALUE ? next : scheduler.nowNanos() + next;
  }

  /** Runs all due tasks. */
  void run() {
    if (!isDead && !isStopped) {
      loop.runAllDue();
    }
  }

  /** Stops it like a signal; its clocks continue. */
  void pause() {
    isStopped = true;
  }

  /** Resumes it: held events happen now, and timers are late. */
  void resume() {
    isStopped = false;
    runsSinceNanos = scheduler.nowNanos();
    while (!held.isEmpty() && !isStopped && !isDead) {
      held.remove().run();
    }
    run();
  }

  /** Kills it between two instructions. */
  void crash() {
    isDead = true;
    held.clear();
  }

  void trace(String message, @Nullable Object... values) {
    trace.add(name, message, values);
  }
}
