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
 * One process of the service, with a loop, a wall clock and a monotonic clock of its own. It runs
 * only while the simulation lets it: it can be stopped for a while, in which its clocks go on, and
 * it can crash, after which nothing of it happens any more.
 */
final class Replica {
  private final String name;
  private final Scheduler scheduler;
  private final Trace trace;
  private final SimulatedClock wall;
  private final long bornNanos;
  private final HandRunLoop loop;
  private final Vertx vertx;

  /** What came while it was stopped. */
  private final ArrayDeque<Runnable> held = new ArrayDeque<>();

  private @Nullable BareProcess core;
  private boolean isStopped;
  private long runsSinceNanos;
  private boolean isDead;

  /**
   * @param name unique among all processes there ever were
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
    loop = new HandRunLoop(this::nanoTime);
    vertx =
        HandRunVertx.make(
            loop, work -> after(random.nextLong(100_000, 3_000_000), () -> loop.execute(work)));
  }

  /**
   * Starts the core over a store.
   *
   * @param failed hears when it does not start, and has ended
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

  /** Its monotonic clock, which begins at its birth. */
  long nanoTime() {
    return scheduler.nowNanos() - bornNanos;
  }

  /** The core once it has started; null before. */
  @Nullable BareProcess core() {
    return core;
  }

  /** The core of a process that is ready. */
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

  /** Since when it has run without a stop, in true time. */
  long runsSinceNanos() {
    return runsSinceNanos;
  }

  /** Has something happen in this process so much later; not if it is dead by then. */
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

  /** Has something happen in this process now, on a context of its own. */
  void doNow(Runnable what) {
    happen(() -> vertx.runOnContext(v -> what.run()));
  }

  /** When its next timer is due, in true time; {@link Long#MAX_VALUE} for never. */
  long nextTimerNanos() {
    if (isDead || isStopped) {
      return Long.MAX_VALUE;
    }
    long next = loop.nextTimerNanos();
    return next == Long.MAX_VALUE ? next : scheduler.nowNanos() + next;
  }

  /** Runs all that is due. */
  void run() {
    if (!isDead && !isStopped) {
      loop.runAllDue();
    }
  }

  /** Stops it as a signal does; its clocks go on. */
  void pause() {
    isStopped = true;
  }

  /** Lets it go on: what came meanwhile comes now, and timers are late. */
  void resume() {
    isStopped = false;
    runsSinceNanos = scheduler.nowNanos();
    while (!held.isEmpty() && !isStopped && !isDead) {
      held.remove().run();
    }
    run();
  }

  /** Ends it between two instructions. */
  void crash() {
    isDead = true;
    held.clear();
  }

  void trace(String message, @Nullable Object... values) {
    trace.add(name, message, values);
  }
}
