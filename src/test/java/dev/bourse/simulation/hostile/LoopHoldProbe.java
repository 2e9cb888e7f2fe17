package dev.bourse.simulation.hostile;

import io.netty.util.concurrent.EventExecutor;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long event loops are held. On each loop a task runs every millisecond and measures
 * its lateness, without pauses of the garbage collector. It also measures the thread's processor
 * time: for the rest the thread waited, for something it must not wait for, or for a processor.
 */
public final class LoopHoldProbe implements AutoCloseable {
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Lateness after which the loop's stack is sampled. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

  private static final int MOST_FRAMES = 28;

  /**
   * A hold of a loop.
   *
   * @param busyMillis the part on a processor
   * @param during the request at that time
   * @param doing the loop's stack at that time
   */
  public record Hold(double millis, double busyMillis, String during, String doing) {
    @Override
    public String toString() {
      return String.format("%6.1f ms, %6.1f of it busy: %s", millis, busyMillis, during);
    }
  }

  /** One event loop. Its fields are its thread's, except where noted. */
  private final class Watched implements Runnable {
    private final EventExecutor loop;
    private long cpu;
    private long collected;
    private volatile long turned = System.nanoTime();
    private volatile Thread thread = Thread.currentThread();
    private volatile String seen = "";

    Watched(EventExecutor loop) {
      this.loop = loop;
    }

    @Override
    public void run() {
      thread = Thread.currentThread();
      long now = System.nanoTime();
      long cpuNow = THREADS.getCurrentThreadCpuTime();
      long collectedNow = collectedMillis();
      long late =
          now - turned - PERIOD_NANOS - TimeUnit.MILLISECONDS.toNanos(collectedNow - collected);
      if (cpu > 0) {
        note(late / 1e6, Math.min(cpuNow - cpu, Math.max(0, late)) / 1e6, seen);
      }
      seen = "";
      cpu = cpuNow;
      collected = collectedNow;
      turned = System.nanoTime();
      if (!isClosed) {
        loop.schedule(this, PERIOD_NANOS, TimeUnit.NANOSECONDS);
      }
    }
  }

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final List<Watched> all = new ArrayList<>();
  private final Map<String, Hold> longest = new HashMap<>();
  private volatile String during = "";
  private volatile boolean isClosed;

  public LoopHoldProbe(Iterable<? extends EventExecutor> loops) {
    loops.forEach(loop -> all.add(new Watched(loop)));
    all.forEach(watched -> watched.loop.execute(watched));
    Thread looks = new Thread(this::look, "loop-probe");
    looks.setDaemon(true);
    looks.start();
  }

  private static long collectedMillis() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  /** Sets the label of the requests from now on. */
  void during(String what) {
    during = what;
  }

  private synchronized void note(double millis, double busy, String doing) {
    Hold hold = new Hold(millis, busy, during, doing);
    longest.merge(
        during.replaceAll(" .*", ""), hold, (a, b) -> a.busyMillis() >= b.busyMillis() ? a : b);
  }

  /** Returns the longest holds by label, longest first. */
  public synchronized List<Hold> longest() {
    return longest.values().stream()
        .sorted(Comparator.comparingDouble(Hold::busyMillis).reversed())
        .toList();
  }

  /** Discards the measurements, because a process is slow just after its start. */
  public synchronized void forget() {
    longest.clear();
  }

  private void look() {
    while (!isClosed) {
      LockSupport.parkNanos(PERIOD_NANOS);
      for (Watched watched : all) {
        if (System.nanoTime() - watched.turned > LOOK_NANOS && watched.seen.isEmpty()) {
          StackTraceElement[] frames = watched.thread.getStackTrace();
          StringBuilder out = new StringBuilder();
          Arrays.stream(frames).limit(MOST_FRAMES).forEach(f -> out.append("\n      ").append(f));
          watched.seen = out.toString();
        }
      }
    }
  }

  @Override
  public void close() {
    isClosed = true;
  }
}
