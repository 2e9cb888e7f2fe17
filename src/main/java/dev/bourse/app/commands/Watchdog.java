package dev.bourse.app.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends a process with a stuck event loop, so that a supervisor restarts it: such a process answers
 * no requests, cannot stop in order, and looks alive from outside.
 *
 * <p>It counts its own rounds instead of time: while the whole process is suspended, or its machine
 * asleep, its rounds pause too.
 */
final class Watchdog {
  /** The longest round; at the least limit, a second, one round more or less does not matter. */
  private static final long MOST_ROUND_MILLIS = 1_000;

  private static final int ROUNDS = 10;

  /** An event loop, and whether it has answered since the last request. */
  private static final class WatchedLoop {
    private final Executor loop;
    private volatile boolean hasTurned = true;
    private int silentRounds;

    private WatchedLoop(Executor loop) {
      this.loop = loop;
    }
  }

  private final List<WatchedLoop> all = new ArrayList<>();
  private final long roundNanos;
  private final int mostSilentRounds;
  private final Runnable stuck;

  /**
   * @param loops each runs a task on one event loop
   * @param limitMillis the longest time one may be silent, in milliseconds
   * @param stuck called once, on the watching thread, after which the watching ends
   */
  Watchdog(Iterable<? extends Executor> loops, long limitMillis, Runnable stuck) {
    loops.forEach(loop -> all.add(new WatchedLoop(loop)));
    long roundMillis = Math.max(1, Math.min(MOST_ROUND_MILLIS, limitMillis / ROUNDS));
    this.roundNanos = TimeUnit.MILLISECONDS.toNanos(roundMillis);
    this.mostSilentRounds = (int) (limitMillis / roundMillis);
    this.stuck = stuck;
  }

  /** Starts to watch, for the lifetime of the process. */
  void start() {
    Thread thread = new Thread(this::watch, "watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    try {
      while (!findsStuckLoop()) {
        LockSupport.parkNanos(roundNanos);
      }
    } catch (RejectedExecutionException ended) {
      // The loops were stopped in order.
      return;
    }
    stuck.run();
  }

  /** Runs one round; returns true if an event loop has been silent for too many rounds. */
  boolean findsStuckLoop() {
    return all.stream().anyMatch(this::isStuck);
  }

  private boolean isStuck(WatchedLoop watched) {
    if (watched.hasTurned) {
      watched.silentRounds = 0;
      watched.hasTurned = false;
      watched.loop.execute(() -> watched.hasTurned = true);
      return false;
    }
    return ++watched.silentRounds > mostSilentRounds;
  }
}
