package dev.bourse.app.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends a process one of whose event loops has stopped turning, so that a supervisor starts it anew:
 * such a process answers nobody, cannot stop in order, and looks alive from outside.
 *
 * <p>It counts its own rounds and not the time: while the whole process stands still, stopped by a
 * signal or with its machine asleep, its rounds stand still too.
 */
final class Watchdog {
  /** One round more or less does not matter at the least limit, a second. */
  private static final long MOST_ROUND_MILLIS = 1_000;

  private static final int ROUNDS = 10;

  /** An event loop, and whether it has answered since it was asked. */
  private static final class Watched {
    private final Executor loop;
    private volatile boolean hasTurned = true;
    private int silentRounds;

    private Watched(Executor loop) {
      this.loop = loop;
    }
  }

  private final List<Watched> all = new ArrayList<>();
  private final long roundNanos;
  private final int mostSilentRounds;
  private final Runnable stuck;

  /**
   * @param loops each runs something on one event loop
   * @param limitMillis how long one may be silent
   * @param stuck called once, on the watching thread, after which nothing is watched any more
   */
  Watchdog(Iterable<? extends Executor> loops, long limitMillis, Runnable stuck) {
    loops.forEach(loop -> all.add(new Watched(loop)));
    long roundMillis = Math.max(1, Math.min(MOST_ROUND_MILLIS, limitMillis / ROUNDS));
    this.roundNanos = TimeUnit.MILLISECONDS.toNanos(roundMillis);
    this.mostSilentRounds = (int) (limitMillis / roundMillis);
    this.stuck = stuck;
  }

  /** Begins to watch, for as long as the process lives. */
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

  /** Runs one round; true if an event loop has been silent for too many. */
  boolean findsStuckLoop() {
    return all.stream().anyMatch(this::isStuck);
  }

  private boolean isStuck(Watched watched) {
    if (watched.hasTurned) {
      watched.silentRounds = 0;
      watched.hasTurned = false;
      watched.loop.execute(() -> watched.hasTurned = true);
      return false;
    }
    return ++watched.silentRounds > mostSilentRounds;
  }
}
