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
 * Measures how long event loops are held. On each loop something runs every millisecond and notes
 * how late it is; pauses of the garbage collector are taken off. Beside it stands how much of that
 * time the loop's thread was on a processor: the rest it waited, for something it must not wait
 * for, or for a processor that others had.
 */
public final class LoopProbe implements AutoCloseable {
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Longer than this, and it is looked at what the loop is doing. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

  private static final int MOST_FRAMES = 28;

  /**
   * How long a loop was held.
   *
   * @param busyMillis of these, on a processor
   * @param during what was asked then
   * @param doing what the loop was seen doing
   */
  public record Hold(double millis, double busyMillis, String during, String doing) {
    @Override
    public String toString() {
      return String.format("%6.1f ms, %6.1f of it busy: %s", millis, busyMillis, during);
    }
  }

  /** One event loop. Its fields are its thread's, but for what says so. */
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

  public LoopProbe(Iterable<? extends EventExecutor> loops) {
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

  /** Says what is asked from now on. */
  void during(String what) {
    during = what;
  }

  private synchronized void note(double millis, double busy, String doing) {
    Hold hold = new Hold(millis, busy, during, doing);
    longest.merge(
        during.replaceAll(" .*", ""), hold, (a, b) -> a.busyMillis() >= b.busyMillis() ? a : b);
  }

  /** The longest holds by what was asked, the longest first. */
  public synchronized List<Hold> longest() {
    return longest.values().stream()
        .sorted(Comparator.comparingDouble(Hold::busyMillis).reversed())
        .toList();
  }

  /** Forgets what was measured, as a process that has just started is slow at all. */
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
